"""A controller whose leader, or a process that speaks in the leader's name, sends false answers:
the controller appends nothing that does not continue its log, and takes nothing that is incomplete.
A committed record without meaning stops the node, with one sentence (KIP-595, KIP-630)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafkadouble.messages import error_codes, framed
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.messages.generated.kraft_version_record import KRaftVersionRecord
from kafkadouble.messages.generated.no_op_record import NoOpRecord
from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest
from kafkadouble.messages.generated.voters_record import VotersRecord
from kafkadouble.server.log.formats.names import checkpoint_name
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.wire.batch import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    Record,
    control_record,
    encode_batch,
)
from tests.server.controller.fooled import EPOCH, Fooled, fetched, piece
from tests.server.controller.metadata_changes import alter, code
from tests.server.controllers import Controllers, address
from tests.server.raft.asking import vote


def begin(leader: int, epoch: int, listeners: dict[str, tuple[str, int]]) -> BeginQuorumEpochRequest:
    of = BeginQuorumEpochRequest
    return of(
        cluster_id="a-cluster",
        topics=[of.TopicData(topic_name=TOPIC, partitions=[of.PartitionData(leader_id=leader, leader_epoch=epoch)])],
        leader_endpoints=[
            of.LeaderEndpoint(name=name, host=host, port=port) for name, (host, port) in listeners.items()
        ],
    )


def errors_of(answer: Any) -> tuple[int, int]:
    return answer.error_code, answer.topics[0].partitions[0].error_code


def test_a_leader_with_a_wrong_endpoint_is_found_again() -> None:
    """The false leader has the same epoch, and the other voters name it; also when the log names
    it, too."""
    controllers = Controllers(3)
    leader = controllers.elect()
    controllers.step(7000)  # the voters register
    update = UpdateFeaturesRequest.FeatureUpdateKey(feature="kraft.version", max_version_level=1)
    assert controllers.ask(leader, UpdateFeaturesRequest(feature_updates=[update], timeout_ms=1000), 2).error_code == 0
    misled, epoch = next(node for node in controllers.nodes.values() if node is not leader), leader.controller.epoch
    of = UpdateRaftVoterRequest
    moved = of(
        cluster_id="a-cluster",
        current_leader_epoch=epoch,
        voter_id=leader.id,
        voter_directory_id=leader.quorum.replica.key.directory_id,
        listeners=[of.Listener(name="CONTROLLER", host="nowhere", port=2)],
        kraft_version_feature=of.KRaftVersionFeature(max_supported_version=1),
    )
    assert controllers.ask(leader, moved, 0).error_code == 0
    controllers.elect()
    lie = begin(leader.id, epoch, {"A": ("nowhere", 1), "CONTROLLER": ("nowhere", 1)})
    lie.voter_id = misled.id
    assert errors_of(controllers.ask(misled, lie, 1)) == (0, 0)
    controllers.step(10_000)
    assert misled.quorum.replica.endpoint_of_leader() == address(leader.id)
    assert code(controllers.ask(leader, alter("log.retention.ms", "5"), 1)) == 0
    assert controllers.elect() is leader
    assert leader.controller.epoch == epoch


def test_batch_with_offset_gap_is_not_appended() -> None:
    fooled = Fooled()
    fooled.begin()
    before, end = fooled.kept, fooled.node.quorum.log.log_end_offset
    record = framed.encode_record(NoOpRecord(), 0)
    good = fooled.batch([record, record])
    for spoilt in spoilt_batches(fooled, good):
        fooled.answer(fetched(spoilt, 2**62))
        assert fooled.kept == before, spoilt.hex()
        assert fooled.node.halted is None
    requested = fooled.answer(fetched(good, 2**62))
    assert requested.topics[0].partitions[0].fetch_offset == end
    assert fooled.kept == (before[0], before[1] + good)


def spoilt_batches(fooled: Fooled, good: bytes) -> list[bytes]:
    first = fooled.node.quorum.log.log_end_offset
    record = framed.encode_record(NoOpRecord(), 0)

    def control(kind: int, value: bytes) -> bytes:
        found = [control_record(first, fooled.now, kind, value)]
        return bytes(encode_batch(found, base_offset=first, partition_leader_epoch=EPOCH, is_control=True))

    voters = VotersRecord().encode(0)
    return [
        *(good[:size] for size in (1, 12, 60, len(good) - 1)),
        *(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in range(len(good))),
        fooled.batch([record], epoch=EPOCH + 1),
        bytes(encode_batch([Record(first + 1, fooled.now, None, record)], base_offset=first + 1)),
        bytes(encode_batch([Record(0, fooled.now, None, record)], base_offset=0, partition_leader_epoch=EPOCH)),
        fooled.batch([record], epoch=0)[:-1],
        control(KRAFT_VERSION, KRaftVersionRecord(kraft_version=2).encode(0)),
        control(KRAFT_VERSION, b""),
        control(KRAFT_VOTERS, voters),
        control(KRAFT_VOTERS, b"\0\0\xff\xff"),
        good + good,
        bytes(5000),
        b"\xff" * 500,
    ]


def test_control_records_that_mean_nothing_in_a_log_are_passed_over() -> None:
    fooled = Fooled()
    fooled.begin()
    before = fooled.node.controller.image
    for kind in (SNAPSHOT_HEADER, SNAPSHOT_FOOTER, LEADER_CHANGE, 0, 1, 7, 99):
        first = fooled.node.quorum.log.log_end_offset
        record = [control_record(first, fooled.now, kind, b"\0")]
        fooled.give(bytes(encode_batch(record, base_offset=first, partition_leader_epoch=EPOCH, is_control=True)))
        assert fooled.node.quorum.log.log_end_offset == first + 1
    assert fooled.node.halted is None
    assert fooled.node.controller.image._replace(end=before.end) == before


LIES = {
    "cut before the log begins": fetched(diverging=OffsetAndEpoch(-1, EPOCH)),
    "cut at no epoch": fetched(diverging=OffsetAndEpoch(0, -5)),
    "a snapshot of no offset": fetched(snapshot=OffsetAndEpoch(-5, 7)),
    "a snapshot of no epoch": fetched(snapshot=OffsetAndEpoch(5000, -7)),
    "an unknown error": fetched(code=12345),
    "an error of the whole": FetchResponse(error_code=-1),
    "nothing": FetchResponse(),
    "a later epoch without a leader": fetched(
        leader=FetchResponse.LeaderIdAndEpoch(leader_id=-1, leader_epoch=2**31 - 1)
    ),
    "no such epoch": fetched(leader=FetchResponse.LeaderIdAndEpoch(leader_id=2, leader_epoch=-7)),
    "another leader of the same epoch": fetched(leader=FetchResponse.LeaderIdAndEpoch(leader_id=3, leader_epoch=EPOCH)),
    "oneself as leader": fetched(leader=FetchResponse.LeaderIdAndEpoch(leader_id=1, leader_epoch=EPOCH)),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_impossible_response_of_a_leader_changes_nothing(lie: FetchResponse) -> None:
    fooled = Fooled()
    fooled.begin()
    before, committed = fooled.kept, fooled.node.controller.image
    fooled.answer(lie)
    fooled.step(3000)
    assert fooled.kept == before
    assert fooled.node.controller.image is committed
    assert fooled.node.halted is None


SNAPSHOT = OffsetAndEpoch(500, EPOCH)


def snapshot(values: Sequence[bytes], epoch: int = EPOCH) -> bytes:
    store = MemorySnapshotStore()
    part = store.create(OffsetAndEpoch(500, epoch))
    assert part is not None
    write_at_once(part, SnapshotHeader(0), values, 0)
    reader = store.open(OffsetAndEpoch(500, epoch))
    assert reader is not None
    return reader.read(0, reader.size)


GOOD = snapshot([framed.encode_record(FeatureLevelRecord(name="metadata.version", feature_level=20), 0)])
OTHER = OffsetAndEpoch(501, EPOCH)
BAD_PIECES = {
    "an error": piece(SNAPSHOT, len(GOOD), 0, b"", code=98),
    "another id": piece(OTHER, len(GOOD), 0, GOOD),
    "another position": piece(SNAPSHOT, len(GOOD), 5, GOOD[5:]),
    "no bytes": piece(SNAPSHOT, len(GOOD), 0, b""),
    "no size": piece(SNAPSHOT, 0, 0, b""),
    "less than no size": piece(SNAPSHOT, -5, 0, GOOD),
    "more bytes than the size": piece(SNAPSHOT, len(GOOD) - 1, 0, GOOD),
    "cut": piece(SNAPSHOT, len(GOOD) - 1, 0, GOOD[:-1]),
    "no footer": piece(SNAPSHOT, len(GOOD) - 78, 0, GOOD[:-78]),
    "bytes behind the footer": piece(SNAPSHOT, len(GOOD) + 1, 0, GOOD + b"\0"),
    "another epoch inside": piece(SNAPSHOT, len(GOOD), 0, snapshot([], 4) + bytes(len(GOOD) - len(snapshot([], 4)))),
    "bad bytes": piece(SNAPSHOT, len(GOOD), 0, GOOD[:100] + bytes([GOOD[100] ^ 4]) + GOOD[101:]),
    "nothing": FetchSnapshotResponse(),
    "an error of the whole": FetchSnapshotResponse(error_code=-1),
}


@pytest.mark.parametrize("bad", BAD_PIECES.values(), ids=BAD_PIECES)
def test_a_snapshot_that_is_not_whole_is_not_taken(bad: FetchSnapshotResponse) -> None:
    """Also when the second piece is the bad one. A good snapshot is taken afterwards."""
    fooled = Fooled()
    fooled.begin()
    before = fooled.kept
    half = len(GOOD) // 2
    for begun in (False, True):
        fooled.answer(fetched(snapshot=SNAPSHOT))
        if begun:
            fooled.answer(piece(SNAPSHOT, len(GOOD), 0, GOOD[:half]))
        fooled.answer(bad)
        assert fooled.kept == before
        assert not fooled.node.quorum.snapshots.ids()
        assert fooled.node.halted is None
    fooled.answer(fetched(snapshot=SNAPSHOT))
    requested = fooled.answer(piece(SNAPSHOT, len(GOOD), 0, GOOD))
    assert requested.topics[0].partitions[0].position == 0
    assert fooled.kept == (500, b"")
    assert fooled.node.controller.image.end == SNAPSHOT
    assert dict(fooled.node.controller.image.features) == {"metadata.version": 20}


def test_a_snapshot_without_meaning_is_the_end_and_is_named() -> None:
    fooled = Fooled()
    fooled.begin()
    before = fooled.node.controller.image
    lost = framed.encode_record(RemoveTopicRecord(), 0)
    for value, why in ((lost, "a topic that does not exist"), (b"\1\x63\0", "no metadata record has the type 99")):
        fooled = Fooled()
        fooled.begin()
        data = snapshot([value])
        fooled.answer(fetched(snapshot=SNAPSHOT))
        fooled.answer(piece(SNAPSHOT, len(data), 0, data))
        assert fooled.node.halted is not None
        assert fooled.node.halted.startswith(checkpoint_name(SNAPSHOT))
        assert why in fooled.node.halted
        assert fooled.node.controller.image._replace(end=before.end) == before


TAKEN_BACK = {
    "a cut of what is committed": fetched(diverging=OffsetAndEpoch(0, 0)),
    "a snapshot of before what is committed": fetched(snapshot=OffsetAndEpoch(1, EPOCH)),
}


@pytest.mark.parametrize("lie", TAKEN_BACK.values(), ids=TAKEN_BACK)
def test_a_leader_that_takes_back_what_was_committed_is_the_end_and_nothing_is_cut(lie: FetchResponse) -> None:
    """One of the two controllers has lost what it promised. As in Apache Kafka, a person has to
    look at it; the controller grants no more votes."""
    fooled = Fooled()
    fooled.begin()
    before = fooled.kept
    fooled.answer(lie)
    assert fooled.node.halted is not None
    assert "cannot go on" in fooled.node.halted
    assert fooled.kept == before
    fooled.step(10_000)
    assert (fooled.kept, fooled.requested) == (before, [])
    voted = fooled.ask(fooled.node, vote(EPOCH + 1, 3, (1000, EPOCH), cluster="a-cluster"), 2)
    assert voted.error_code == error_codes.BROKER_NOT_AVAILABLE
