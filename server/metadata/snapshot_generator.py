"""Generates the snapshots of a node's metadata, and deletes old ones (KIP-630).

A snapshot is written from the image at one moment, one slice at a time between other work. Each
replica decides for itself when: by bytes or by age, as Kafka ships it. With
`metadata.snapshot.min.changed_records.ratio` and `metadata.start.offset.lag.time.max.ms` the rules
of KIP-630 as adopted apply instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.storage import Flush
from ..raft.leader_state import OBSERVER_SESSION_MS, LeaderState
from ..raft.messages import NO_LEADER_ID
from ..raft.raft_log import BOOTSTRAP
from ..raft.snapshots import cleaner, triggers
from ..raft.snapshots.metrics import LatencyStats, MetadataState, SnapshotMetrics, readings
from ..raft.snapshots.retention import NAMES as RETENTION_NAMES
from ..raft.snapshots.retention import SnapshotRetention
from ..raft.snapshots.snapshot_writer import Steps
from ..raft.snapshots.triggers import SinceSnapshot, SnapshotTriggers
from . import image_snapshots
from .features import METADATA_VERSION

if TYPE_CHECKING:
    from ..configs.settings import Settings
    from ..raft.kafka_raft_client import KafkaRaftClient
    from ..raft.snapshots.store import SnapshotStore
    from ..requests.timers import Timers
    from .changed_records import ChangedRecords
    from .image import Image
    from .replay import MetadataDelta

log = ClientLog("kafkadouble.server.metadata")


class CommittedMetadata(Protocol):
    """The metadata to write. `changed` is None if changed records are not counted."""

    @property
    def image(self) -> Image: ...

    @property
    def delta(self) -> MetadataDelta: ...

    @property
    def timestamp(self) -> int: ...

    @property
    def changed(self) -> ChangedRecords | None: ...


class TimerQueue(Protocol):
    """Calls functions at a time (ms)."""

    @property
    def timers(self) -> Timers: ...


class SnapshotFlushQueue(Protocol):
    """Flushes files on another thread."""

    def want(self, owner: SnapshotFlush) -> None: ...


class SnapshotHost(Protocol):
    """The parts of a node that the generator uses. Times are in ms. `now` is the time of the step,
    which may have begun long before; durations are measured by `stopwatch`.
    """

    @property
    def now(self) -> int: ...

    @property
    def began(self) -> int: ...

    def stopwatch(self) -> int: ...

    @property
    def waiting(self) -> TimerQueue: ...

    @property
    def flushing(self) -> SnapshotFlushQueue: ...


class SnapshotGenerator:
    """Generates and deletes the snapshots of one node."""

    def __init__(
        self,
        host: SnapshotHost,
        settings: Settings,
        metadata: CommittedMetadata,
        replica: KafkaRaftClient,
        store: SnapshotStore,
    ) -> None:
        self._host, self._metadata, self._replica, self._store = host, metadata, replica, store
        self._triggers = SnapshotTriggers.of(_given_settings(settings, triggers.NAMES))
        self._retention = SnapshotRetention.of(_given_settings(settings, RETENTION_NAMES))
        self._since = SinceSnapshot(0, host.began)
        self._steps: Steps | None = None
        self.metrics = SnapshotMetrics(host.began)

    def committed(self, size: int) -> None:
        """Counts `size` committed bytes, and starts a snapshot if one is due."""
        self._since = self._since.committed(size)
        if self._steps is None and self._since.bytes:
            why = triggers.reason(self._triggers, self._since, self._host.now, self._changed)
            if why is not None:
                self.write(why)

    def loaded(self, took: int) -> None:
        """A snapshot was loaded in `took` ms: the counts start again."""
        self.metrics.load(took)
        self._since = SinceSnapshot(0, self._host.now)

    def _changed(self) -> float:
        changed = self._metadata.changed
        return 1.0 if changed is None else changed.ratio(self._metadata.image)

    def write(self, why: str) -> OffsetAndEpoch | None:
        """Starts a snapshot of the committed metadata; its id. None if that snapshot exists, or a
        metadata transaction is open.
        """
        metadata, now, image = self._metadata, self._host.now, self._metadata.image
        steps = image_snapshots.start_writing(
            metadata.delta, image.end, self._replica.log, self._store, metadata.timestamp, now
        )
        if steps is not None:
            self._steps, self._since = steps, SinceSnapshot(0, now)
            if metadata.changed is not None:
                metadata.changed.restart(image)
            log.info("writing the snapshot up to %r of the metadata: %s", image.end, why)
            self._write_slice(image.end, self._host.stopwatch(), None)
        return None if steps is None else image.end

    def _write_slice(self, id: OffsetAndEpoch, began: int, now: int | None) -> None:
        """Writes one slice, the first if `now` is None; a timer starts the next one after other
        work. `began` is a time of the stopwatch.
        """
        if self._steps is None:
            return
        try:
            flushing = self._steps.send(now)
        except StopIteration as end:
            self._steps = None
            took = self._host.stopwatch() - began
            self.metrics.wrote(end.value, took, self._host.now)
            log.info("the snapshot up to %r has %d bytes, written in %d ms", id, end.value, took)
        except DiskFailure as failure:  # the node reports it
            self._steps = None
            log.warning("the snapshot up to %r was not written: %s", id, failure)
        else:
            if flushing is None:
                self._host.waiting.timers.at(self._host.now + 1, lambda later: self._write_slice(id, began, later))
            else:
                flush = SnapshotFlush(flushing, lambda: self._write_slice(id, began, self._host.now))
                self._host.flushing.want(flush)

    def abandon(self) -> None:
        """Drops the snapshot in progress, and its file."""
        steps, self._steps = self._steps, None
        if steps is not None:
            with suppress(DiskFailure):  # then the file is removed at the next start
                steps.close()

    def clean(self, now: int) -> None:
        """Deletes expired snapshots and the log before them; to be called periodically."""
        replica, store = self._replica, self._store
        try:
            if self._retention.max_lag_ms is None:
                cleaner.clean(replica.log, store, self._retention, now)
            elif isinstance(replica.state, LeaderState):
                ends = _live_end_offsets(replica.state, now)
                cleaner.advance_as_leader(replica.log, store, ends, self._retention, now)
            elif replica.leader_log_start_offset is not None:
                cleaner.advance_as_follower(replica.log, store, replica.leader_log_start_offset, now)
            store.tick(now)
        except DiskFailure as failure:  # the node reports it
            log.warning("old snapshots were not deleted: %s", failure)

    def readings(self) -> dict[str, int | LatencyStats]:
        """The metrics of snapshots, by the names of Kafka and KIP-630."""
        replica, store, image = self._replica, self._store, self._metadata.image
        latest = next((id for id in reversed(store.ids()) if id != BOOTSTRAP), None)
        state = MetadataState(
            max(self._host.now, self._host.stopwatch()),
            0 if latest is None else latest.offset,
            0 if latest is None else store.size(latest),
            replica.log.high_watermark,
            image.features.get(METADATA_VERSION, 0),
            NO_LEADER_ID if replica.leader_id is None else replica.leader_id,
        )
        return readings(self.metrics, state)


def _live_end_offsets(leader: LeaderState, now: int) -> list[int]:
    """The log end offsets of this replica and of the replicas with a recent fetch. Observers count
    too, since they also continue from the log.
    """
    known = (*leader.voters.values(), *leader.observers.values())
    live = [each for each in known if each.key.id == leader.key.id or now - each.last_fetch < OBSERVER_SESSION_MS]
    return [each.end_offset for each in live if each.end_offset >= 0]


class SnapshotFlush:
    """Flushes the file of a snapshot on another thread before the snapshot counts: it may be
    large.
    """

    log_end_offset = 0

    def __init__(self, flushing: Callable[[], None], done: Callable[[], None]) -> None:
        self._flushing, self._done = flushing, done

    @property
    def log(self) -> SnapshotFlush:
        return self

    def unflushed(self) -> Flush:
        return Flush(0, [self._flushing])

    def flushed(self, offset: int) -> None:
        self._done()

    def __repr__(self) -> str:
        return "a snapshot of the metadata"


def _given_settings(settings: Settings, names: Iterable[str]) -> dict[str, Any]:
    """The settings with these names that have a value."""
    values = {name: settings[name] for name in names}
    return {name: value for name, value in values.items() if value is not None}
