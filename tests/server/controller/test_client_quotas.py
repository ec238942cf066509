"""AlterClientQuotas and DescribeClientQuotas: the table of errors, and each filter against every
entity.
"""

from __future__ import annotations

from itertools import product

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.server.controller.client_quotas import alter_client_quotas, describe_client_quotas
from kafkadouble.server.controller.controller_result import MAX_RECORDS_PER_USER_OP
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.requests.request import Refusal
from tests.server.controller import small_clusters
from tests.support.slices import all_slices

Entity = dict[str, str | None]


def entry(entity: list[tuple[str, str | None]], *ops: tuple[str, float | None]) -> AlterClientQuotasRequest.EntryData:
    of = AlterClientQuotasRequest
    return of.EntryData(
        entity=[of.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[of.OpData(key=key, value=value or 0, remove=value is None) for key, value in ops],
    )


def after(image: Image, *entries: AlterClientQuotasRequest.EntryData) -> Image:
    return small_clusters.after(image, all_slices(alter_client_quotas(image, entries)).records)


def problem(entity: list[tuple[str, str | None]], *ops: tuple[str, float | None]) -> str | None:
    decision = all_slices(alter_client_quotas(EMPTY, [entry(entity, *ops)]))
    [result] = decision.results
    assert (result.error_code == error_codes.INVALID_REQUEST) == (result.error_message is not None)
    assert not (result.error_code and decision.records)
    return result.error_message


U, C, IP = ("user", "u"), ("client-id", "c"), ("ip", "10.0.0.1")
RATE = ("producer_byte_rate", 5.0)


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        (None, True), ("1.2.3.4", True), ("::1", True), ("fe80::1", True), ("localhost", True),
        ("1.2.3", False), ("1.2.3.4/8", False), ("some.where", False), ("*", False),
    ],
)  # fmt: skip
def test_client_quota_of_an_ip_needs_a_valid_host(name: str | None, valid: bool) -> None:
    message = problem([("ip", name)], ("connection_creation_rate", 1))
    assert message == (None if valid else f"{name} is not a valid IP or resolvable host.")


@pytest.mark.parametrize(
    ("entity", "key", "value", "message"),
    [
        (U, "producer_byte_rate", 1, None),
        (U, "consumer_byte_rate", 2.0**63, None),
        (U, "consumer_byte_rate", 2.0**64, "Proposed value for consumer_byte_rate is too large for a LONG."),
        (U, "request_percentage", 0.001, None),
        (U, "controller_mutation_rate", 1e300, None),
        (U, "producer_byte_rate", 1.0000001, None),
        (U, "producer_byte_rate", 1.5, "producer_byte_rate cannot be a fractional value."),
        (U, "producer_byte_rate", 0.0, "Quota producer_byte_rate must be greater than 0"),
        (U, "request_percentage", -1, "Quota request_percentage must be greater than 0"),
        (U, "request_percentage", float("inf"), "Quota request_percentage must be a finite number"),
        (U, "request_percentage", float("nan"), "Quota request_percentage must be a finite number"),
        (U, "connection_creation_rate", 1, "Invalid configuration key connection_creation_rate"),
        (IP, "connection_creation_rate", 2**31 - 1, None),
        (IP, "connection_creation_rate", 2**31, "Proposed value for connection_creation_rate is too large for an INT."),
        (IP, "connection_creation_rate", 0.5, "connection_creation_rate cannot be a fractional value."),
        (IP, "producer_byte_rate", 1, "Invalid configuration key producer_byte_rate"),
    ],
)
def test_values(entity: tuple[str, str], key: str, value: float, message: str | None) -> None:
    assert (
        all_slices(alter_client_quotas(EMPTY, [entry([entity], (key, value))])).results[0].error_message == message
        or value == 0.0
    )
    of = AlterClientQuotasRequest
    requested = of.EntryData(
        entity=[of.EntityData(entity_type=entity[0], entity_name=entity[1])],
        ops=[of.OpData(key=key, value=value, remove=False)],
    )
    assert all_slices(alter_client_quotas(EMPTY, [requested])).results[0].error_message == message


def test_unchanged_quota_is_not_written_and_absent_quota_not_removed() -> None:
    image = after(EMPTY, entry([U, C], RATE, ("request_percentage", 2)))
    assert (
        all_slices(
            alter_client_quotas(image, [entry([C, U], RATE, ("consumer_byte_rate", None), ("no.such", None))])
        ).records
        == []
    )
    assert after(image, entry([C, U], ("producer_byte_rate", None), ("request_percentage", None))) == EMPTY


def test_too_many_client_quota_records_are_refused() -> None:
    entries = [entry([("user", str(number))], RATE) for number in range(MAX_RECORDS_PER_USER_OP + 1)]
    assert len(all_slices(alter_client_quotas(EMPTY, entries[:-1])).records) == MAX_RECORDS_PER_USER_OP
    with pytest.raises(Refusal) as refusal:
        all_slices(alter_client_quotas(EMPTY, entries))
    assert refusal.value.code == error_codes.POLICY_VIOLATION


def component(kind: str, match_type: int, match: str | None) -> DescribeClientQuotasRequest.ComponentData:
    return DescribeClientQuotasRequest.ComponentData(entity_type=kind, match_type=match_type, match=match)


ALL: list[list[tuple[str, str | None]]] = [
    [("user", "u")], [("user", "v")], [("user", None)], [("client-id", "c")], [("client-id", None)],
    [("user", "u"), ("client-id", "c")], [("user", None), ("client-id", "c")], [("user", "u"), ("client-id", None)],
    [("user", None), ("client-id", None)], [("ip", "1.1.1.1")], [("ip", None)],
]  # fmt: skip


WAYS: list[tuple[int, str | None]] = [(0, "u"), (0, "c"), (1, None), (2, None)]


def meant(entity: Entity, kind: str, match_type: int, match: str | None) -> bool:
    """One component of a filter, word by word."""
    if kind not in entity:
        return False
    return match_type == 2 or entity[kind] == match


@pytest.mark.parametrize("strict", [False, True])
def test_each_filter_finds_what_it_means(strict: bool) -> None:
    keys = {True: "connection_creation_rate", False: "producer_byte_rate"}
    image = after(EMPTY, *(entry(each, (keys[each[0][0] == "ip"], 1)) for each in ALL))
    assert len(all_slices(describe_client_quotas(image, [], False))) == len(ALL)
    assert all_slices(describe_client_quotas(image, [], True)) == []
    kinds = [["user"], ["client-id"], ["ip"], ["user", "client-id"]]
    for of in kinds:
        for ways in product(WAYS, repeat=len(of)):
            parts = [(kind, *way) for kind, way in zip(of, ways, strict=True)]
            slices = [
                entity
                for entity, _ in all_slices(describe_client_quotas(image, [component(*part) for part in parts], strict))
            ]
            expected = [
                tuple(sorted(entity))
                for entity in ALL
                if all(meant(dict(entity), *part) for part in parts) and (not strict or len(entity) == len(of))
            ]
            assert sorted(slices, key=repr) == sorted(expected, key=repr)
