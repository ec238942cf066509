"""Appends changes to the metadata log, and publishes what is committed.

A change is a list of records in one batch of the log, so it is applied completely or not at all. It
is computed on `draft`, which includes every earlier change, and answered when it is committed; then
the listeners get the images before and after it. Only records in the log change an image. The
changes themselves are computed in files of their own, one per API or task (KIP-500, KIP-631).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import WireError

from ..log.files.errors import DiskFailure
from ..log.log import AppendRefused, PartitionLog
from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.storage import Slice
from ..metadata.broken_log import BrokenLog
from ..metadata.image import BROKER, Image
from ..metadata.metadata_loader import ImageChange, MetadataLoader, UncommittedBatch
from ..metadata.replay import MetadataDelta
from ..raft.kafka_raft_client import NotLeader
from ..requests.request import Refusal
from ..requests.slices import in_one_step
from ..requests.waiting import Until, Wait, Waiters
from .active_controller import ActiveController
from .prepared_change import PreparedChange, prepared

if TYPE_CHECKING:
    from ..metadata.changed_records import ChangedRecords
    from ..raft.snapshots.snapshot_reader import RecordsSnapshotReader
    from .host import ControllerHost

R = TypeVar("R")

ImageListener = Callable[[Image, Image, Any], None]
"""Called with the image before, the image after, and the records between them; None if the image
was loaded from a snapshot.
"""

FLUSHED_BEFORE_COMMIT = ("PartitionChangeRecord", "ProducerIdsRecord")
"""Records with leader epochs and producer ids. A power loss must not undo them once they were used:
the same values would be given out again.
"""


class MetadataWriter(ABC):
    """The committed image and, while the node leads the quorum, the changes that it appends.

    Listens to the quorum's replica (see `raft.listener`). Call `begin` first.
    """

    def __init__(self, node: ControllerHost) -> None:
        self._node = node
        self.listeners: list[ImageListener] = []
        self._active: ActiveController | None = None
        # the epoch in which this node becomes active, once the replica's call is over
        self._elected: int | None = None
        self._unpublished: deque[ImageChange] = deque()
        self._publishing = False
        self.uncounted_bytes = 0  # committed bytes that the snapshot generator has not counted yet
        self.commit_waiters = Waiters()  # requests that wait for their commit; counts offsets
        self._woken_offset = 0  # the waiters up to this offset are woken

    def begin(self) -> None:
        """Reads the log and the snapshot. WireError, BadFile or BrokenLog if they cannot be
        understood.
        """
        self._committed = MetadataLoader(
            self.log, self._node.quorum.snapshots, self._node.stopwatch, self._changed_records()
        )

    def _changed_records(self) -> ChangedRecords | None:
        """Counted only if KIP-630's ratio is set: most nodes do not need it."""
        if self._node.settings["metadata.snapshot.min.changed_records.ratio"] is None:
            return None
        from ..metadata.changed_records import ChangedRecords

        return ChangedRecords()

    @property
    def changed(self) -> ChangedRecords | None:
        """The records that changed since the last snapshot; None if they are not counted."""
        return self._committed.changed

    @property
    def log(self) -> PartitionLog:
        return self._node.quorum.log

    @property
    def image(self) -> Image:
        """The committed image."""
        return self._committed.delta.image

    @property
    def timestamp(self) -> int:
        """When the last committed record was appended (ms)."""
        return self._committed.timestamp

    @property
    def delta(self) -> MetadataDelta:
        """The committed image with an open transaction, if there is one."""
        return self._committed.delta

    @property
    def epoch(self) -> int:
        """The epoch of the quorum, as far as this node knows it."""
        return self._node.quorum.replica.epoch

    @property
    def leads(self) -> bool:
        """Whether this node is the active controller."""
        return self._active is not None

    @property
    def active(self) -> ActiveController:
        """The state of the active controller. Refusal(NOT_CONTROLLER) on every other node."""
        if self._active is None:
            raise Refusal(error_codes.NOT_CONTROLLER, "The active controller is another node.")
        return self._active

    @property
    def draft(self) -> Image:
        """The image with every change, committed or not: the base of the next change.
        Refusal(NOT_CONTROLLER).
        """
        return self.active.image

    def write(self, records: Sequence[Message], response: R) -> R | Wait[R]:
        """Appends a change and returns `response`, at once or when it is committed.
        Refusal(NOT_CONTROLLER), also if another node becomes active before the commit;
        (RECORD_LIST_TOO_LARGE).
        """
        active = self.active
        self.commit(records)
        end = active.image.end.offset
        return response if self.image.end.offset >= end else self._when_committed(active, end, response)

    def written(self, change: PreparedChange, response: R) -> Wait[R]:
        """`write` for a change of the draft, as the steps of a handler."""
        self.commit_prepared(change)
        active, end = self.active, self.active.image.end.offset
        return response if self.image.end.offset >= end else (yield from self._when_committed(active, end, response))

    def _when_committed(self, active: ActiveController, end: int, response: R) -> Wait[R]:
        while self.active is active:
            left = end - self.image.end.offset
            if left <= 0:
                return response
            yield Until(None, [self.commit_waiters], lacking=left)
        raise Refusal(error_codes.NOT_CONTROLLER, "Another controller was elected meanwhile.")

    def commit(self, records: Sequence[Message]) -> None:
        """Appends a change and publishes what is committed by that. Refusal(NOT_CONTROLLER)."""
        if records:
            self.commit_prepared(in_one_step(prepared(self.active.image, records)))

    def commit_prepared(self, change: PreparedChange) -> None:
        """`commit` for a change of the draft."""
        active = self.active
        if change.records:
            self._append(active, change)
            self.publish_committed()

    def _append(self, active: ActiveController, change: PreparedChange) -> None:
        before, (after, records, values) = active.image, change
        end = self.log.log_end_offset + len(records)
        after = after._replace(end=OffsetAndEpoch(end, active.epoch))
        decided = UncommittedBatch(after, records)
        active.pending.append(decided)
        active.image = after
        flush = any(type(record).__name__ in FLUSHED_BEFORE_COMMIT for record in records)
        try:
            self._node.quorum.append(values, flush=flush)
        except (NotLeader, AppendRefused) as problem:
            if isinstance(problem.__cause__, DiskFailure):
                raise problem.__cause__ from problem
            if decided in active.pending:
                active.pending.remove(decided)
                active.image = before
            code = problem.code if isinstance(problem, AppendRefused) else error_codes.NOT_CONTROLLER
            raise Refusal(code, str(problem)) from problem

    def committed(self, batches: Slice) -> None:
        """The replica reports committed batches. They are published after the replica's call is
        over.
        """
        self.uncounted_bytes += len(batches.records)
        pending = deque[UncommittedBatch]() if self._active is None else self._active.pending
        if self._node.halted is None:
            before = self.image
            try:
                self._unpublished += self._committed.handle_commit(batches.records, pending)
            except (WireError, BrokenLog) as problem:
                self._node.halted = f"the metadata log, from offset {batches.offset} on: {problem}"
            self._apply_dynamic_configs(before)

    def snapshot_loaded(self, reader: RecordsSnapshotReader) -> None:
        """The replica continues from a snapshot."""
        with reader:
            before = self.image
            try:
                change = self._committed.handle_load_snapshot(reader.id)
            except (WireError, BrokenLog) as problem:
                self._node.halted = str(problem)
                return
            self.uncounted_bytes = 0  # those bytes are part of the snapshot
            self._node.snapshot_generator.loaded(self._committed.load_ms)
            if change is not None:
                self._unpublished.append(change)
                self._apply_dynamic_configs(before)

    def became_leader(self, epoch: int) -> None:
        self._elected = epoch

    def lost_leadership(self, epoch: int) -> None:
        self._active = self._elected = None
        own = self.image.brokers.get(self._node.id)
        if self._node.lifecycle is not None and self._node.is_registered and own is not None:
            self._node.lifecycle.continue_registered(own.epoch)
        self.commit_waiters.wake_all()

    def _apply_dynamic_configs(self, before: Image) -> None:
        """Applies dynamic configurations of this broker before the image is published (KIP-226)."""
        resources = [(BROKER, ""), (BROKER, str(self._node.id))]
        if any(before.config_overrides(*of) != self.image.config_overrides(*of) for of in resources):
            cluster, own = (self.image.config_overrides(*of) for of in resources)
            self._node.settings = self._node.settings.altered(cluster, own)

    @property
    def has_unpublished(self) -> bool:
        """Whether `publish_committed` has anything to do."""
        return bool(self._unpublished) or self._elected is not None

    def publish_committed(self) -> None:
        """Publishes what was committed, one change at a time, even if a listener commits another
        change; then a newly elected node becomes the active controller.
        """
        if self._publishing:
            return
        self._publishing = True
        try:
            while self.has_unpublished:
                if self._unpublished:
                    change = self._unpublished.popleft()
                    for listener in list(self.listeners):
                        listener(*change)
                else:
                    self._become_active()
        finally:
            self._publishing = False
            # Only the requests whose change is committed: there may be many.
            end = self.image.end.offset
            moved, self._woken_offset = end - self._woken_offset, end
            if moved > 0 and self.commit_waiters.tasks:
                self.commit_waiters.wake(moved)
        if self.uncounted_bytes >= self._node.snapshots_from:
            self.report_committed_bytes()

    def report_committed_bytes(self) -> None:
        """Reports the committed bytes to the snapshot generator."""
        size, self.uncounted_bytes = self.uncounted_bytes, 0
        self._node.snapshot_generator.committed(size)

    @abstractmethod
    def _become_active(self) -> None:
        """This node was elected: it becomes the active controller."""

    def is_current(self, active: ActiveController) -> bool:
        """Whether `active` is still the state of this controller."""
        return self._active is active

    def new_id(self) -> Uuid:
        """A uuid for a topic, an incarnation or a directory."""
        return Uuid.random(self._node.random.randbytes)

    def __repr__(self) -> str:
        return f"controller in epoch {self.epoch}, {self.image!r}"
