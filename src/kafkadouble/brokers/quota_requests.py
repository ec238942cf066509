"""Builds the requests that set and remove quotas, as an admin client sends them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafkadouble.arguments.parameters import check_given
from kafkadouble.common.errors import UsageError, raise_for
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest

DEFAULT = "<default>"
"""The name of every entity without quotas of its own, as Kafka's tools write it."""

CLIENT_QUOTAS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
IP_QUOTAS = ("connection_creation_rate",)


def to_set(user: str | None, client_id: str | None, ip: str | None, quotas: Mapping[str, float | None]) -> Any:
    """The request that sets the quotas that are not None."""
    entity = _entity(user, client_id, ip)
    check_given(**quotas)
    given = {key: value for key, value in quotas.items() if value is not None}
    if not given:
        raise UsageError(f"give at least one quota: {', '.join(IP_QUOTAS if ip is not None else CLIENT_QUOTAS)}")
    ops = [AlterClientQuotasRequest.OpData(key=key, value=float(value)) for key, value in given.items()]
    return _request(entity, ops)


def to_remove(user: str | None, client_id: str | None, ip: str | None) -> Any:
    """The request that removes every quota of an entity."""
    entity = _entity(user, client_id, ip)
    keys = IP_QUOTAS if ip is not None else CLIENT_QUOTAS
    return _request(entity, [AlterClientQuotasRequest.OpData(key=key, remove=True) for key in keys])


def check_entries(entries: Iterable[Any]) -> None:
    """Raises KafkaError for the first entity that was refused."""
    for entry in entries:
        raise_for(entry.error_code, entry.error_message)


def _entity(user: str | None, client_id: str | None, ip: str | None) -> list[AlterClientQuotasRequest.EntityData]:
    check_given(user=user, client_id=client_id, ip=ip)
    named = {"user": user, "client-id": client_id, "ip": ip}
    given = {kind: None if name == DEFAULT else name for kind, name in named.items() if name is not None}
    if not given or ("ip" in given and len(given) > 1):
        raise UsageError("give user, client_id or both, or ip alone")
    return [AlterClientQuotasRequest.EntityData(entity_type=kind, entity_name=name) for kind, name in given.items()]


def _request(entity: Any, ops: Any) -> AlterClientQuotasRequest:
    return AlterClientQuotasRequest(entries=[AlterClientQuotasRequest.EntryData(entity=entity, ops=ops)])
