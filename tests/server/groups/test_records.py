"""The records of `__consumer_offsets`, byte by byte as Kafka 4.4 writes them.

A client that consumes the topic reads the same.
"""

from __future__ import annotations

import struct

from kafkadouble.messages import coordinator
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from kafkadouble.wire.batch import decode_all
from kafkadouble.wire.record import Record
from tests.server.groups.asking import commit, delete_groups
from tests.server.groups.bench import DELAY, START, Bench, Member, gathered, stabilise


def written(bench: Bench) -> list[Record]:
    partition = bench.node.partitions.get(CONSUMER_OFFSETS, 0)
    assert partition is not None
    return decode_all(partition.log.read(0, 1 << 20).records)


def text(value: str | None) -> bytes:
    return struct.pack(">h", -1) if value is None else struct.pack(">h", len(value)) + value.encode()


def blob(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def test_a_committed_offset(bench: Bench) -> None:
    topic = bench.create_topic("t", 4)
    commit(bench, {"t": {3: 17}}, epoch=2, note="hi")
    (record,) = written(bench)
    assert record.key == struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 3)
    assert record.value == (
        struct.pack(">hqi", 4, 17, 2) + b"\x03hi" + struct.pack(">q", START) + b"\x01\x00\x10" + bytes(topic)
    )
    assert record.timestamp == START


def test_an_offset_with_a_time_of_its_own_is_version_1(bench: Bench) -> None:
    bench.create_topic("t")
    commit(bench, {"t": {0: 17}}, version=4, note="hi", retention=5000)
    (record,) = written(bench)
    assert record.value == struct.pack(">hq", 1, 17) + text("hi") + struct.pack(">qq", START, START + 5000)


def group_value(
    generation: int, protocol: str | None, leader: str | None, since: int, members: bytes = b"", count: int = 0
) -> bytes:
    head = struct.pack(">h", 3) + text("consumer" if generation else "") + struct.pack(">i", generation)
    return head + text(protocol) + text(leader) + struct.pack(">qi", since, count) + members


def test_the_life_of_a_group(bench: Bench) -> None:
    member = Member(bench, "app", instance="box", session=10_000, rebalance=60_000, protocols=[("range", b"meta")])
    stabilise(member)
    member.leave()
    delete_groups(bench, "g")
    new, stable, empty, gone = written(bench)
    key = struct.pack(">h", 2) + text("g")
    assert [record.key for record in (new, stable, empty, gone)] == [key] * 4
    assert new.value == group_value(0, None, None, START)
    person = text(member.id) + text("box") + text("app") + text("/127.0.0.1") + struct.pack(">ii", 60_000, 10_000)
    person += blob(b"meta") + blob(b"app")
    assert stable.value == group_value(1, "range", member.id, START + DELAY, person, 1)
    assert empty.value == group_value(2, None, None, START + DELAY)
    assert gone.value is None


def test_group_record_is_written_after_the_leader_assigned(bench: Bench) -> None:
    leader, follower = gathered(bench)
    assert len(written(bench)) == 1
    follower.sync()
    assert len(written(bench)) == 1
    leader.sync({})
    assert len(written(bench)) == 2


def test_a_deletion_is_one_batch_of_tombstones(bench: Bench) -> None:
    bench.create_topic("t", 2)
    commit(bench, {"t": {0: 1, 1: 2}})
    delete_groups(bench, "g")
    keys = [coordinator.decode_key(record.key or b"", "group_coordinator") for record in written(bench)[2:]]
    assert [type(key).__name__ for key in keys] == ["OffsetCommitKey", "OffsetCommitKey", "GroupMetadataKey"]
    assert all(record.value is None for record in written(bench)[2:])


def test_every_record_can_be_read_back(bench: Bench) -> None:
    bench.create_topic("t", 2)
    stabilise(Member(bench, "a"), Member(bench, "b", instance="i"))
    commit(bench, {"t": {0: 1, 1: 2}}, "other", note="n")
    for record in written(bench):
        key = coordinator.decode_key(record.key or b"", "group_coordinator")
        assert record.value is not None
        value, version = coordinator.decode_value(record.value, key)
        assert value.encode(version) == record.value[2:]


def test_the_topic_id_of_a_version_10_commit_is_kept(bench: Bench) -> None:
    topic = bench.create_topic("t")
    commit(bench, {topic: {0: 1}}, version=10)
    (record,) = written(bench)
    key = coordinator.decode_key(record.key or b"", "group_coordinator")
    value, _ = coordinator.decode_value(record.value or b"", key)
    assert Uuid(value.topic_id) == topic  # type: ignore[attr-defined]  # the class of an offset's value
