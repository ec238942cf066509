"""What goes: offsets, groups, offsets of deleted topics, and what has expired."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.server.groups.offset_and_metadata import OffsetAndMetadata
from kafkadouble.server.groups.offset_metadata_manager import OffsetKey
from kafkadouble.server.groups.offset_records import offset_record
from tests.server.groups.asking import commit, delete_groups, fetched
from tests.server.groups.bench import GROUP, START, Bench, Member, stabilise, subscription

MINUTE = 60_000


@pytest.fixture
def bench() -> Bench:
    return with_topics(Bench())


def with_topics(bench: Bench) -> Bench:
    bench.create_topic("t", 3)
    bench.create_topic("u", 1)
    return bench


def consumer(bench: Bench, *topics: str) -> Member:
    return Member(bench, protocols=[("range", subscription(*topics))])


def test_pending_offsets_go_too(bench: Bench) -> None:
    key, value, _ = offset_record(OffsetKey(GROUP, "t", 0), OffsetAndMetadata(-1, 5, -1, "", bench.now))
    bench.shard().replay(0, 42, key, value)
    assert delete_groups(bench, GROUP) == {GROUP: 0}
    bench.shard().replay_end_transaction_marker(42, True)
    assert fetched(bench) == {}


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    bench = Bench(offsets_partitions=5)
    topic = bench.create_topic("t", 2)
    bench.create_topic("u", 1)
    groups = [f"group-{number}" for number in range(10)]
    assert len({bench.node.groups.runtime.partition_of(group) for group in groups}) > 1
    for group in groups:
        commit(bench, {"t": {0: 1, 1: 1}, "u": {0: 2}}, group)
    bench.delete_topic(topic)
    for group in groups:
        assert fetched(bench, group) == {("u", 0): (2, -1, "", 0)}
    bench.fail_over()
    assert fetched(bench, groups[0]) == {("u", 0): (2, -1, "", 0)}


def test_offsets_for_the_next_topic_of_the_name_stay(bench: Bench) -> None:
    topic = bench.create_topic("again")
    later = OffsetAndMetadata(-1, 5, -1, "", bench.now, topic_id=bench.create_topic("other"))
    bench.shard().write([offset_record(OffsetKey(GROUP, "again", 0), later)])
    bench.delete_topic(topic)
    assert fetched(bench) == {("again", 0): (5, -1, "", 0)}


def expiring(**settings: Any) -> Bench:
    return with_topics(Bench(offsets_retention_minutes=10, offsets_retention_check_interval_ms=MINUTE, **settings))


def test_offsets_of_a_group_that_only_commits_expire_each_in_its_time() -> None:
    bench = expiring()
    commit(bench, {"t": {0: 1}})
    bench.advance(5 * MINUTE)
    commit(bench, {"t": {1: 1}})
    bench.advance(4 * MINUTE)
    assert set(fetched(bench)) == {("t", 0), ("t", 1)}
    bench.advance(MINUTE)
    assert set(fetched(bench)) == {("t", 1)}
    bench.advance(5 * MINUTE)
    assert GROUP not in bench.shard().groups, "nothing is left of the group"
    bench.fail_over()
    assert GROUP not in bench.shard().groups


def test_offsets_of_a_group_expire_together_after_it_became_empty() -> None:
    bench = expiring()
    member = Member(bench, session=6 * MINUTE)
    stabilise(member)
    for _ in range(6):
        commit(bench, {"t": {0: 1}}, member=member.id, generation=1)
        bench.advance(5 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}
    member.leave()
    bench.advance(9 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}
    bench.advance(2 * MINUTE)
    assert fetched(bench) == {}
    assert GROUP not in bench.shard().groups


def test_the_time_since_it_is_empty_survives_a_change_of_leader() -> None:
    bench = expiring()
    member = Member(bench)
    stabilise(member)
    commit(bench, {"t": {0: 1}}, member=member.id, generation=1)
    member.leave()
    bench.advance(6 * MINUTE)
    bench.fail_over()
    bench.advance(3 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}
    bench.advance(2 * MINUTE)
    assert fetched(bench) == {}


def test_a_stable_group_of_consumers_loses_only_what_it_reads_no_longer() -> None:
    bench = expiring()
    member = consumer(bench, "t")
    member.session = 29 * MINUTE
    stabilise(member)
    commit(bench, {"t": {0: 1}, "u": {0: 1}}, member=member.id, generation=1)
    bench.advance(12 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}
    assert bench.group().state_name == "Stable"


def test_a_group_of_others_loses_nothing_while_it_has_members() -> None:
    bench = expiring()
    member = Member(bench, protocol_type="connect", session=29 * MINUTE)
    stabilise(member)
    commit(bench, {"t": {0: 1}}, member=member.id, generation=1)
    bench.advance(20 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}


def test_up_to_version_4_an_offset_may_have_a_time_of_its_own() -> None:
    bench = expiring()
    commit(bench, {"t": {0: 1}}, version=4, retention=2 * MINUTE)
    commit(bench, {"t": {1: 1}}, version=4, retention=60 * MINUTE)
    bench.advance(MINUTE)
    assert set(fetched(bench)) == {("t", 0), ("t", 1)}
    bench.advance(2 * MINUTE)
    assert set(fetched(bench)) == {("t", 1)}
    bench.advance(20 * MINUTE)
    assert set(fetched(bench)) == {("t", 1)}
    assert bench.now == START + 23 * MINUTE


def test_offset_with_pending_transaction_does_not_expire() -> None:
    bench = expiring()
    commit(bench, {"t": {0: 1}})
    key, value, _ = offset_record(OffsetKey(GROUP, "t", 0), OffsetAndMetadata(-1, 5, -1, "", bench.now))
    bench.shard().replay(10, 42, key, value)
    bench.advance(20 * MINUTE)
    assert set(fetched(bench)) == {("t", 0)}
    bench.shard().replay_end_transaction_marker(42, False)
    bench.advance(MINUTE)
    assert fetched(bench) == {}


def test_an_empty_group_without_offsets_is_deleted_by_and_by() -> None:
    bench = expiring()
    member = Member(bench)
    stabilise(member)
    member.leave()
    bench.advance(MINUTE)
    assert GROUP not in bench.shard().groups
