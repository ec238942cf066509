"""The fold of the records whose meaning nobody asks for yet: quotas, ACLs, credentials, tokens. The latest of each key is kept as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .image import Image, without

Fold = Callable[[Image, Any], Image]


def _kept(kind: str, *fields: str) -> Fold:
    """Keep the latest record of each key."""

    def fold(image: Image, record: Any) -> Image:
        return image._replace(rest=image.rest.set(_key(kind, fields, record), record))

    return fold


def _dropped(kind: str, *fields: str) -> Fold:
    """Forget what was kept under the key."""

    def fold(image: Image, record: Any) -> Image:
        return image._replace(rest=without(image.rest, _key(kind, fields, record)))

    return fold


def _key(kind: str, fields: tuple[str, ...], record: Any) -> tuple[Any, ...]:
    return (kind, *(_hashable(getattr(record, field)) for field in fields))


def _hashable(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(sorted((part.entity_type, part.entity_name) for part in value))
    return value


_QUOTA = ("quota", "entity", "key")
_quota_kept, _quota_dropped = _kept(*_QUOTA), _dropped(*_QUOTA)


def _client_quota(image: Image, record: Any) -> Image:
    return (_quota_dropped if record.remove else _quota_kept)(image, record)


FOLDS: dict[str, Fold] = {
    "ClientQuotaRecord": _client_quota,
    "AccessControlEntryRecord": _kept("acl", "id"),
    "RemoveAccessControlEntryRecord": _dropped("acl", "id"),
    "UserScramCredentialRecord": _kept("scram", "name", "mechanism"),
    "RemoveUserScramCredentialRecord": _dropped("scram", "name", "mechanism"),
    "DelegationTokenRecord": _kept("token", "token_id"),
    "RemoveDelegationTokenRecord": _dropped("token", "token_id"),
}
