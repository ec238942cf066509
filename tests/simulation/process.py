"""The process of a simulated machine, in one run: the replica, its log and its snapshots, and the
state that results from committed records.

The node around it knows no APIs: it passes requests, answers and time to the parts that run here.
Other parts of a server, such as a controller or a broker, join here: they receive committed
records, answer requests in `handle`, and run in `tick`.

Snapshots are written as a node writes them: after a number of committed bytes, a slice at a time
while everything else goes on, together with those of the second topic; then log and snapshots are
cleaned.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient, NotLeader
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.quorum_state_file import FileQuorumStateStore
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots import cleaner, triggers
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.service import FetchSnapshotService
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import Steps, write
from kafkadouble.server.raft.snapshots.triggers import SinceSnapshot
from kafkadouble.server.raft.snapshots.validation import create
from kafkadouble.server.requests.waiting import Wait

from .exchange import Request, features
from .machine import FOLDER
from .state_listener import StateListener
from .world import Broken

if TYPE_CHECKING:
    from .node import Node

LISTENER, CLUSTER = "CONTROLLER", "simulated"
SLICE = 4
"""Records of a snapshot that are written in one slice."""

CLEANED_EVERY = 700


class Process:
    """`replica` is the replica under test; `listener` gets its records; `store` and `keys` hold the
    snapshots of the two topics."""

    def __init__(self, node: Node) -> None:
        cluster, now = node.cluster, node.now
        self.shape, self._disk = cluster.shape, node.disk
        self.listener = StateListener(f"node {node.id}")
        log = open_log(
            node.disk,
            FOLDER,
            "__cluster_metadata",
            0,
            cluster.log_config,
            clean=False,
            recovery_point=0,
            log_start_offset=0,
            now=now,
        )
        self.store = FileSnapshotStore(node.disk, FOLDER, delete_delay=500)
        self.log = RaftLog(log, cluster.static, self.store, log)
        cleaner.forget_old(self.log, self.store, now)
        self.replica = KafkaRaftClient(
            cluster.settings_of(node.id),
            node.key,
            self.log,
            FileQuorumStateStore(node.disk, FOLDER),
            Random(node.world.random.getrandbits(32)),
            self.listener,
            cluster_id=CLUSTER,
            endpoints={LISTENER: node.at},
            bootstrap=[at for at in cluster.bootstrap if at != node.at],
            can_vote=node.id not in cluster.observers,
            snapshots=FetchSnapshotService(self.store, most=self.shape.response_bytes),
            now=now,
        )
        self._since = SinceSnapshot(0, now)
        self._steps: Steps | None = None  # the snapshot that is being written
        self._last = OffsetAndEpoch(0, 0)  # the last snapshot that was written, or is
        self.written: set[OffsetAndEpoch] = set()
        self._clean_at = now + CLEANED_EVERY

    def handle(self, request: Request, now: int) -> Message | Wait[Message]:
        """The answer, or the wait for it."""
        if request.api_key == ApiKeys.API_VERSIONS:
            return features(self.replica.kraft_versions)
        return self.replica.handle(request, now)

    def tick(self, now: int) -> None:
        self.replica.tick(now)

    def next_deadline(self) -> int | None:
        return self.replica.next_deadline()

    def append(self, values: list[bytes], now: int) -> OffsetAndEpoch | None:
        """Appends records of a client, which are acknowledged when the listener learns that they
        are committed; None where it does not lead."""
        led = isinstance(self.replica.state, LeaderState)
        try:
            placed = self.replica.append(values, now)
        except NotLeader:
            return None
        if not led:
            raise Broken(f"{self.replica!r} appends, and does not lead")
        # A sole voter has committed the record before the call returned.
        if self.listener.end.offset > placed.offset:
            self.listener.acknowledged.append((placed, values))
        else:
            self.listener.awaited[placed.offset] = placed.epoch, values
        return placed

    def end(self) -> None:
        """Kills the process: a snapshot that it was writing stays as it is."""
        self._disk.is_silent = True
        if self._steps is not None:
            self._steps.close()
        self._disk.is_silent = False

    def keep_house(self, now: int) -> None:
        """The background work of a node: a slice of a snapshot, or the beginning of one that is
        due; cleaning."""
        try:
            if self._steps is not None:
                try:
                    self._steps.send(now)
                except StopIteration:
                    self._steps = None
                    self.written.add(self._last)
            elif self._is_due(now):
                self._begin_snapshot(now)
            if now >= self._clean_at:
                self._clean_at = now + CLEANED_EVERY
                self._clean(now)
        except DiskFailure:  # the replica will notice, too
            self._steps = None

    def _is_due(self, now: int) -> bool:
        since = self._since._replace(bytes=self.listener.bytes - self._since.bytes)
        read_up_to = self.listener.end.offset
        return read_up_to > self._last.offset and bool(triggers.reason(self.shape.triggers, since, now, lambda: 1.0))

    def _begin_snapshot(self, now: int) -> None:
        id, self._since = self.listener.end, SinceSnapshot(self.listener.bytes, now)
        self._last = id
        part = create(self.log, self.store, id)
        if part is None:
            return
        voters, version = self.log.history.voters_at(id.offset), self.log.history.kraft_version_at(id.offset)
        head = SnapshotHeader(self.listener.timestamp, version, voters if version else None)
        records = iter(self.listener.state.records())
        self._steps = write(part, head, records, now, most=self.shape.snapshot_batch, records=SLICE)
        next(self._steps)

    def _clean(self, now: int) -> None:
        """The two ways of deletion. As shipped: every replica by itself, by size. As adopted: after
        the leader, up to the offset that all have reached."""
        log, retention = self.log, self.shape.retention
        if retention.max_lag_ms is None:
            cleaner.clean(log, self.store, retention, now)
        elif isinstance(self.replica.state, LeaderState):
            ends = [voter.end_offset for voter in self.replica.state.voters.values()]
            cleaner.advance_as_leader(log, self.store, ends, retention, now)
        elif self.replica.leader_log_start_offset is not None:
            cleaner.advance_as_follower(log, self.store, self.replica.leader_log_start_offset, now)
        self.store.tick(now)
