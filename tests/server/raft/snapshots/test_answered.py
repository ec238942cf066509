"""A follower that is offered a snapshot, and every answer that it may get to its FetchSnapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.raft_log import DivergedLog
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.store import SnapshotStore
from tests.server.raft.asking import ask, begin, member
from tests.server.raft.quorum import Member

from .making import ID, data, values


class Following:
    """A follower of 2 in epoch 4 that is offered a snapshot, and the answers that a test makes."""

    def __init__(self, offered: OffsetAndEpoch = ID, store: SnapshotStore | None = None) -> None:
        self.store = store or MemorySnapshotStore()
        settings = QuorumSettings(append_linger_ms=0, fetch_snapshot_max_bytes=100)
        self.member: Member = member(
            1, settings=settings, snapshot_ids=self.store, snapshots=FetchSnapshotService(self.store)
        )
        self.replica = self.member.replica
        ask(self.member, begin(2, 4))
        self.offer(offered)

    def offer(self, id: OffsetAndEpoch) -> None:
        """Answers its Fetch with a SnapshotId."""
        (send,) = self.replica.take_outgoing()
        assert isinstance(send.body, FetchRequest)
        self.replica.answered(send.token, fetch_response(id), self.replica.now)

    def next(self) -> Any:
        """What it asks for next, when it may."""
        while not (out := self.replica.take_outgoing()):
            self.replica.tick(self.replica.next_deadline() or 0)
        (send,) = out
        return send

    def next_piece(self) -> int:
        """From where on it asks for the next piece; whatever it asks before is lost."""
        while not isinstance((send := self.next()).body, FetchSnapshotRequest):
            self.replica.answered(send.token, None, self.replica.now)
        position: int = send.body.topics[0].partitions[0].position
        return position

    def answer(self, **fields: Any) -> Any:
        """Answers its FetchSnapshot; what it asks for then."""
        send = self.next()
        assert isinstance(send.body, FetchSnapshotRequest)
        self.replica.answered(send.token, piece(**fields), self.replica.now)
        return self.next().body


def fetch_response(id: OffsetAndEpoch) -> Any:
    of = FetchResponse
    partition = of.PartitionData(
        high_watermark=-1,
        current_leader=of.LeaderIdAndEpoch(leader_id=2, leader_epoch=4),
        snapshot_id=of.SnapshotId(end_offset=id.offset, epoch=id.epoch),
        records=b"",
    )
    topic = of.FetchableTopicResponse(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[partition])
    return of(responses=[topic])


WHOLE = data(values(9))


def piece(top: int = 0, leader: int = 2, epoch: int = 4, id: OffsetAndEpoch = ID, **fields: Any) -> Any:
    of = FetchSnapshotResponse
    if top:
        return of(error_code=top)
    given: dict[str, Any] = {
        "current_leader": of.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
        "snapshot_id": of.SnapshotId(end_offset=id.offset, epoch=id.epoch),
        "size": len(WHOLE),
        "unaligned_records": WHOLE[:100],
    }
    partition = of.PartitionSnapshot(**given | fields)
    return of(topics=[of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])])


def test_fetch_snapshot_requests_the_next_position() -> None:
    follower = Following()
    first = follower.next()
    assert first.body.topics[0].partitions[0].position == 0
    follower.replica.answered(first.token, piece(), follower.replica.now)
    assert follower.answer(position=100, unaligned_records=WHOLE[100:150]).topics[0].partitions[0].position == 150


def test_lost_fetch_snapshot_response_is_requested_again() -> None:
    follower = Following()
    follower.replica.answered(follower.next().token, piece(), follower.replica.now)
    follower.replica.answered(follower.next().token, None, follower.replica.now)
    assert follower.next_piece() == 100


@pytest.mark.parametrize(
    "fields",
    [
        {"top": e.UNKNOWN_SERVER_ERROR},  # what Kafka 4.3 answers for any error of the partition
        {"top": e.INVALID_REQUEST},
        {"error_code": e.SNAPSHOT_NOT_FOUND, "unaligned_records": b""},
        {"error_code": e.POSITION_OUT_OF_RANGE, "unaligned_records": b""},
        {"id": OffsetAndEpoch(-1, -1)},
        {"id": OffsetAndEpoch(100, 4)},
        {"position": 5},
        {"unaligned_records": b""},
        {"size": 50},
        {"size": 100},  # and 100 bytes of it, which are no whole snapshot
    ],
)
def test_bad_fetch_snapshot_response_restarts_the_fetch(fields: dict[str, Any]) -> None:
    follower = Following()
    body = follower.answer(**fields)
    assert isinstance(body, FetchRequest)
    assert follower.store.ids() == []
    assert isinstance(follower.replica.state, FollowerState)
    assert follower.replica.state.fetching_snapshot is None
    assert follower.replica.failure is None


def test_a_newer_epoch_in_an_answer_ends_it() -> None:
    follower = Following()
    send = follower.next()
    follower.replica.answered(send.token, piece(leader=3, epoch=5), follower.replica.now)
    assert (follower.replica.epoch, follower.replica.leader_id) == (5, 3)
    assert isinstance(follower.next().body, FetchRequest)
    assert follower.store.ids() == []


def test_a_newer_epoch_without_a_leader_ends_it_too() -> None:
    follower = Following()
    follower.replica.answered(follower.next().token, piece(leader=-1, epoch=5), follower.replica.now)
    assert (follower.replica.epoch, follower.replica.leader_id) == (5, None)


def test_an_answer_of_an_older_epoch_is_ignored() -> None:
    follower = Following()
    follower.replica.answered(follower.next().token, piece(leader=3, epoch=3), follower.replica.now)
    assert (follower.replica.epoch, follower.replica.leader_id) == (4, 2)
    assert follower.next_piece() == 0


def test_fetch_snapshot_response_after_following_is_dropped() -> None:
    follower = Following()
    send = follower.next()
    while isinstance(follower.replica.state, FollowerState):
        follower.replica.tick(follower.replica.next_deadline() or 0)
    assert isinstance(follower.replica.state, ProspectiveState)
    follower.replica.answered(send.token, piece(size=len(WHOLE), unaligned_records=WHOLE), follower.replica.now)
    assert isinstance(follower.replica.state, ProspectiveState)
    assert follower.store.ids() == []


def test_the_last_piece_moves_the_log_and_what_is_committed() -> None:
    follower = Following()
    body = follower.answer(unaligned_records=WHOLE)
    assert isinstance(body, FetchRequest)
    log = follower.replica.log
    assert (log.start_offset, log.end, log.high_watermark) == (ID.offset, ID, ID.offset)
    assert [reader.id for reader in follower.member.listener.snapshots] == [ID]


@pytest.mark.parametrize("id", [OffsetAndEpoch(-1, 3), OffsetAndEpoch(5, -1)])
def test_a_snapshot_with_a_negative_part_is_not_fetched(id: OffsetAndEpoch) -> None:
    follower = Following(id)
    assert isinstance(follower.next().body, FetchRequest)
    assert follower.replica.failure is None


def test_a_snapshot_that_the_log_is_ahead_of_contradicts_what_is_committed() -> None:
    follower = Following()
    follower.replica.answered(follower.next().token, piece(unaligned_records=WHOLE), follower.replica.now)
    follower.offer(OffsetAndEpoch(50, 3))
    assert isinstance(follower.replica.failure, DivergedLog)


def test_ended_snapshot_fetch_leaves_no_file(tmp_path: Path) -> None:
    disk = RealDisk(str(tmp_path))
    disk.make_folder("log")
    follower = Following(store=FileSnapshotStore(disk, "log"))
    follower.replica.answered(follower.next().token, piece(), follower.replica.now)
    assert len(disk.names("log")) == 1
    follower.replica.answered(follower.next().token, piece(leader=3, epoch=5), follower.replica.now)
    assert disk.names("log") == []
