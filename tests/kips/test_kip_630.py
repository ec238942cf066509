"""KIP-630, snapshots of the metadata log: each test is named for a statement of the adopted text,
or for a deviation from it.

Other parts of it have their tests in `tests/server/raft/snapshots`; docs/snapshots.md names the
test of each sentence.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages import registry
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.messages.generated.vote import VoteRequest
from kafkadouble.messages.message import Struct
from kafkadouble.server.log.formats.names import checkpoint_name
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.raft_log import FollowerPosition
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.snapshots.validation import create
from kafkadouble.wire.batch import iter_batches
from tests.server.harness import Harness
from tests.server.raft.asking import ask, elected, fetch, member, sole, vote
from tests.server.raft.quorum import Member
from tests.server.raft.snapshots.making import ID, NOW, data, values
from tests.server.topic_requests import creating, purging


def with_snapshot(*ids: OffsetAndEpoch) -> Member:
    """A voter that has these snapshots, and an empty log behind the last."""
    store = MemorySnapshotStore()
    for id in ids:
        store.add(id, data(id=id, head=SnapshotHeader(NOW)))
    return member(1, snapshot_ids=store, snapshots=FetchSnapshotService(store))


def led(*ids: OffsetAndEpoch) -> Member:
    return elected(with_snapshot(*ids))


def test_the_name_is_the_end_offset_and_the_epoch() -> None:
    """KIP-630 gives the epoch eighteen digits in its example; Kafka writes ten."""
    assert checkpoint_name(OffsetAndEpoch(5120793, 2)) == "00000000000005120793-0000000002.checkpoint"


def test_delete_records_of_the_metadata_log_is_refused() -> None:
    """The KIP says POLICY_VIOLATION; Kafka's brokers do not know the topic, and neither does this
    one."""
    response = Harness().submit(purging("__cluster_metadata", 0), 2)
    assert response.topics[0].partitions[0].error_code == e.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_cannot_have_the_policy_snapshot() -> None:
    response = Harness().submit(creating("t", configs={"cleanup.policy": "snapshot"}), 7)
    assert response.topics[0].error_code == e.INVALID_CONFIG


@pytest.mark.parametrize(
    ("last", "granted"),
    [((100, 3), True), ((101, 3), True), ((5, 4), True), ((99, 3), False), ((500, 2), False), ((0, 0), False)],
)
def test_the_latest_epoch_and_end_offset_of_a_replica_is_the_latest_snapshot_or_log(
    last: tuple[int, int], granted: bool
) -> None:
    voter = with_snapshot(ID)
    assert voter.replica.log.end == ID
    assert sole(ask(voter, vote(9, 2, last))).vote_granted == granted


def test_a_candidate_asks_for_votes_with_its_snapshot() -> None:
    candidate = with_snapshot(ID).replica
    sent: list[Any] = []
    for _ in range(5):
        candidate.tick(candidate.next_deadline() or 0)
        sent += [send.body for send in candidate.take_outgoing() if isinstance(send.body, VoteRequest)]
    partition = sent[0].topics[0].partitions[0]
    assert (partition.last_offset, partition.last_offset_epoch) == (ID.offset, ID.epoch)


@pytest.mark.parametrize(("offset", "epoch"), [(0, 0), (99, 3), (50, 1), (100, 2), (101, 2)])
def test_a_fetch_from_before_the_start_of_the_log_gets_the_latest_snapshot_id(offset: int, epoch: int) -> None:
    leader = led(ID)
    found = sole(ask(leader, fetch(2, offset, epoch, epoch=leader.replica.epoch)))
    assert (found.error_code, bytes(found.records)) == (0, b"")
    assert (found.snapshot_id.end_offset, found.snapshot_id.epoch) == (ID.offset, ID.epoch)


def test_the_snapshot_id_is_the_tagged_field_2_from_version_12_on() -> None:
    of = FetchResponse
    partition = of.PartitionData(records=b"", snapshot_id=of.SnapshotId(end_offset=0x1122334455667788, epoch=0x55AA))
    response = of(responses=[of.FetchableTopicResponse(topic="t", partitions=[partition])])
    for version in (12, 18):
        encoded = response.encode(version)
        assert bytes((2, 13)) + bytes.fromhex("1122334455667788 000055aa 00") in encoded


def test_from_the_end_of_the_snapshot_on_the_log_is_given() -> None:
    leader = led(ID)
    found = sole(ask(leader, fetch(2, ID.offset, ID.epoch, epoch=leader.replica.epoch)))
    assert (found.snapshot_id.end_offset, found.error_code) == (-1, 0)
    assert next(iter_batches(found.records))[1].base_offset == ID.offset


def test_requests_and_answers_name_the_cluster_and_the_leader() -> None:
    """Draft 19 had neither of them; and instead of the size it had a flag for more bytes."""
    assert {"cluster_id", "max_bytes"} <= set(FetchSnapshotRequest.__slots__)
    assert "current_leader_epoch" in FetchSnapshotRequest.PartitionSnapshot.__slots__
    assert {"_current_leader", "size", "position", "unaligned_records"} <= set(
        FetchSnapshotResponse.PartitionSnapshot.__slots__
    )


DRAFT_19 = {
    "FetchRequest": {"LogBeginOffset"},
    "FetchResponse": {"LogBeginOffset", "NextOffsetAndEpoch", "NextFetchOffset", "SnapshotOffsetAndEpoch"},
    "FetchSnapshotRequest": {"PartitionIndex", "SnapshotOffsetAndEpoch", "Offset", "OffsetEpoch"},
    "FetchSnapshotResponse": {"PartitionIndex", "Continue", "Bytes", "SnapshotOffsetAndEpoch"},
}
"""Fields of the draft that the adopted text renamed, replaced or removed."""


@pytest.mark.parametrize("name", DRAFT_19)
def test_no_message_has_a_field_of_draft_19(name: str) -> None:
    kinds: list[type[Struct]] = [registry.message(name)]
    for kind in kinds:
        kinds += [var for var in vars(kind).values() if isinstance(var, type) and issubclass(var, Struct)]
    fields = {line.split()[1] for kind in kinds for line in kind._fields.splitlines()}
    assert len(fields) > 8
    assert not fields & DRAFT_19[name]


def test_max_bytes_is_of_the_request_and_not_of_a_partition_as_in_draft_19() -> None:
    of = FetchSnapshotRequest
    partition = of.PartitionSnapshot(
        partition=0x01020304,
        current_leader_epoch=0x11121314,
        snapshot_id=of.SnapshotId(end_offset=0x2122232425262728, epoch=0x31323334),
        position=0x4142434445464748,
    )
    topic = of.TopicSnapshot(name="t", partitions=[partition])
    body = of(replica_id=0x51525354, max_bytes=0x61626364, topics=[topic]).encode(0)
    assert bytes(body) == bytes.fromhex(
        "51525354 61626364"  # ReplicaId, MaxBytes
        "02 0274 02"  # one topic, its name, one partition
        # Then no tags, at any level.
        "01020304 11121314 2122232425262728 31323334 00 4142434445464748 00"
        "00 00"
    )


def test_fetch_snapshot_response_has_the_size_and_no_continue_flag() -> None:
    leader = led(ID)
    of, whole = FetchSnapshotRequest, data(id=ID, head=SnapshotHeader(NOW))
    id = of.SnapshotId(end_offset=ID.offset, epoch=ID.epoch)
    partition = of.PartitionSnapshot(current_leader_epoch=leader.replica.epoch, snapshot_id=id, position=5)
    topic = of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])
    body = ask(leader, of(replica_id=2, max_bytes=3, topics=[topic]), 0).encode(0)
    name, epoch = b"__cluster_metadata", leader.replica.epoch
    assert (
        bytes(body)
        == b"".join(
            (
                bytes(4 + 2),  # ThrottleTimeMs, ErrorCode
                bytes((2, len(name) + 1)) + name + b"\2",
                bytes(4 + 2),  # Index, ErrorCode
                struct.pack(">qi", ID.offset, ID.epoch) + b"\0",
                struct.pack(">qq", len(whole), 5),  # Size, Position
                bytes((4,)) + whole[5:8],  # UnalignedRecords
                # CurrentLeader, tag 0: the only one.
                b"\1\0\x09" + struct.pack(">ii", 1, epoch) + b"\0",
                b"\0\0",
            )
        )
    )


def test_a_fetch_from_before_the_log_is_given_no_offset_to_go_on_at_as_in_draft_19() -> None:
    """In the draft, tag 0 was the next offset, and the snapshot. Now it is DivergingEpoch, and
    absent: the log waits for the snapshot."""
    leader = led(ID)
    response = ask(leader, fetch(2, 50, 1, epoch=leader.replica.epoch))
    leaders = struct.pack(">ii", 1, leader.replica.epoch) + b"\0"
    snapshot = struct.pack(">qi", ID.offset, ID.epoch) + b"\0"
    tags = b"\2" + b"\1\x09" + leaders + b"\2\x0d" + snapshot  # two tags, 1 and 2
    assert b"\1" + tags in bytes(response.encode(17)), "behind records that are empty"


def test_log_start_latest_snapshot_high_watermark_and_end_are_in_this_order() -> None:
    leader = led(ID)
    log = leader.replica.log
    assert log.latest_snapshot is not None
    assert log.start_offset <= log.latest_snapshot.offset <= log.high_watermark <= log.end_offset


def test_log_may_be_deleted_up_to_the_latest_snapshot() -> None:
    store = MemorySnapshotStore()
    voter = member(1, (1,), snapshot_ids=store, snapshots=FetchSnapshotService(store))
    replica = voter.replica
    replica.tick(replica.now)
    replica.append([b"a", b"b"], replica.now)
    replica.append([b"c"], replica.now)
    id = OffsetAndEpoch(replica.log.high_watermark, replica.epoch)
    part = create(replica.log, store, id)
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW), values(1), NOW)
    replica.log.move_start(id)
    assert (replica.log.start_offset, replica.log.end) == (id.offset, id)
    assert replica.log.validate(id.offset, id.epoch).position is FollowerPosition.VALID
    assert replica.log.validate(id.offset - 1, id.epoch).position is FollowerPosition.SNAPSHOT
    again = voter.start(replica.now)
    assert (again.log.start_offset, again.log.end) == (id.offset, id)
