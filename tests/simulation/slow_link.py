"""A quorum of three, of which one begins with an empty log and is reached over a slow link of so
many bits per second.

A request that times out breaks its connection, as in Apache Kafka: its bytes in flight are lost,
and the link is free. The two others reach each other without delay. Messages are not encoded; only
their length counts.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.quorum_state import MemoryQuorumStateStore
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.request_manager import OutboundRequest
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.server.raft.voters import VoterSet
from kafkadouble.server.requests.waiting import Waiting
from tests.server.log.files.lossy_disk import LossyDisk

from .exchange import Request, refuse
from .machine import FOLDER
from .world import Event, World

VOTERS, LATE = (1, 2), 3
OVERHEAD = 200
"""Bytes of a message in addition to its records."""

DELAY = 5
"""Delay (ms) of every bit, in addition to the time it takes to send them all."""

Response = Message | None


def _bytes_in(message: Message) -> int:
    if isinstance(message, FetchResponse):
        return OVERHEAD + sum(len(p.records or b"") for topic in message.responses for p in topic.partitions)
    if isinstance(message, FetchSnapshotResponse):
        return OVERHEAD + sum(len(p.unaligned_records or b"") for topic in message.topics for p in topic.partitions)
    return OVERHEAD


class Wire:
    """One direction between two nodes; `rate` in bits per second, None for no bound."""

    def __init__(self, world: World, rate: int | None) -> None:
        self._world, self._rate = world, rate
        self._free_at = 0
        self._under_way: list[Event] = []

    def send(self, message: Message, deliver: Callable[[], None]) -> None:
        now = self._world.now
        takes = 0 if self._rate is None else -(-_bytes_in(message) * 8000 // self._rate)
        self._free_at = max(now, self._free_at) + takes
        self._under_way = [event for event in self._under_way if event.action is not None]
        self._under_way.append(self._world.after(self._free_at - now + DELAY, deliver))

    def break_off(self) -> None:
        """Drops everything in flight."""
        for event in self._under_way:
            event.cancel()
        self._under_way, self._free_at = [], 0


class Member:
    """A replica in memory, and the code around it."""

    def __init__(self, slow: SlowLink, id: int, settings: QuorumSettings) -> None:
        self._slow, self.id = slow, id
        self.snapshots, self.waiting = MemorySnapshotStore(), Waiting()
        log = open_log(
            LossyDisk(),
            FOLDER,
            "__cluster_metadata",
            0,
            LogConfig({"retention.ms": -1}),
            clean=True,
            recovery_point=0,
            log_start_offset=0,
            now=slow.world.now,
        )
        voters = VoterSet.from_static(",".join(f"{each}@node-{each}:9093" for each in (*VOTERS, LATE)))
        self.replica = KafkaRaftClient(
            settings,
            ReplicaKey(id, Uuid(bytes([id]) * 16)),
            RaftLog(log, voters, self.snapshots),
            MemoryQuorumStateStore(),
            Random(id),
            cluster_id="slow",
            snapshots=FetchSnapshotService(self.snapshots),
            now=slow.world.now,
        )
        self.parts: list[str] = []  # the states it has had, in order

    def did(self) -> None:
        """The work at the end of every step."""
        now = self._slow.world.now
        self.waiting.run(now)
        part = type(self.replica.state).__name__
        if not self.parts or self.parts[-1] != part:
            self.parts.append(part)
        for send in self.replica.take_outgoing():
            self._slow.post(self, send)
        due = [self.replica.next_deadline(), self.waiting.timers.next_deadline()]
        self._slow.wake(self, min(at for at in (*due, now + 1000) if at is not None))

    def tick(self) -> None:
        self.replica.tick(self._slow.world.now)
        self.did()

    def serve(self, request: Request, reply: Callable[[Message], None]) -> None:
        found = self.replica.handle(request, self._slow.world.now)
        if isinstance(found, Message):
            reply(found)
        else:
            self.waiting.start(found, reply, refuse)
        self.did()

    def answered(self, token: int, response: Message) -> None:
        self.replica.answered(token, response, self._slow.world.now)
        self.did()


class SlowLink:
    """`caps` are the bytes that the late node requests at once, of the log and of snapshots. The
    two others are in order, and one leads."""

    def __init__(self, rate: int, caps: int) -> None:
        self.world, self._rate = World(1), rate
        self._wires: dict[tuple[int, int, int], Wire] = {}
        self._ticks: dict[int, Event] = {}
        self._settings = QuorumSettings(fetch_max_bytes=caps, fetch_snapshot_max_bytes=caps)
        self.members: dict[int, Member] = {}
        for id in VOTERS:
            self.start(id)
        self.world.run_until(lambda: self._leader() is not None, 60_000)

    def start(self, id: int) -> Member:
        member = self.members[id] = Member(self, id, self._settings)
        member.tick()
        return member

    def _leader(self) -> Member | None:
        return next((member for member in self.members.values() if isinstance(member.replica.state, LeaderState)), None)

    @property
    def leader(self) -> Member:
        member = self._leader()
        assert member is not None
        return member

    def write_snapshot(self, size: int, record: int) -> OffsetAndEpoch:
        """The leader has a snapshot of so many bytes, in records of that size, and its log begins
        there."""
        self.append(10)
        log, store = self.leader.replica.log, self.leader.snapshots
        id = OffsetAndEpoch(log.high_watermark, log.last_epoch)
        part = store.create(id)
        assert part is not None
        write_at_once(
            part, SnapshotHeader(self.world.now), (bytes(record) for _ in range(size // record)), self.world.now
        )
        log.move_start(id)
        return id

    def append(self, *sizes: int) -> None:
        """Appends batches of these sizes, and waits until they are committed."""
        for size in sizes:
            self.leader.replica.append([bytes(size)], self.world.now)
        self.leader.did()
        log = self.leader.replica.log
        self.world.run_until(lambda: log.high_watermark == log.end_offset, 60_000)

    def wake(self, member: Member, at: int) -> None:
        if member.id in self._ticks:
            self._ticks[member.id].cancel()
        self._ticks[member.id] = self.world.after(max(0, at - self.world.now), member.tick)

    def _wire(self, connection: tuple[int, int], to: int) -> Wire:
        rate = self._rate if LATE in connection else None
        return self._wires.setdefault((*connection, to), Wire(self.world, rate))

    def post(self, member: Member, send: OutboundRequest) -> None:
        """Sends over the connection from this node to that one. There is one request at a time: the
        one before has been given up."""
        to = self.members.get(send.to.id)
        if to is None:
            return
        there, back = (self._wire((member.id, to.id), end) for end in (to.id, member.id))
        there.break_off()
        back.break_off()
        request: Any = Request(send.body.api_key or 0, send.version, send.body)

        def reply(response: Message) -> None:
            back.send(response, lambda: member.answered(send.token, response))

        there.send(send.body, lambda: to.serve(request, reply))
