"""OffsetCommit and OffsetFetch: a committed offset is fetched; who may commit is checked."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.offset_and_metadata import OffsetAndMetadata
from kafkadouble.server.groups.offset_metadata_manager import OffsetKey
from kafkadouble.server.groups.offset_records import offset_record
from tests.server.groups.asking import commit, commit_request, fetch_request, fetched
from tests.server.groups.bench import GROUP, Bench, Member, gather, stabilise

NOTHING = (-1, -1, "", 0)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t", 3)
    bench.create_topic("u", 1)
    return bench


def test_offset_metadata_and_leader_epoch_come_back(bench: Bench) -> None:
    assert commit(bench, {"t": {0: 7, 2: 9}}, epoch=5, note="so far \N{SNOWMAN}") == {("t", 0): 0, ("t", 2): 0}
    assert fetched(bench, topics={"t": [0, 1, 2]}) == {
        ("t", 0): (7, 5, "so far \N{SNOWMAN}", 0),
        ("t", 1): NOTHING,
        ("t", 2): (9, 5, "so far \N{SNOWMAN}", 0),
    }


def test_the_latest_commit_holds_and_null_metadata_is_empty(bench: Bench) -> None:
    commit(bench, {"t": {0: 7}}, epoch=5, note="x")
    commit(bench, {"t": {0: 3}}, note=None)
    assert fetched(bench) == {("t", 0): (3, -1, "", 0)}


def test_all_topics_are_fetched_when_none_is_named(bench: Bench) -> None:
    commit(bench, {"t": {0: 1, 1: 2}, "u": {0: 3}})
    assert fetched(bench) == {("t", 0): (1, -1, "", 0), ("t", 1): (2, -1, "", 0), ("u", 0): (3, -1, "", 0)}
    assert fetched(bench, topics={}) == {}


def test_groups_do_not_see_one_another(bench: Bench) -> None:
    commit(bench, {"t": {0: 1}}, "g")
    commit(bench, {"t": {0: 2}}, "h")
    answer = bench.ask(fetch_request({"g": None, "h": {"t": [0]}, "unknown": None, "other": {"t": [0]}}), 9)
    assert [(group.group_id, group.error_code) for group in answer.groups] == [
        (group_id, 0) for group_id in ("g", "h", "unknown", "other")
    ]
    offsets = [[p.committed_offset for t in group.topics for p in t.partitions] for group in answer.groups]
    assert offsets == [[1], [2], [], [-1]]


@pytest.mark.parametrize("version", range(2, 10))
def test_every_version_commits(bench: Bench, version: int) -> None:
    assert commit(bench, {"t": {0: version}, "nowhere": {0: 1}}, version=version, note="n") == {
        ("t", 0): 0,
        ("nowhere", 0): codes.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert fetched(bench) == {("t", 0): (version, -1, "n", 0)}


@pytest.mark.parametrize("version", range(1, 8))
def test_every_old_version_fetches_one_group(bench: Bench, version: int) -> None:
    commit(bench, {"t": {0: 7}}, epoch=3, note="n")
    topic = OffsetFetchRequest.OffsetFetchRequestTopic
    body = OffsetFetchRequest(group_id=GROUP, topics=[topic(name="t", partition_indexes=[0, 1])])
    answer = bench.ask(body, version)
    assert answer.error_code == 0
    found = [
        (p.partition_index, p.committed_offset, p.committed_leader_epoch, p.metadata, p.error_code)
        for p in answer.topics[0].partitions
    ]
    assert found == [(0, 7, 3 if version >= 5 else -1, "n", 0), (1, -1, -1, "", 0)]
    if version >= 2:
        everything = bench.ask(OffsetFetchRequest(group_id=GROUP, topics=None), version)
        assert [topic.name for topic in everything.topics] == ["t"]


@pytest.mark.parametrize("version", [8, 9])
def test_versions_8_and_9_fetch_by_name(bench: Bench, version: int) -> None:
    commit(bench, {"t": {0: 7}})
    assert fetched(bench, topics={"t": [0]}, version=version) == {("t", 0): (7, -1, "", 0)}


def test_version_10_speaks_of_topic_ids(bench: Bench) -> None:
    topic, stranger = bench.create_topic("by-id"), Uuid(b"x" * 16)
    assert commit(bench, {topic: {0: 4, 9: 1}, stranger: {0: 1}}, version=10) == {
        (topic, 0): 0,
        (topic, 9): codes.UNKNOWN_TOPIC_OR_PARTITION,
        (stranger, 0): codes.UNKNOWN_TOPIC_ID,
    }
    assert fetched(bench, topics={topic: [0], stranger: [0]}, version=10) == {
        (topic, 0): (4, -1, "", 0),
        (stranger, 0): (-1, -1, "", codes.UNKNOWN_TOPIC_ID),
    }
    assert fetched(bench, version=10) == {(topic, 0): (4, -1, "", 0)}
    assert fetched(bench, topics={"by-id": [0]}) == {("by-id", 0): (4, -1, "", 0)}, "names do as well"


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


def test_a_topic_named_with_good_and_bad_partitions_is_answered_once(bench: Bench) -> None:
    answer = bench.ask(commit_request({"t": {5: 1, 0: 2}}), 9)
    assert [topic.name for topic in answer.topics] == ["t"]
    assert [(each.partition_index, each.error_code) for each in answer.topics[0].partitions] == [
        (5, codes.UNKNOWN_TOPIC_OR_PARTITION),
        (0, 0),
    ]


def test_without_any_known_topic_the_group_is_not_looked_at(bench: Bench) -> None:
    assert commit(bench, {"nowhere": {0: 1}}, generation=4, member="m") == {
        ("nowhere", 0): codes.UNKNOWN_TOPIC_OR_PARTITION
    }
    assert GROUP not in bench.shard().groups


@pytest.mark.parametrize(("note", "code"), [("x" * 4096, 0), ("x" * 4097, 12), ("\U0001f600" * 2048, 0)])
def test_metadata_has_a_greatest_length_in_java_characters(bench: Bench, note: str, code: int) -> None:
    assert commit(bench, {"t": {0: 1}}, note=note) == {("t", 0): code}
    assert commit(bench, {"t": {1: 1}}, note="") == {("t", 1): 0}, "one does not hold up the others"


def test_the_greatest_length_is_a_setting(bench: Bench) -> None:
    bench = Bench(offset_metadata_max_bytes=3)
    bench.create_topic("t")
    assert commit(bench, {"t": {0: 1}}, note="\U0001f600\U0001f600") == {("t", 0): codes.OFFSET_METADATA_TOO_LARGE}
    assert bench.group().is_empty, "Kafka creates the group all the same"


def test_an_unknown_group_comes_into_being_without_a_generation_only(bench: Bench) -> None:
    assert commit(bench, {"t": {0: 1}}, generation=0, version=9) == {("t", 0): codes.GROUP_ID_NOT_FOUND}
    assert commit(bench, {"t": {0: 1}}, generation=0, version=8) == {("t", 0): codes.ILLEGAL_GENERATION}
    assert commit(bench, {"t": {0: 1}}) == {("t", 0): 0}
    assert bench.group().protocol_type is None
    assert bench.group().is_empty


def test_a_group_may_have_an_empty_name_here(bench: Bench) -> None:
    assert commit(bench, {"t": {0: 1}}, "") == {("t", 0): 0}
    assert fetched(bench, "") == {("t", 0): (1, -1, "", 0)}


def test_which_members_may_commit_to_a_stable_group(bench: Bench) -> None:
    member = Member(bench)
    stabilise(member)
    cases: tuple[tuple[dict[str, Any], int], ...] = (
        ({"member": member.id, "generation": 1}, 0),
        ({"member": member.id, "generation": 0}, codes.ILLEGAL_GENERATION),
        ({"member": member.id, "generation": 2}, codes.ILLEGAL_GENERATION),
        ({"member": member.id, "generation": -1}, codes.ILLEGAL_GENERATION),
        ({"member": "stranger", "generation": 1}, codes.UNKNOWN_MEMBER_ID),
        ({}, codes.UNKNOWN_MEMBER_ID),
        ({"member": member.id, "generation": 1, "instance": "unknown"}, codes.UNKNOWN_MEMBER_ID),
    )
    for how, code in cases:
        assert commit(bench, {"t": {0: 1}}, **how) == {("t", 0): code}, how


def test_a_fenced_static_member_may_not_commit(bench: Bench) -> None:
    older = Member(bench, instance="i")
    stabilise(older)
    Member(bench, instance="i").send_join()
    found = commit(bench, {"t": {0: 1}}, member=older.id, generation=1, instance="i")
    assert found == {("t", 0): codes.FENCED_INSTANCE_ID}


def test_commits_during_a_rebalance(bench: Bench) -> None:
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
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
