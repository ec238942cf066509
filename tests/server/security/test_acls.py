"""CreateAcls, DeleteAcls and ACL filters: a table of errors, and a second implementation of
KIP-290.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller import acl_control
from kafkadouble.server.controller.acl_control import create_acls
from kafkadouble.server.metadata.image import EMPTY, Acl, Image
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.security import cidr
from kafkadouble.server.security.acl_filter_index import AclFilterIndex
from kafkadouble.server.security.acls import has_unknown, matching_acls
from tests.server.metadata.cluster_story import made
from tests.support.slices import all_slices

from .acl_requests import acl_filter, after, creation, delete_acls, new_id


def problem(image: Image = EMPTY, **fields: Any) -> tuple[int, str | None] | None:
    decision = all_slices(create_acls(image, [creation(**fields)], new_id))
    [refusal] = decision.results
    assert len(decision.records) == (refusal is None)
    return None if refusal is None else (refusal.code, refusal.message)


INVALID = error_codes.INVALID_REQUEST
COLON = " (no colon is present separating the principal type from the principal name)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"resource_type": 4}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource_type": 4, "resource_name": ""}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource_name": ""}, "Invalid empty resource name"),
        ({"resource_type": 8}, "Invalid resourceType UNKNOWN"),
        ({"resource_type": -1}, "Invalid resourceType UNKNOWN"),
        ({"resource_pattern_type": 5}, "Invalid patternType UNKNOWN"),
        ({"operation": 16}, "Invalid operation UNKNOWN"),
        ({"permission_type": 4}, "Invalid permissionType UNKNOWN"),
        ({"principal": "alice"}, f"Could not parse principal from `alice`{COLON}"),
        ({"principal": ""}, f"Could not parse principal from ``{COLON}"),
        ({"host": ""}, "Host pattern cannot be null or empty"),
        ({"host": "10.0.0.0/64"}, "Invalid CIDR notation '10.0.0.0/64': Value [64] not in range [0,32]"),
        ({"resource_type": 8, "host": ""}, "Invalid resourceType UNKNOWN"),
        ({"permission_type": 4, "principal": "x"}, "Invalid permissionType UNKNOWN"),
    ],
)
def test_acls_that_cannot_be(fields: dict[str, Any], message: str) -> None:
    assert problem(**fields) == (INVALID, message)


@pytest.mark.parametrize(
    "fields",
    [
        {"resource_type": 4, "resource_name": "kafka-cluster"},
        {"resource_pattern_type": 4},
        {"operation": 15},
        {"permission_type": 2},
        {"principal": ":"},
        {"host": "not an address"},
        {"host": "10.0.0.0/8"},
        {"resource_type": 7},
    ],
)
def test_acls_that_can_be(fields: dict[str, Any]) -> None:
    assert problem(**fields) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"resource_type": 1},
        {"resource_pattern_type": 1},
        {"resource_pattern_type": 2},
        {"operation": 1},
        {"permission_type": 1},
    ],
)
def test_acl_that_is_a_filter_fails_the_whole_request(fields: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refusal:
        all_slices(create_acls(EMPTY, [creation(), creation(**fields)], new_id))
    assert refusal.value.code == error_codes.UNKNOWN_SERVER_ERROR


def test_ranges_of_addresses_came_with_level_32() -> None:
    for level in (31, 32):
        image = replay(EMPTY, made("FeatureLevelRecord", name="metadata.version", feature_level=level))
        message = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."
        assert problem(image, host="10.0.0.0/8") == (
            None if level == 32 else (error_codes.UNSUPPORTED_VERSION, message)
        )
        assert problem(image, host="10.0.0.1") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.0.0.0/0", None),
        ("255.255.255.255/32", None),
        ("::/0", None),
        ("fe80::1/128", None),
        ("fe80::1/+8", None),
        ("256.0.0.0/8", "Value [256] not in range [0,255]"),
        ("1.2.3/8", "Could not parse [1.2.3/8]"),
        ("1.2.3.4/", "Could not parse [1.2.3.4/]"),
        ("1.2.3.4/٣", "Could not parse [1.2.3.4/٣]"),
        ("/", "Could not parse [/]"),
        ("::1/129", "Could not parse [::1/129] - prefix length must be between 0 and 128"),
        ("::1/-1", "Could not parse [::1/-1] - prefix length must be between 0 and 128"),
        ("::1/", "Could not parse [::1/] - invalid prefix length"),
        ("::1/8/8", "Could not parse [::1/8/8] - invalid prefix length"),
        ("::1/99999999999", "Could not parse [::1/99999999999] - invalid prefix length"),
        ("::g/8", "Could not parse [::g]"),
        ("::ffff:1.2.3.4/96", "Could not parse [::ffff:1.2.3.4] - not an IPv6 address"),
    ],
)
def test_ranges(text: str, message: str | None) -> None:
    assert cidr.problem(text) == message


def test_existing_acl_is_not_written_again() -> None:
    image = after(EMPTY, creation())
    decision = all_slices(create_acls(image, [creation(), creation(host="h"), creation(host="h")], new_id))
    assert decision.results == [None, None, None]
    # it is of an ACL
    assert [record.host for record in decision.records] == ["h"]  # type: ignore[attr-defined]


def test_an_id_is_given_once() -> None:
    image = after(EMPTY, creation())
    drawn = iter([*image.acls, Uuid(bytes([9]) * 16)])
    [record] = all_slices(create_acls(image, [creation(host="h")], lambda: next(drawn))).records
    assert record.id == Uuid(bytes([9]) * 16)  # type: ignore[attr-defined]  # it is of an ACL


def test_too_many_are_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.controller.controller_result.MAX_RECORDS_PER_USER_OP", 3)
    monkeypatch.setattr(acl_control, "MAX_RECORDS_PER_USER_OP", 3)
    four = [creation(host=str(number)) for number in range(4)]
    image = after(EMPTY, *four[:3])
    with pytest.raises(Refusal) as refusal:
        all_slices(create_acls(EMPTY, four, new_id))
    assert refusal.value.code == error_codes.POLICY_VIOLATION
    assert len(delete_acls(image, [acl_filter()]).records) == 3
    image = after(image, four[3])
    with pytest.raises(Refusal, match="Cannot remove more than 3 acls in a single delete operation"):
        delete_acls(image, [acl_filter()])
    assert len(delete_acls(image, [acl_filter(host_filter="0"), acl_filter(host_filter="0")]).records) == 1


def test_acl_changes_of_one_request_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    image = after(EMPTY, *(creation(host=str(number)) for number in range(4)))
    monkeypatch.setattr(acl_control, "MAX_RESULTS", 8)
    assert len(delete_acls(image, [acl_filter(), acl_filter(), acl_filter(host_filter="x")]).records) == 4, (
        "eight are listed"
    )
    with pytest.raises(Refusal, match="Cannot remove more than"):
        delete_acls(image, [acl_filter()] * 3)
    assert delete_acls(image, [acl_filter(host_filter="x")] * 100).records == []
    assert delete_acls(EMPTY, [acl_filter()] * 100).records == []


def names(image: Image, **fields: Any) -> set[tuple[str, int]]:
    return {(acl.resource_name, acl.pattern_type) for acl, _ in all_slices(matching_acls(image, acl_filter(**fields)))}


def test_match_means_whatever_takes_the_name() -> None:
    kinds = [("test", 3), ("test", 4), ("te", 4), ("testing", 3), ("testing", 4), ("*", 3), ("*", 4)]
    image = after(EMPTY, *(creation(resource_name=name, resource_pattern_type=kind) for name, kind in kinds))
    assert names(image, resource_name_filter="test", pattern_type_filter=2) == {
        ("test", 3),
        ("test", 4),
        ("te", 4),
        ("*", 3),
    }
    assert names(image, resource_name_filter="test", pattern_type_filter=1) == {("test", 3), ("test", 4)}
    assert names(image, resource_name_filter="test", pattern_type_filter=3) == {("test", 3)}
    assert names(image, resource_name_filter="test", pattern_type_filter=4) == {("test", 4)}
    assert names(image, resource_name_filter="*", pattern_type_filter=2) == {("*", 3), ("*", 4)}
    assert names(image, pattern_type_filter=2) == set(kinds)
    assert names(image, pattern_type_filter=9) == set()


def matches(requested: DeleteAclsRequest.DeleteAclsFilter, acl: Acl) -> bool:
    """The second implementation: every named field must be equal; for the name see KIP-290."""
    named = {
        "principal": requested.principal_filter,
        "host": requested.host_filter,
        "operation": None if requested.operation == 1 else requested.operation,
        "permission_type": None if requested.permission_type == 1 else requested.permission_type,
        "resource_type": None if requested.resource_type_filter == 1 else requested.resource_type_filter,
        "pattern_type": None if requested.pattern_type_filter in (1, 2) else requested.pattern_type_filter,
    }
    if any(value is not None and getattr(acl, field) != value for field, value in named.items()):
        return False
    name = requested.resource_name_filter
    if requested.pattern_type_filter == 2 and name is not None:
        takes = name.startswith(acl.resource_name) if acl.pattern_type == 4 else acl.resource_name in (name, "*")
        return takes or name == acl.resource_name
    return name is None or name == acl.resource_name


def test_filters_against_a_second_reading() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)

    def one(*values: Any) -> Any:
        return chance.choice(values)

    image = after(
        EMPTY,
        *(
            creation(
                resource_type=one(2, 3),
                resource_name=one("a", "ab", "*"),
                resource_pattern_type=one(3, 4),
                principal=one("User:a", "User:b"),
                host=one("*", "h"),
                operation=one(2, 3, 4),
                permission_type=one(2, 3),
            )
            for _ in range(60)
        ),
    )
    index = AclFilterIndex(image.acls)
    for _ in range(300):
        requested = acl_filter(
            resource_type_filter=one(1, 2, 3),
            resource_name_filter=one(None, "a", "ab", "abc", "*", ""),
            pattern_type_filter=one(1, 2, 3, 4),
            principal_filter=one(None, "User:a"),
            host_filter=one(None, "*", "h"),
            operation=one(1, 2, 3),
            permission_type=one(1, 2, 3),
        )
        assert [acl for acl, _ in all_slices(matching_acls(image, requested))] == sorted(
            a for a in image.acls.values() if matches(requested, a)
        )
        assert index.matching(requested) == all_slices(matching_acls(image, requested))


def test_a_deleted_acl_is_listed_for_every_filter_and_written_once() -> None:
    image = after(EMPTY, creation(), creation(host="h"))
    decision = delete_acls(
        image, [acl_filter(host_filter="h"), acl_filter(), acl_filter(operation=99), acl_filter(pattern_type_filter=9)]
    )
    assert [len(result.found) for result in decision.results] == [1, 2, 0, 0]
    assert [result.refusal and result.refusal.message for result in decision.results] == [
        None, None, "Unknown entryFilter.", "Unknown patternFilter.",
    ]  # fmt: skip
    assert len(decision.records) == 2
    for record in decision.records:
        image = replay(image, record)
    assert image == EMPTY


@pytest.mark.parametrize("field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"])
def test_numbers_without_a_name(field: str) -> None:
    assert not has_unknown(acl_filter())
    for number in (0, 99, -1):
        assert has_unknown(acl_filter(**{field: number}))
