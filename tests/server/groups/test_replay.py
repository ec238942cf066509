"""A coordinator that replays another one's log has the same state, as after a fail-over."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kafkadouble.server.coordinator.coordinator_loader import load
from kafkadouble.server.coordinator.coordinator_record import CoordinatorRecord
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.wire.batch import ABORT, COMMIT, decode_all, encode_batch, encode_control_batch
from kafkadouble.wire.record import Record
from tests.server.groups.asking import commit, delete_groups, delete_offsets, describe, fetched, listed
from tests.server.groups.bench import DELAY, GROUP, Bench, Member, gather, stabilise, subscription


def seen(bench: Bench, *groups: str) -> dict[str, Any]:
    """All that a client can ask about groups."""
    return {
        "described": describe(bench, *groups),
        "listed": listed(bench),
        "offsets": {group: fetched(bench, group) for group in groups},
    }


def test_group_state_is_replayed_from_the_log() -> None:
    bench = Bench(offsets_partitions=3)
    bench.create_topic("t", 3)
    stabilise(
        Member(bench, "a", group="stable", protocols=[("range", subscription("t")), ("sticky", b"x")]),
        Member(bench, "b", group="stable", instance="i", protocols=[("range", subscription("t"))]),
    )
    left = Member(bench, group="left")
    stabilise(left)
    commit(bench, {"t": {0: 5, 1: 6}}, "left", member=left.id, generation=1, note="n", epoch=3)
    left.leave()
    commit(bench, {"t": {0: 1, 1: 1, 2: 1}}, "simple")
    delete_offsets(bench, {"t": [1]}, "simple")
    commit(bench, {"t": {0: 1}}, "gone")
    delete_groups(bench, "gone")
    groups = ("stable", "left", "simple", "gone", "unknown")
    before = seen(bench, *groups)
    bench.fail_over()
    assert seen(bench, *groups) == before
    bench.fail_over()
    assert seen(bench, *groups) == before


def test_members_go_on_where_they_were() -> None:
    bench = Bench()
    bench.create_topic("t")
    leader, follower = Member(bench, "a"), Member(bench, "b", instance="i")
    stabilise(leader, follower)
    bench.fail_over()
    assert leader.beat() == follower.beat() == 0
    assert follower.sync().answer.assignment == b"b"
    assert commit(bench, {"t": {0: 1}}, member=leader.id, generation=1) == {("t", 0): 0}
    call = leader.join()
    assert not call.done
    again = follower.join()
    leader.joined(call)
    follower.joined(again)
    assert leader.generation == 2


def test_a_static_restart_is_in_the_log() -> None:
    bench = Bench()
    member = Member(bench, instance="i")
    stabilise(member)
    again = Member(bench, instance="i")
    again.joined(again.send_join())
    bench.fail_over()
    assert member.beat() == codes.FENCED_INSTANCE_ID
    assert again.beat() == 0
    assert again.sync().answer.assignment == b"c"


def test_sessions_restart_with_the_new_coordinator() -> None:
    bench = Bench()
    member = Member(bench, session=10_000)
    stabilise(member)
    bench.advance(9_000)
    bench.fail_over()
    bench.advance(9_999)
    assert bench.group().state_name == "Stable"
    bench.advance(1)
    assert bench.group().state_name == "Empty"


def test_a_group_over_the_greatest_size_has_to_gather_again() -> None:
    bench = Bench()
    first, second = Member(bench, "a"), Member(bench, "b")
    stabilise(first, second)
    bench.node.settings = Bench(group_max_size=1).node.settings
    bench.fail_over()
    assert first.beat() == codes.REBALANCE_IN_PROGRESS
    first_call = first.join()
    assert second.join().code == codes.GROUP_MAX_SIZE_REACHED
    bench.advance(60_000)
    first.joined(first_call)


def test_waiting_members_are_answered_when_the_coordinator_is_lost() -> None:
    bench = Bench()
    leader, follower = Member(bench, "a", group="y"), Member(bench, "b", group="y")
    gather(leader, follower)
    gathering = [Member(bench, "a", group="z").join(), Member(bench, "b", group="z").join()]
    waiting = follower.sync()
    (partition,) = bench.node.partitions.of_topic(CONSUMER_OFFSETS).values()
    bench.node.groups.runtime.on_resignation(partition)
    bench.node.tick(bench.now)
    assert waiting.code == codes.NOT_COORDINATOR
    assert [call.code for call in gathering] == [codes.NOT_COORDINATOR] * 2
    assert leader.beat() == codes.NOT_COORDINATOR
    assert timers(bench) == timers(Bench(with_offsets_topic=False)), "none is left behind"


def timers(bench: Bench) -> int:
    """How many timers of the node are set."""
    return sum(timer.action is not None for _, _, timer in bench.node.waiting.timers._heap)


def test_group_in_preparing_rebalance_is_not_replayed() -> None:
    bench = Bench()
    member = Member(bench)
    member.join()
    bench.fail_over()
    assert bench.group().is_empty
    assert member.join().code == codes.UNKNOWN_MEMBER_ID


def appended(bench: Bench, batch: bytes | bytearray) -> None:
    (partition,) = bench.node.partitions.of_topic(CONSUMER_OFFSETS).values()
    partition.append_own(batch, bench.now)


@pytest.mark.parametrize(("marker", "offset"), [(COMMIT, 9), (ABORT, 1)])
def test_transactional_offsets_count_after_their_commit_marker(marker: int, offset: int) -> None:
    bench = Bench()
    bench.create_topic("t")
    commit(bench, {"t": {0: 1}})
    (partition,) = bench.node.partitions.of_topic(CONSUMER_OFFSETS).values()
    (record,) = decode_all(partition.log.read(0, 1 << 20).records)
    value = record.value
    assert value is not None
    later = Record(0, bench.now, record.key, value[:2] + (9).to_bytes(8, "big") + value[10:])
    pid = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    appended(bench, encode_batch([later], base_sequence=0, **pid))  # type: ignore[arg-type]  # a mixed dict
    bench.fail_over()
    assert fetched(bench, require_stable=True)[("t", 0)][3] == codes.UNSTABLE_OFFSET_COMMIT
    end = encode_control_batch(marker, b"\0\0\0\0\0\0", **pid)  # type: ignore[arg-type]  # a mixed dict
    appended(bench, end)
    bench.fail_over()
    assert fetched(bench, require_stable=True) == {("t", 0): (offset, -1, "", 0)}


def test_records_of_unknown_types_are_passed_over_and_bad_ones_close_the_shard() -> None:
    bench = Bench()
    bench.create_topic("t")
    commit(bench, {"t": {0: 1}})
    appended(bench, encode_batch([Record(0, bench.now, b"\x03\xe7what", b"ever")]))
    bench.fail_over()
    assert fetched(bench) == {("t", 0): (1, -1, "", 0)}
    appended(bench, encode_batch([Record(0, bench.now, b"\0\x02\0\x01g", b"\0\x63")]))
    bench.fail_over()
    assert commit(bench, {"t": {0: 1}}) == {("t", 0): codes.NOT_COORDINATOR}


def test_old_versions_of_a_group_can_be_read() -> None:
    bench = Bench()
    (partition,) = bench.node.partitions.of_topic(CONSUMER_OFFSETS).values()
    member = GroupMetadataValue.MemberMetadata(
        member_id="m", session_timeout=10_000, subscription=b"s", assignment=b"a"
    )
    for version in range(4):
        value = GroupMetadataValue(protocol_type="consumer", generation=3, protocol="p", leader="m", members=[member])
        record = CoordinatorRecord(GroupMetadataKey(group=f"v{version}"), value, version)
        appended(bench, encode_batch([record.encoded(0, bench.now)]))
    shard = GroupCoordinatorShard(bench.node, partition, bench.node.groups)
    load(shard)
    for version in range(4):
        group = shard.groups[f"v{version}"]
        assert group.state_name == "Stable"
        assert group.generation_id == 3  # type: ignore[attr-defined]  # a classic group
        assert group.members["m"].rebalance_timeout_ms == 10_000  # type: ignore[attr-defined]  # a classic group


def test_first_rebalance_of_a_group_begins_again_after_a_fail_over() -> None:
    bench = Bench()
    Member(bench).join()
    bench.fail_over()
    member = Member(bench)
    call = member.join()
    bench.advance(DELAY)
    member.joined(call)
    assert member.generation == 1
    assert listed(bench)[GROUP].group_state == "CompletingRebalance"
