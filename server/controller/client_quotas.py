"""Client quotas: altered and described by entity (KIP-546, KIP-257, KIP-612).

An entity is a user, a client id, a user with a client id, or an IP address; a null name is the
default of its type. The quotas of one entity are altered together or not at all; an entity that
appears twice fails the second time. Quotas are stored and described, and nothing is throttled by
them. An IP address is an IPv4 or IPv6 address or `localhost`; other names are not resolved, unlike
in Kafka.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.client_quota_record import ClientQuotaRecord
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.message import Message

from ..metadata.image import Image, QuotaEntity
from ..metadata.replay_security import entity_of
from ..requests.request import Refusal
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, divided, ordered
from .controller_result import ControllerResult, check_size

USER, CLIENT_ID, IP = "user", "client-id", "ip"
TYPES = (USER, CLIENT_ID, IP)

INT, LONG = ("an INT", float(2**31 - 1)), ("a LONG", float(2**63))
DOUBLE = None

CLIENT_QUOTAS: Mapping[str, tuple[str, float] | None] = {
    "producer_byte_rate": LONG,
    "consumer_byte_rate": LONG,
    "request_percentage": DOUBLE,
    "controller_mutation_rate": DOUBLE,
}
IP_QUOTAS: Mapping[str, tuple[str, float] | None] = {"connection_creation_rate": INT}
"""The quotas by type of entity; those that are whole numbers with their largest value."""

MIN_FRACTION = 1e-6
"""Kafka takes a smaller fraction for a whole number."""

Entry = AlterClientQuotasRequest.EntryData
Component = DescribeClientQuotasRequest.ComponentData


class ClientQuotaResult(NamedTuple):
    """The result for one entity."""

    entity: QuotaEntity
    error_code: int = error_codes.NONE
    error_message: str | None = None


def alter_client_quotas(image: Image, entries: Sequence[Entry]) -> Wait[ControllerResult[ClientQuotaResult]]:
    """Handles AlterClientQuotas, in slices. Refusal(POLICY_VIOLATION) for too many changes."""
    records: list[Message] = []
    results: dict[QuotaEntity, ClientQuotaResult] = {}
    slices = Slices()
    for entry in entries:
        if slices.end(1 + len(entry.ops) + len(entry.entity)):
            yield OTHERS_FIRST
        entity = entity_of(entry.entity)
        try:
            _check_not_duplicate(entity, entry, results)
            records += list(
                _quota_records(image, entity, {op.key: None if op.remove else op.value for op in entry.ops})
            )
            results[entity] = ClientQuotaResult(entity)
        except Refusal as refusal:
            results[entity] = ClientQuotaResult(entity, refusal.code, refusal.message)
    check_size(len(records))
    return ControllerResult(records, list(results.values()))


def _check_not_duplicate(entity: QuotaEntity, entry: Entry, results: Mapping[QuotaEntity, ClientQuotaResult]) -> None:
    """Kafka also calls an entity a duplicate if one of its quotas appears twice."""
    if entity in results or len({op.key for op in entry.ops}) < len(entry.ops):
        text = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
        raise _invalid(f"Ignoring duplicate entity ClientQuotaEntity(entries={{{text}}})")


def _quota_records(image: Image, entity: QuotaEntity, requested: Mapping[str, float | None]) -> Iterator[Message]:
    known = _allowed_quotas(entity)
    for key, value in requested.items():
        if value is not None:
            _check_value(known, key, value)
    parts = [ClientQuotaRecord.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    current: Mapping[str, float] = image.quotas.get(entity, {})
    for key, value in requested.items():
        if value is None and key in current:
            yield ClientQuotaRecord(entity=parts, key=key, remove=True)
        elif value is not None and current.get(key) != value:
            yield ClientQuotaRecord(entity=parts, key=key, value=value)


def _allowed_quotas(entity: QuotaEntity) -> Mapping[str, tuple[str, float] | None]:
    """The quotas that the entity may have. Refusal(INVALID_REQUEST) for an invalid entity."""
    for kind, name in entity:
        if kind not in TYPES:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    named = dict(entity)
    if IP not in named:
        if not named:
            raise _invalid("Invalid empty client quota entity")
        return CLIENT_QUOTAS
    if len(named) > 1:
        raise _invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
    if not _is_address(named[IP]):
        raise _invalid(f"{named[IP]} is not a valid IP or resolvable host.")
    return IP_QUOTAS


def _is_address(name: str | None) -> bool:
    if name is None or name == "localhost":
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _check_value(known: Mapping[str, tuple[str, float] | None], key: str, value: float) -> None:
    if key not in known:
        raise _invalid(f"Invalid configuration key {key}")
    if not math.isfinite(value):
        raise _invalid(f"Quota {key} must be a finite number")
    if value <= 0:
        raise _invalid(f"Quota {key} must be greater than 0")
    if (bound := known[key]) is not None:
        kind, largest = bound
        if value > largest:
            raise _invalid(f"Proposed value for {key} is too large for {kind}.")
        if value % 1 > MIN_FRACTION:
            raise _invalid(f"{key} cannot be a fractional value.")


class ClientQuotaFilter(NamedTuple):
    """The entities to describe: names by type, None for the default; and types with any name."""

    named: dict[str, str | None]
    typed: set[str]

    def matches(self, entity: QuotaEntity, strict: bool) -> bool:
        """`strict`: the entity must not have other types."""
        has = dict(entity)
        if strict and len(has) != len(self.named) + len(self.typed):
            return False
        return self.typed <= has.keys() and all(kind in has and has[kind] == name for kind, name in self.named.items())


EXACT, DEFAULT, ANY_NAME = 0, 1, 2
"""Match types."""


def describe_client_quotas(
    image: Image, components: Iterable[Component], strict: bool
) -> Wait[list[tuple[QuotaEntity, Mapping[str, float]]]]:
    """Handles DescribeClientQuotas, in slices. Refusal(INVALID_REQUEST, UNSUPPORTED_VERSION) for an invalid
    filter.
    """
    quota_filter = _filter_of(components)
    if strict and not (quota_filter.named or quota_filter.typed):
        return []
    found, _ = yield from divided(lambda each: quota_filter.matches(each[0], strict), image.quotas.items())
    return (yield from ordered(found, key=lambda each: repr(each[0])))


def _filter_of(components: Iterable[Component]) -> ClientQuotaFilter:
    quota_filter = ClientQuotaFilter({}, set())
    for component in components:
        kind = component.entity_type
        if not kind:
            raise _invalid("Invalid empty entity type.")
        if kind in quota_filter.named or kind in quota_filter.typed:
            raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in TYPES:
            raise Refusal(error_codes.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        _add_component(quota_filter, component)
    kinds = quota_filter.named.keys() | quota_filter.typed
    if IP in kinds and len(kinds) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId "
            "filter component."
        )
    return quota_filter


def _add_component(quota_filter: ClientQuotaFilter, component: Component) -> None:
    kind, name = component.entity_type, component.match
    if component.match_type == EXACT:
        if name is None:
            raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
        quota_filter.named[kind] = name
    elif component.match_type in (DEFAULT, ANY_NAME):
        if name is not None:
            word = "DEFAULT" if component.match_type == DEFAULT else "SPECIFIED"
            raise _invalid(f"Request specified MATCH_TYPE_{word}, but also specified a match string.")
        if component.match_type == DEFAULT:
            quota_filter.named[kind] = None
        else:
            quota_filter.typed.add(kind)
    else:
        raise _invalid(f"Unknown match type {component.match_type}")


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REQUEST, message)
