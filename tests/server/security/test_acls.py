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


def test_an_id_is_given_once() -> None:
    image = after(EMPTY, creation())
    drawn = iter([*image.acls, Uuid(bytes([9]) * 16)])
    [record] = all_slices(create_acls(image, [creation(host="h")], lambda: next(drawn))).records
    assert record.id == Uuid(bytes([9]) * 16)  # type: ignore[attr-defined]  # it is of an ACL


def test_create_acls_with_too_many_records_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_acl_filter_with_pattern_match_finds_every_matching_resource() -> None:
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


@pytest.mark.parametrize("field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"])
def test_acl_filter_with_unknown_enum_numbers_is_recognised(field: str) -> None:
    assert not has_unknown(acl_filter())
    for number in (0, 99, -1):
        assert has_unknown(acl_filter(**{field: number}))
