"""DescribeGroups and ListGroups: what is shown of groups."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from tests.server.groups.asking import commit, describe, listed
from tests.server.groups.bench import GROUP, Bench, Member, gather, stabilise

NOT_ASKED = -(2**31)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t")
    return bench


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group_shows_everything(bench: Bench, version: int) -> None:
    first = Member(bench, "a", instance="i", protocols=[("range", b"meta")])
    second = Member(bench, "b", protocols=[("range", b"data")])
    stabilise(first, second)
    (group,) = describe(bench, GROUP, version=version)
    assert (group.error_code, group.group_id, group.group_state) == (0, GROUP, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    shown = [
        (m.member_id, m.group_instance_id, m.client_id, m.client_host, m.member_metadata, m.member_assignment)
        for m in group.members
    ]
    assert shown == [
        (first.id, "i" if version >= 4 else None, "a", "/127.0.0.1", b"meta", b"a"),
        (second.id, None, "b", "/127.0.0.1", b"data", b"b"),
    ]
    assert group.authorized_operations == NOT_ASKED


def test_a_group_that_is_not_stable_shows_no_protocol(bench: Bench) -> None:
    member = Member(bench, protocols=[("range", b"meta")])
    gather(member)
    (group,) = describe(bench, GROUP)
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("CompletingRebalance", "consumer", "")
    assert [(m.member_id, m.member_metadata) for m in group.members] == [(member.id, b"")]
    member.leave()
    (group,) = describe(bench, GROUP)
    assert (group.group_state, group.protocol_type, list(group.members)) == ("Empty", "consumer", [])


@pytest.mark.parametrize("version", [0, 5, 6])
def test_an_unknown_group_is_dead_and_from_version_6_on_an_error(bench: Bench, version: int) -> None:
    (group,) = describe(bench, "unknown", version=version)
    assert group.group_state == "Dead"
    assert group.error_code == (codes.GROUP_ID_NOT_FOUND if version >= 6 else 0)
    assert group.error_message == ("Group unknown not found." if version >= 6 else None)


def test_groups_are_described_in_the_requested_order(bench: Bench) -> None:
    commit(bench, {"t": {0: 1}}, "known")
    assert [group.group_id for group in describe(bench, "z", "known", "a")] == ["z", "known", "a"]


def test_authorized_operations_are_given_on_request(bench: Bench) -> None:
    commit(bench, {"t": {0: 1}}, "known")
    body = DescribeGroupsRequest(groups=["known", "unknown"], include_authorized_operations=True)
    known, unknown = bench.ask(body, 6).groups
    assert known.authorized_operations == 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
    assert unknown.authorized_operations == NOT_ASKED
    _, unknown = bench.ask(body, 5).groups
    assert unknown.authorized_operations == known.authorized_operations


def test_every_group_is_listed_with_state_and_type() -> None:
    bench = Bench(offsets_partitions=7)
    bench.create_topic("t")
    commit(bench, {"t": {0: 1}}, "simple")
    stabilise(Member(bench, group="stable"))
    gather(Member(bench, group="completing", protocol_type="connect"))
    Member(bench, group="preparing").join()
    found = {name: (each.protocol_type, each.group_state, each.group_type) for name, each in listed(bench).items()}
    assert found == {
        "simple": ("", "Empty", "classic"),
        "stable": ("consumer", "Stable", "classic"),
        "completing": ("connect", "CompletingRebalance", "classic"),
        "preparing": ("consumer", "PreparingRebalance", "classic"),
    }
    for states, names in (
        (["Stable"], {"stable"}),
        (["stable", " EMPTY "], {"stable", "simple"}),
        (["Nonsense"], set()),
        (["preparingrebalance", "CompletingRebalance"], {"preparing", "completing"}),
    ):
        assert set(listed(bench, states)) == names
    for types, count in ((["classic"], 4), (["CLASSIC"], 4), (["consumer"], 0), (["consumer", "classic"], 4)):
        assert len(listed(bench, types=types)) == count
    assert set(listed(bench, ["Empty"], ["classic"])) == {"simple"}


@pytest.mark.parametrize("version", range(6))
def test_every_version_lists(bench: Bench, version: int) -> None:
    commit(bench, {"t": {0: 1}})
    (group,) = bench.ask(ListGroupsRequest(), version).groups
    assert group.group_id == GROUP
    assert group.group_state == ("Empty" if version >= 4 else "")
    assert group.group_type == ("classic" if version >= 5 else "")
