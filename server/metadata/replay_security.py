"""Replays the records about security and quotas: ACLs (KIP-11, KIP-290), SCRAM credentials
(KIP-554), delegation tokens (KIP-48), client quotas (KIP-546).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .image import Acl, DelegationToken, Image, QuotaEntity, ScramCredential, without
from .persistent_map import PersistentMap


def entity_of(parts: Iterable[Any]) -> QuotaEntity:
    """The entity of a list of types and names in any order; the last name of a type counts."""
    return tuple(sorted({part.entity_type: part.entity_name for part in parts}.items()))


def client_quota(image: Image, record: Any) -> Image:
    entity = entity_of(record.entity)
    values = image.quotas.get(entity, PersistentMap())
    values = without(values, record.key) if record.remove else values.set(record.key, record.value)
    quotas = image.quotas.set(entity, values) if values else without(image.quotas, entity)
    return image._replace(quotas=quotas)


def access_control_entry(image: Image, record: Any) -> Image:
    acl = Acl(*(getattr(record, field) for field in Acl._fields))
    return image._replace(acls=image.acls.set(record.id, acl))


def remove_access_control_entry(image: Image, record: Any) -> Image:
    return image._replace(acls=without(image.acls, record.id))


def user_scram_credential(image: Image, record: Any) -> Image:
    credential = ScramCredential(
        bytes(record.salt), bytes(record.stored_key), bytes(record.server_key), record.iterations
    )
    return image._replace(scram=image.scram.set((record.name, record.mechanism), credential))


def remove_user_scram_credential(image: Image, record: Any) -> Image:
    return image._replace(scram=without(image.scram, (record.name, record.mechanism)))


def delegation_token(image: Image, record: Any) -> Image:
    token = DelegationToken(
        record.owner,
        record.requester,
        tuple(record.renewers),
        record.issue_timestamp,
        record.max_timestamp,
        record.expiration_timestamp,
    )
    return image._replace(tokens=image.tokens.set(record.token_id, token))


def remove_delegation_token(image: Image, record: Any) -> Image:
    return image._replace(tokens=without(image.tokens, record.token_id))


REPLAYS: dict[str, Callable[[Image, Any], Image]] = {
    "ClientQuotaRecord": client_quota,
    "AccessControlEntryRecord": access_control_entry,
    "RemoveAccessControlEntryRecord": remove_access_control_entry,
    "UserScramCredentialRecord": user_scram_credential,
    "RemoveUserScramCredentialRecord": remove_user_scram_credential,
    "DelegationTokenRecord": delegation_token,
    "RemoveDelegationTokenRecord": remove_delegation_token,
}
