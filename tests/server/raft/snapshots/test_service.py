"""Replicas that hand snapshots to one another: the whole way, in their bytes, with stepped time."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.snapshots.validation import create
from tests.server.raft.asking import ask, code, elected, member
from tests.server.raft.quorum import CLUSTER, START, Quorum, directory, static_voters

from .making import ID, NOW, data, value, values

VOTERS = (1, 2, 3)


def a_quorum(**settings: Any) -> tuple[Quorum, dict[int, MemorySnapshotStore]]:
    quorum = Quorum((), **settings)
    stores = {id: MemorySnapshotStore() for id in VOTERS}
    for id, store in stores.items():
        quorum.add(id, static_voters(VOTERS), snapshot_ids=store, snapshots=FetchSnapshotService(store))
    return quorum, stores


def write(replica: KafkaRaftClient, store: MemorySnapshotStore, at: OffsetAndEpoch | None = None) -> OffsetAndEpoch:
    """A snapshot up to what is committed, or to `at`; the log begins there now."""
    log = replica.log
    id = at or OffsetAndEpoch(log.high_watermark, log.log.epochs.epoch_for(log.high_watermark - 1))
    part = create(log, store, id)
    assert part is not None
    write_at_once(part, SnapshotHeader(START, replica.kraft_version), values(40), NOW, most=400)
    log.move_start(id)
    return id


def behind(quorum: Quorum, stores: dict[int, MemorySnapshotStore]) -> tuple[KafkaRaftClient, int, OffsetAndEpoch]:
    """The leader, the id of a follower that was cut off before a snapshot was written, and the
    snapshot.
    """
    leader = quorum.elect()
    late = next(id for id in VOTERS if id != leader.key.id)
    quorum.write(b"before")
    quorum.isolate(late)
    for number in range(10):
        quorum.write(b"%d" % number)
    id = write(leader, stores[leader.key.id])
    quorum.write(b"after")
    return leader, late, id


def begin_download(quorum: Quorum, late: int) -> None:
    """Goes on until some pieces have come."""
    for _ in range(10_000):
        if len(sent(quorum, late, FetchSnapshotRequest)) > 3:
            return
        if not quorum.step():
            quorum.now += 50
            quorum.tick()
    raise AssertionError("nothing is downloaded")


def sent(quorum: Quorum, asker: int, kind: type) -> list[Any]:
    return [body for one, _, body in quorum.sent if one == asker and isinstance(body, kind)]


@pytest.mark.parametrize("chunk", [37, 1 << 20])
def test_a_follower_that_is_behind_takes_the_snapshot_and_goes_on_after_it(chunk: int) -> None:
    quorum, stores = a_quorum(fetch_snapshot_max_bytes=chunk)
    leader, late, id = behind(quorum, stores)
    stores[late].add(OffsetAndEpoch(1, 1), data(id=OffsetAndEpoch(1, 1)))
    whole = stores[leader.key.id].bytes_of(id)
    quorum.heal()
    quorum.run(30_000, until=lambda: quorum[late].log.end == leader.log.end)
    assert stores[late].bytes_of(id) == whole
    assert stores[late].ids() == [id], "an older one is gone"
    assert len(sent(quorum, late, FetchSnapshotRequest)) >= -(-len(whole) // chunk)
    assert {body.max_bytes for body in sent(quorum, late, FetchSnapshotRequest)} == {chunk}
    assert quorum[late].log.start_offset == id.offset
    quorum.write(b"later")
    listener = quorum.listener(late)
    assert [reader.id for reader in listener.snapshots] == [id], "the listener gets the snapshot, and once"
    assert listener.values[-2:] == [b"after", b"later"]
    assert min(offset for offset in listener.offsets if offset >= id.offset) == id.offset


def test_the_next_fetch_is_at_the_end_and_in_the_epoch_of_the_snapshot() -> None:
    quorum, stores = a_quorum()
    leader, late, id = behind(quorum, stores)
    quorum.heal()
    quorum.run(30_000, until=lambda: stores[late].ids() == [id])
    requested = [body for one, _, body in quorum.sent if one == late]
    last = max(at for at, body in enumerate(requested) if isinstance(body, FetchSnapshotRequest))
    first = next(body for body in requested[last:] if isinstance(body, FetchRequest)).topics[0].partitions[0]
    assert (first.fetch_offset, first.last_fetched_epoch) == (id.offset, id.epoch)
    assert isinstance(leader.state, LeaderState)


def test_a_new_voter_without_a_log_takes_it_though_the_log_still_begins_at_0() -> None:
    quorum, stores = a_quorum()
    leader = quorum.elect()
    quorum.write(b"x")
    log = leader.log
    id = OffsetAndEpoch(log.high_watermark, leader.epoch)
    part = create(log, stores[leader.key.id], id)
    assert part is not None
    write_at_once(part, SnapshotHeader(START), values(3), NOW)
    assert log.start_offset == 0
    store = MemorySnapshotStore()
    quorum.add(9, static_voters(VOTERS), snapshot_ids=store, snapshots=FetchSnapshotService(store))
    quorum.run(5000, until=lambda: store.ids() == [id])
    assert quorum[9].log.start_offset == id.offset


def test_a_snapshot_that_is_deleted_meanwhile_is_given_up_for_a_newer_one() -> None:
    quorum, stores = a_quorum(fetch_snapshot_max_bytes=37)
    leader, late, old = behind(quorum, stores)
    quorum.heal()
    begin_download(quorum, late)
    kept = stores[leader.key.id]
    new = write(leader, kept)
    kept.delete(old, quorum.now)
    quorum.run(30_000, until=lambda: quorum[late].log.end == leader.log.end)
    assert stores[late].ids() == [new], "what ends before the log begins is gone"
    assert [reader.id for reader in quorum.listener(late).snapshots] == [new]


def test_pieces_of_one_leader_are_not_joined_with_those_of_another() -> None:
    quorum, stores = a_quorum(fetch_snapshot_max_bytes=37)
    leader, late, id = behind(quorum, stores)
    other = next(each for each in VOTERS if each not in (leader.key.id, late))
    quorum.run(2000)
    write(quorum[other], stores[other], id)
    stores[other].delete(id, quorum.now)
    stores[other].add(id, data([value(7)] * 60, id, SnapshotHeader(START)))
    quorum.heal()
    begin_download(quorum, late)
    quorum.kill(leader.key.id)
    quorum.run(60_000, until=lambda: quorum[late].log.start_offset == id.offset)
    assert quorum.leader is not None
    assert quorum.leader.key.id == other
    assert stores[late].bytes_of(id) == stores[other].bytes_of(id)


def test_a_replica_that_is_started_again_in_the_middle_starts_again_with_it() -> None:
    quorum, stores = a_quorum(fetch_snapshot_max_bytes=37)
    leader, late, id = behind(quorum, stores)
    quorum.heal()
    begin_download(quorum, late)
    quorum.kill(late)
    quorum.members[late].extra["snapshots"] = FetchSnapshotService(stores[late])
    quorum.restart(late)
    quorum.sent.clear()
    quorum.run(30_000, until=lambda: quorum[late].log.end == leader.log.end)
    assert sent(quorum, late, FetchSnapshotRequest)[0].topics[0].partitions[0].position == 0
    assert stores[late].ids() == [id]


class Led:
    """A leader with a snapshot, and the time."""

    def __init__(self) -> None:
        self.store = MemorySnapshotStore()
        self.member = elected(member(1, snapshot_ids=self.store, snapshots=FetchSnapshotService(self.store)))
        self.replica = self.member.replica
        self.store.add(ID, data(values(9)))

    def ask(self, replica: int, position: int = 0, **fields: Any) -> FetchSnapshotResponse:
        of = FetchSnapshotRequest
        partition = of.PartitionSnapshot(
            current_leader_epoch=self.replica.epoch,
            snapshot_id=of.SnapshotId(end_offset=ID.offset, epoch=ID.epoch),
            position=position,
            replica_directory_id=directory(replica & 0x7F),
        )
        topic = of.TopicSnapshot(name="__cluster_metadata", partitions=[partition])
        arguments: dict[str, Any] = {"cluster_id": CLUSTER, "replica_id": replica, "topics": [topic], **fields}
        response: FetchSnapshotResponse = ask(self.member, of(**arguments), now=self.replica.now)
        return response


def leads(replica: KafkaRaftClient) -> bool:
    return isinstance(replica.state, LeaderState) and not replica.state.resigning


@pytest.mark.parametrize(
    ("asker", "position", "stays"),
    [(2, 0, True), (2, 1 << 40, False), (-1, 0, False), (7, 0, False), (None, 0, False)],
    ids=["a voter", "a voter that gets no bytes", "no replica", "an observer", "silence"],
)
def test_a_voter_that_fetches_a_snapshot_has_not_deserted_its_leader(
    asker: int | None, position: int, stays: bool
) -> None:
    led = Led()
    for _ in range(10):
        now = led.replica.now + 1000
        led.replica.tick(now)
        if asker is not None and leads(led.replica):
            led.ask(asker, position)
    assert leads(led.replica) == stays


@pytest.mark.parametrize("fields", [{"max_bytes": -1}, {"replica_id": 1}])
def test_snapshot_request_that_stops_kafka_is_an_error(fields: dict[str, Any]) -> None:
    led = Led()
    assert led.ask(2, **fields).error_code == e.INVALID_REQUEST
    assert code(led.ask(2)) == 0
    assert led.replica.failure is None


def test_a_leader_that_stops_answers_broker_not_available() -> None:
    led = Led()
    led.replica.shutdown_until = led.replica.now + 1000
    assert code(led.ask(2)) == e.BROKER_NOT_AVAILABLE
