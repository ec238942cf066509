"""Groups that are converted while they have members, in both directions (KIP-848)."""

from __future__ import annotations

from struct import pack
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.server.groups.classic.member_requests import _complete_rebalance
from kafkadouble.server.groups.consumer_protocol import assignment_of
from kafkadouble.wire.errors import WireError
from tests.server.groups.asking import listed
from tests.server.groups.bench import GROUP, Member, gather, subscription
from tests.server.groups.consumer.bench import Consumer, ConsumerBench, settle

TOGETHER: dict[str, Any] = {"group_initial_rebalance_delay_ms": 3000}
"""A setting by which the first members of a classic group have one generation."""

DOWNGRADES, UPGRADES, NEITHER, BOTH = "downgrade", "upgrade", "disabled", "bidirectional"


def assignment(topics: dict[str, list[int]], user_data: bytes | None = None, version: int = 0) -> bytes:
    topic = ConsumerProtocolAssignment.TopicPartition
    partitions = [topic(topic=name, partitions=each) for name, each in topics.items()]
    return pack(">h", version) + ConsumerProtocolAssignment(assigned_partitions=partitions, user_data=user_data).encode(
        version
    )


def owning(topics: dict[str, list[int]]) -> bytes:
    """Returns the metadata of a consumer that subscribes to t, and owns these partitions."""
    topic = ConsumerProtocolSubscription.TopicPartition
    owned = [topic(topic=name, partitions=each) for name, each in topics.items()]
    return pack(">h", 1) + ConsumerProtocolSubscription(topics=["t"], owned_partitions=owned).encode(1)


def classic(bench: ConsumerBench, client: str = "c", **how: object) -> Member:
    return Member(bench, client, protocols=[("range", subscription("t"))], **how)  # type: ignore[arg-type]


def stable(*members: Member, shares: dict[str, bytes] | None = None) -> None:
    """Forms a classic group of the members, in which each has a partition of t, or these shares."""
    gather(*members)
    leader = next(member for member in members if member.id == member.leader)
    waiting = [member.sync() for member in members if member is not leader]
    given = {member.id: assignment({"t": [index]}) for index, member in enumerate(members)}
    call = leader.sync({member.id: shares[member.client] for member in members} if shares else given)
    assert all(each.done and each.code == 0 for each in (*waiting, call))


def bench_with(policy: str = BOTH, **settings: object) -> ConsumerBench:
    bench = ConsumerBench(group_consumer_migration_policy=policy, **settings)
    bench.create_topic("t", 2)
    return bench


def state(bench: ConsumerBench) -> tuple[str, str]:
    found = listed(bench)[GROUP]
    return found.group_type, found.group_state


def rejoin(member: Member, owned: dict[str, list[int]] | None = None) -> dict[str, list[int]]:
    """Rejoins a classic member; returns its assignment."""
    member.protocols = [("range", owning(owned or {}))]
    member.joined(member.join())
    call = member.sync()
    assert call.code == codes.NONE
    return {each.topic: list(each.partitions) for each in assignment_of(call.answer.assignment).assigned_partitions}


def test_members_keep_their_partitions_when_the_group_is_upgraded() -> None:
    bench = bench_with(**TOGETHER)
    first, second = classic(bench, "c1"), classic(bench, "c2", instance="i")
    stable(first, second)
    consumer = Consumer(bench, "new", "t")
    assert consumer.beat().member_epoch == 2
    assert state(bench) == ("consumer", "Reconciling")
    group = bench.consumer_group()
    assert set(group.members) == {first.id, second.id, "new"}
    member = group.members[second.id]
    assert (member.member_epoch, member.instance_id, member.rebalance_timeout_ms) == (1, "i", second.rebalance)
    assert [list(each) for each in member.assigned_partitions.values()] == [[1]]


def test_a_classic_member_follows_step_by_step() -> None:
    bench = bench_with()
    member = classic(bench)
    stable(member, shares={"c": assignment({"t": [0, 1]})})
    consumer = Consumer(bench, "new", "t")
    consumer.beat()
    assert consumer.owned == {}
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    assert member.sync().code == codes.REBALANCE_IN_PROGRESS
    # It must revoke one partition first, and joins again without it.
    assert member.generation == 1
    kept = rejoin(member, {"t": [0, 1]})
    assert (member.generation, len(kept["t"])) == (1, 1)
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    assert rejoin(member, kept) == kept
    assert member.generation == 2
    assert member.beat() == codes.NONE
    consumer.beat()
    (topic_id,) = consumer.owned
    assert sorted(kept["t"] + consumer.partitions(topic_id)) == [0, 1]
    assert state(bench) == ("consumer", "Stable")


def test_a_classic_member_waits_while_another_has_its_partition() -> None:
    bench = bench_with()
    consumer = Consumer(bench, "a", "t")
    settle(consumer)
    member = classic(bench)
    assert rejoin(member) == {}
    assert member.beat() == codes.NONE, "there is no other step to take yet"
    owned = dict(consumer.owned)
    consumer.beat()
    consumer.owned = owned
    consumer.beat()
    assert member.beat() == codes.NONE
    consumer.owned = consumer.assigned
    consumer.beat()
    assert member.beat() == codes.REBALANCE_IN_PROGRESS
    assert len(rejoin(member)["t"]) == 1


def test_a_session_that_ends_downgrades_the_group_too() -> None:
    bench = bench_with()
    consumer, member = Consumer(bench, "a", "t"), classic(bench, session=300_000)
    settle(consumer)
    rejoin(member)
    bench.advance(45_000)
    assert state(bench)[0] == "classic"


def test_a_static_classic_member_replaces_the_last_consumer() -> None:
    bench = bench_with()
    consumer = Consumer(bench, "a", "t", instance="i")
    settle(consumer)
    member = classic(bench, instance="i")
    member.joined(member.join())
    assert state(bench) == ("classic", "Stable")
    call = member.sync()
    assert assignment_of(call.answer.assignment).assigned_partitions[0].partitions == (0, 1)
    assert consumer.code() == codes.GROUP_ID_NOT_FOUND


def test_a_stale_assignment_makes_the_classic_group_rebalance() -> None:
    bench = bench_with()
    bench.create_topic("u")
    settle(Consumer(bench, "a", "t", instance="i"))
    member = Member(bench, instance="i", protocols=[("range", subscription("t", "u"))])
    member.joined(member.join())
    assert state(bench)[1] in ("PreparingRebalance", "CompletingRebalance")


def test_a_static_consumer_replaces_a_classic_one_that_did_not_leave() -> None:
    bench = bench_with()
    member = classic(bench, instance="i")
    stable(member)
    consumer = Consumer(bench, "new", "t", instance="i")
    consumer.beat()
    assert list(bench.consumer_group().members) == ["new"]
    assert member.beat() == codes.FENCED_INSTANCE_ID
    assert not bench.consumer_group().members["new"].uses_classic_protocol


def test_an_empty_group_of_either_type_is_replaced() -> None:
    bench = bench_with(NEITHER)
    member, consumer = classic(bench), Consumer(bench, "a", "t")
    stable(member)
    member.leave()
    consumer.beat()
    assert state(bench) == ("consumer", "Stable")
    consumer.leave()
    again = classic(bench)
    again.joined(again.join())
    assert state(bench)[0] == "classic"


@pytest.mark.parametrize(("policy", "allowed"), [(BOTH, True), (UPGRADES, True), (DOWNGRADES, False), (NEITHER, False)])
def test_the_policy_of_upgrades(policy: str, allowed: bool) -> None:
    bench = bench_with(policy)
    stable(classic(bench))
    answer = Consumer(bench, "a", "t").send()
    assert answer.error_code == (codes.NONE if allowed else codes.GROUP_ID_NOT_FOUND)
    if not allowed:
        assert (
            answer.error_message
            == "Cannot upgrade classic group g to consumer group because online upgrade is disabled."
        )


@pytest.mark.parametrize(("policy", "allowed"), [(BOTH, True), (UPGRADES, False), (DOWNGRADES, True)])
def test_the_policy_of_downgrades(policy: str, allowed: bool) -> None:
    bench = bench_with(policy)
    consumer, member = Consumer(bench, "a", "t"), classic(bench)
    settle(consumer)
    rejoin(member)
    consumer.leave()
    assert state(bench)[0] == ("classic" if allowed else "consumer")


def test_without_migration_no_classic_member_joins_a_consumer_group() -> None:
    bench = bench_with(NEITHER)
    settle(Consumer(bench, "a", "t"))
    assert classic(bench).join().code == codes.INCONSISTENT_GROUP_PROTOCOL


def test_groups_that_are_too_large_are_not_converted() -> None:
    bench = bench_with(group_consumer_max_size=1, **TOGETHER)
    stable(classic(bench, "c1"), classic(bench, "c2"))
    answer = Consumer(bench, "a", "t").send()
    assert answer.error_message == (
        "Cannot upgrade classic group g to consumer group because the group size exceeds the consumer group maximum size."
    )
    bench = bench_with(group_max_size=1)
    consumer = Consumer(bench, "a", "t")
    settle(consumer)
    for client in ("c1", "c2"):
        rejoin(classic(bench, client))
    consumer.leave()
    assert state(bench)[0] == "consumer"


@pytest.mark.parametrize(
    ("share", "reason"),
    [
        (assignment({"t": [0]}, b"x"), "an unsupported custom assignor is in use"),
        (b"\0", "the embedded consumer protocol is malformed"),
        (b"\0\0\0\0\0\1", "the embedded consumer protocol is malformed"),
        (b"\xff\xff", "the embedded consumer protocol is malformed"),
        (assignment({"t": [0]}, b""), None),
        (assignment({"t": [0], "nowhere": [0]}), None),
        (assignment({"t": [0]}, version=3), None),
        (b"", None),
    ],
)
def test_assignments_of_classic_members(share: bytes, reason: str | None) -> None:
    bench = bench_with()
    stable(classic(bench), shares={"c": share})
    answer = Consumer(bench, "a", "t").send()
    assert answer.error_code == (codes.NONE if reason is None else codes.GROUP_ID_NOT_FOUND)
    if reason is not None:
        assert answer.error_message.startswith(f"Cannot upgrade classic group g to consumer group because {reason}")


def test_a_partition_of_two_classic_members_has_no_owner_to_convert() -> None:
    bench = bench_with(**TOGETHER)
    first, second = classic(bench, "c1"), classic(bench, "c2")
    stable(first, second, shares={"c1": assignment({"t": [0, 1]}), "c2": assignment({"t": [1]})})
    assert Consumer(bench, "a", "t").code() == codes.UNKNOWN_SERVER_ERROR
    assert first.beat() == second.beat() == codes.NONE


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\0\0\0\0\1", b"\xff\xff\0\0\0\0\xff\xff\xff\xff"])
def test_metadata_that_cannot_be_read(metadata: bytes) -> None:
    bench = bench_with()
    settle(Consumer(bench, "a", "t"))
    member = Member(bench, protocols=[("range", metadata)])
    assert member.join().code == codes.INCONSISTENT_GROUP_PROTOCOL
    member.id = "who"
    member.instance = "i"
    assert member.join().code == codes.UNKNOWN_MEMBER_ID, "the member is looked up first"
    assert set(bench.consumer_group().members) == {"a"}


def test_a_refused_conversion_leaves_the_classic_group_alone() -> None:
    """A rebalance of it that goes on ends in time, and its sessions still end."""
    bench = bench_with(**TOGETHER)
    waiting, away = classic(bench, "c1"), classic(bench, "c2", session=300_000, rebalance=30_000)
    stable(waiting, away)
    joining = classic(bench, "c3")
    call = joining.send_join(3)
    assert not call.done
    refused = Consumer(bench, "a", regex="(")
    assert refused.code() == codes.INVALID_REGULAR_EXPRESSION
    assert state(bench) == ("classic", "PreparingRebalance")
    assert call.code == codes.REBALANCE_IN_PROGRESS, "as in Kafka, members that wait join again"
    joining.id = call.answer.member_id
    again, other = joining.send_join(3), waiting.join()
    bench.advance(60_000)
    joining.joined(again)
    waiting.joined(other)
    assert away.beat() == codes.UNKNOWN_MEMBER_ID
    bench.advance(10_000)
    assert bench.group().is_empty


def test_a_classic_group_that_was_converted_is_dead() -> None:
    """The assignments of its leader may be committed after the conversion."""
    bench = bench_with()
    member = classic(bench)
    member.joined(member.join())
    group = bench.group()
    assert group.state_name == "CompletingRebalance"
    Consumer(bench, "a", "t").beat()
    _complete_rebalance(group, member.generation, {}, codes.NONE)
    assert group.state_name == "Dead"
    assert all(member.session_timer is None for member in group.members.values())


def test_timers_of_the_classic_group_end_with_it() -> None:
    """The pending member id of an empty classic group expires without effect on the new group."""
    bench = bench_with()
    first = classic(bench)
    answer = first.send_join().answer
    assert answer.error_code == codes.MEMBER_ID_REQUIRED
    consumer = Consumer(bench, "a", "t")
    consumer.beat()
    bench.advance(20_000)
    consumer.beat()
    assert set(bench.consumer_group().members) == {"a"}


def test_a_member_that_is_converted_twice_is_not_fenced_by_an_old_timer() -> None:
    bench = bench_with()
    consumer, member = Consumer(bench, "a", "t"), classic(bench, session=300_000, rebalance=30_000)
    settle(consumer)
    member.joined(member.join())
    consumer.leave()
    member.joined(member.join())
    member.sync({member.id: assignment({"t": [0, 1]})})
    back = Consumer(bench, "b", "t")
    back.beat()
    rejoin(member, {"t": [0, 1]})
    bench.advance(29_999)
    back.beat()
    bench.advance(1)
    assert member.id in bench.consumer_group().members


def test_a_later_version_of_the_metadata_is_read_as_the_newest_known() -> None:
    assert assignment_of(b"\0\x63" + assignment({"t": [1]})[2:]).assigned_partitions[0].partitions == (1,)
    with pytest.raises(WireError):
        assignment_of(b"")
