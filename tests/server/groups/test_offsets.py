"""OffsetCommit and OffsetFetch: a committed offset is fetched; who may commit is checked."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.offset_and_metadata import OffsetAndMetadata
from kafkadouble.server.groups.offset_metadata_manager import OffsetKey
from kafkadouble.server.groups.offset_records import offset_record
from tests.server.groups.asking import commit, fetched
from tests.server.groups.bench import GROUP, Bench, Member, gathered, stabilise

NOTHING = (-1, -1, "", 0)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t", 3)
    bench.create_topic("u", 1)
    return bench


def test_an_offset_of_a_former_topic_is_none_when_fetched_by_id(bench: Bench) -> None:
    now = bench.create_topic("again")
    former = OffsetAndMetadata(-1, 5, -1, "", bench.now, topic_id=Uuid(b"f" * 16))
    bench.shard().write([offset_record(OffsetKey(GROUP, "again", 0), former)])
    assert fetched(bench, topics={now: [0]}, version=10) == {(now, 0): NOTHING}
    assert fetched(bench, topics={"again": [0]}) == {("again", 0): (5, -1, "", 0)}


def test_offsets_of_a_deleted_topic_are_not_returned_by_id(bench: Bench) -> None:
    gone = OffsetAndMetadata(-1, 5, -1, "", bench.now)
    bench.shard().write([offset_record(OffsetKey(GROUP, "gone", 0), gone)])
    assert fetched(bench, version=10) == {}
    assert fetched(bench) == {("gone", 0): (5, -1, "", 0)}


@pytest.mark.parametrize(("note", "code"), [("x" * 4096, 0), ("x" * 4097, 12), ("\U0001f600" * 2048, 0)])
def test_metadata_has_a_greatest_length_in_java_characters(bench: Bench, note: str, code: int) -> None:
    assert commit(bench, {"t": {0: 1}}, note=note) == {("t", 0): code}
    assert commit(bench, {"t": {1: 1}}, note="") == {("t", 1): 0}, "one does not hold up the others"


def test_the_greatest_length_is_a_setting(bench: Bench) -> None:
    bench = Bench(offset_metadata_max_bytes=3)
    bench.create_topic("t")
    assert commit(bench, {"t": {0: 1}}, note="\U0001f600\U0001f600") == {("t", 0): codes.OFFSET_METADATA_TOO_LARGE}
    assert bench.group().is_empty, "Kafka creates the group all the same"


def test_commits_during_a_rebalance(bench: Bench) -> None:
    leader, follower = gathered(bench)
    how: dict[str, Any] = {"member": leader.id, "generation": 1}
    assert commit(bench, {"t": {0: 1}}, **how) == {("t", 0): codes.REBALANCE_IN_PROGRESS}, "assignment is out"
    leader.sync({})
    follower.sync()
    leader.join()
    assert commit(bench, {"t": {0: 1}}, **how) == {("t", 0): 0}, (
        "before it is given up, it may be noted how far one came"
    )


def test_an_admin_may_commit_once_the_group_is_empty(bench: Bench) -> None:
    member = Member(bench)
    stabilise(member)
    assert commit(bench, {"t": {0: 1}}) == {("t", 0): codes.UNKNOWN_MEMBER_ID}
    member.leave()
    assert commit(bench, {"t": {0: 1}}) == {("t", 0): 0}
    assert commit(bench, {"t": {0: 1}}, member="m", generation=-1) == {("t", 0): 0}


def test_a_commit_is_a_sign_of_life(bench: Bench) -> None:
    member = Member(bench, session=10_000)
    stabilise(member)
    for _ in range(4):
        bench.advance(9_000)
        commit(bench, {"t": {0: 1}}, member=member.id, generation=1)
    assert bench.group().state_name == "Stable"


def test_offsets_of_an_open_transaction_are_unstable(bench: Bench) -> None:
    commit(bench, {"t": {0: 1}})
    shard = bench.shard()
    for index, offset in ((0, 5), (1, 6)):
        key, value, _ = offset_record(OffsetKey(GROUP, "t", index), OffsetAndMetadata(-1, offset, -1, "", bench.now))
        shard.replay(100 + index, 42, key, value)
    unstable = (-1, -1, "", codes.UNSTABLE_OFFSET_COMMIT)
    requested = {"t": [0, 1, 2]}
    assert fetched(bench, topics=requested, require_stable=True) == {
        ("t", 0): unstable,
        ("t", 1): unstable,
        ("t", 2): NOTHING,
    }
    assert fetched(bench, require_stable=True) == {("t", 0): unstable}
    assert fetched(bench, topics=requested) == {("t", 0): (1, -1, "", 0), ("t", 1): NOTHING, ("t", 2): NOTHING}
    shard.replay_end_transaction_marker(42, True)
    assert fetched(bench, topics=requested, require_stable=True) == {
        ("t", 0): (5, -1, "", 0),
        ("t", 1): (6, -1, "", 0),
        ("t", 2): NOTHING,
    }


def test_an_aborted_transaction_leaves_nothing_and_a_later_commit_wins(bench: Bench) -> None:
    shard = bench.shard()
    key, value, _ = offset_record(OffsetKey(GROUP, "t", 0), OffsetAndMetadata(-1, 5, -1, "", bench.now))
    shard.replay(0, 42, key, value)
    shard.replay_end_transaction_marker(42, False)
    assert fetched(bench) == {}
    shard.replay(0, 43, key, value)
    commit(bench, {"t": {0: 9}})
    commit(bench, {"t": {0: 9}})
    shard.replay_end_transaction_marker(43, True)
    assert fetched(bench) == {("t", 0): (9, -1, "", 0)}
