"""The snapshots that a node writes of its metadata, and how long it keeps them (KIP-630).

Rules. A snapshot is written a slice at a time between everything else, of the image at one moment, while the node goes on. Replicas decide each
for itself, as shipped: by bytes or by age. With `metadata.snapshot.min.changed_records.ratio`, and `metadata.start.offset.lag.time.max.ms`, the
rules of KIP-630 as it was adopted hold instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..log.files.errors import DiskFailure
from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.storage import Flush
from ..raft.leader import OBSERVER_SESSION_MS, Leader
from ..raft.messages import NOBODY
from ..raft.raft_log import BOOTSTRAP
from ..raft.snapshots import keeping, triggers
from ..raft.snapshots.metrics import Latencies, NodeState, SnapshotMetrics, readings
from ..raft.snapshots.retention import NAMES as RETENTION_NAMES
from ..raft.snapshots.retention import Retention
from ..raft.snapshots.triggers import Since, Triggers
from ..raft.snapshots.writing import Steps
from . import snapshots
from .features import METADATA_VERSION

if TYPE_CHECKING:
    from ..node import Node

log = logging.getLogger("kafkadouble.server.metadata")


class Snapshotting:
    """Those of one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._triggers = Triggers.of(_given(node, triggers.NAMES))
        self._retention = Retention.of(_given(node, RETENTION_NAMES))
        self._since = Since(0, node.began)
        self._steps: Steps | None = None
        self.metrics = SnapshotMetrics(node.began)

    def committed(self, size: int) -> None:
        """So many bytes of records were committed."""
        self._since = self._since.committed(size)
        if self._steps is None and self._since.bytes:
            why = triggers.reason(self._triggers, self._since, self._node.now, self._changed)
            if why is not None:
                self.write(why)

    def loaded(self, took: int) -> None:
        """A snapshot was loaded, which took so long (ms): what comes after it is counted from here on."""
        self.metrics.load(took)
        self._since = Since(0, self._node.now)

    def _changed(self) -> float:
        controller = self._node.controller
        return 1.0 if controller.changed is None else controller.changed.ratio(controller.image)

    def write(self, why: str) -> OffsetAndEpoch | None:
        """Begin a snapshot of what is committed; its id. None when there is one already, or a metadata transaction is open."""
        node, image = self._node, self._node.controller.image
        store, raft_log = node.quorum.snapshots, node.quorum.replica.log
        steps = snapshots.writing(node.controller.fold, image.end, raft_log, store, node.controller.timestamp, node.now)
        if steps is not None:
            self._steps, self._since = steps, Since(0, node.now)
            if node.controller.changed is not None:
                node.controller.changed.restart(image)
            log.info("writing the snapshot up to %r of the metadata: %s", image.end, why)
            self._go_on(image.end, node.now, node.now)
        return None if steps is None else image.end

    def _go_on(self, id: OffsetAndEpoch, began: int, now: int) -> None:
        """One slice; the next when others had their turn."""
        if self._steps is None:
            return
        try:
            flushing = self._steps.send(None if now == began else now)
        except StopIteration as end:
            self._steps = None
            self.metrics.wrote(end.value, now - began, now)
            log.info("the snapshot up to %r has %d bytes, written in %d ms", id, end.value, now - began)
        except DiskFailure as failure:  # the node tells of it
            self._steps = None
            log.warning("the snapshot up to %r was not written: %s", id, failure)
        else:
            if flushing is None:
                self._node.waiting.timers.at(now + 1, lambda later: self._go_on(id, began, later))
            else:
                self._node.flushing.want(_Beside(flushing, lambda: self._go_on(id, began, self._node.now)))

    def abandon(self) -> None:
        """Drop the snapshot that is being written, and its file: a later life of the node may write another."""
        steps, self._steps = self._steps, None
        if steps is not None:
            with suppress(DiskFailure):  # then the file is removed at the next start
                steps.close()

    def clean(self, now: int) -> None:
        """Delete what is no longer kept; to be called every now and then."""
        node = self._node
        replica, store = node.quorum.replica, node.quorum.snapshots
        try:
            if self._retention.max_lag_ms is None:
                keeping.clean(replica.log, store, self._retention, now)
            elif isinstance(replica.state, Leader):
                ends = _live_ends(replica.state, now)
                keeping.advance_as_leader(replica.log, store, ends, self._retention, now)
            elif replica.leaders_start is not None:
                keeping.advance_as_follower(replica.log, store, replica.leaders_start, now)
            store.tick(now)
        except DiskFailure as failure:  # the node tells of it
            log.warning("snapshots were not looked after: %s", failure)

    def readings(self) -> dict[str, int | Latencies]:
        """The metrics of snapshots, by Kafka's names and KIP-630's."""
        node, store = self._node, self._node.quorum.snapshots
        replica, image = node.quorum.replica, node.controller.image
        latest = next((id for id in reversed(store.ids()) if id != BOOTSTRAP), None)
        state = NodeState(
            max(node.now, node.stopwatch()),
            0 if latest is None else latest.offset,
            0 if latest is None else store.size(latest),
            replica.log.high_watermark,
            image.features.get(METADATA_VERSION, 0),
            NOBODY if replica.leader_id is None else replica.leader_id,
        )
        return readings(self.metrics, state)


def _live_ends(leader: Leader, now: int) -> list[int]:
    """How far the replicas have come that were heard of lately, and this one: observers too, for they go on from the log as well."""
    known = (*leader.voters.values(), *leader.observers.values())
    live = [each for each in known if each.key.id == leader.key.id or now - each.last_fetch < OBSERVER_SESSION_MS]
    return [each.end_offset for each in live if each.end_offset >= 0]


class _Beside:
    """The file of a snapshot, to be flushed beside the loop before it counts: it may be large."""

    log_end_offset = 0

    def __init__(self, flushing: Callable[[], None], done: Callable[[], None]) -> None:
        self._flushing, self._done = flushing, done

    @property
    def log(self) -> _Beside:
        return self

    def unflushed(self) -> Flush:
        return Flush(0, [self._flushing])

    def flushed(self, offset: int) -> None:
        self._done()

    def __repr__(self) -> str:
        return "a snapshot of the metadata"


def _given(node: Node, names: Any) -> dict[str, Any]:
    """What the settings say; options that nobody has set are left out."""
    values = {name: node.settings[name] for name in names}
    return {name: value for name, value in values.items() if value is not None}
