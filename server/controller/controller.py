"""The controller of a node: the image of what is committed; and, while its replica leads the quorum, the decisions that go into the log.

Rules. A decision is a list of records; it is one batch of the log, so that it holds as a whole or not at all. It is made on `draft`, where
everything decided before is in, and answered when it is committed; then it is shown to those who listen, with the image before and the image
after. Nothing changes an image but a record in the log. What is to be decided stands in files of its own (creation, deletion, growth,
alteration), which make records (KIP-500, KIP-631).
"""

from __future__ import annotations

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
from ..metadata.features import METADATA_VERSION
from ..metadata.image import BROKER, Image, TopicImage
from ..metadata.metadata_loader import Change, Committed, Decided
from ..metadata.metadata_log import values_of_records
from ..metadata.replay import Fold
from ..metadata.versions import batch_level, said
from ..raft.replica import NotLeader
from ..requests.request import Refusal
from ..requests.waiting import Until, Wait, Waiters
from . import bootstrap, broker_unfenced, periodic_tasks, self_registration
from .active_controller import ActiveController
from .producer_id_manager import ProducerIdManager

if TYPE_CHECKING:
    from ..metadata.changed_records import ChangedRecords
    from ..node import Node
    from ..raft.snapshots.reading import SnapshotReader

R = TypeVar("R")

ImageListener = Callable[[Image, Image, Any], None]
"""Called with the image before, the image after, and the records that lie between them; None when the image was loaded as a whole."""

FLUSHED_BEFORE_COMMIT = ("PartitionChangeRecord", "ProducerIdsRecord")
"""What a loss of power must not take back once somebody has seen it: leader epochs and producer ids would be given to others again."""


class Controller:
    """Listens to the quorum's replica (see `raft.listener`). `begin` before anything else."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.listeners: list[ImageListener] = []
        self._active: ActiveController | None = None
        self._elected: int | None = None  # an epoch in which this node is to lead, as soon as the replica has done
        self._unpublished: deque[Change] = deque()
        self._publishing = False
        self.fresh = 0  # bytes of records committed, of which those who write snapshots do not know
        self.committing = Waiters()  # who waits for his decision to be committed; counts offsets
        self._woken_offset = 0  # those up to there
        self.producer_ids = ProducerIdManager(node, self)

    def begin(self) -> None:
        """Read what is there. WireError, BadFile or BrokenLog when it cannot be understood."""
        self._committed = Committed(
            self.log, self._node.quorum.snapshots, self._node.stopwatch, self._changed_records()
        )

    def _changed_records(self) -> ChangedRecords | None:
        """Counted only where the ratio of KIP-630 is set: most nodes do not need it."""
        if self._node.settings["metadata.snapshot.min.changed_records.ratio"] is None:
            return None
        from ..metadata.changed_records import ChangedRecords

        return ChangedRecords()

    @property
    def changed(self) -> ChangedRecords | None:
        """The records that changed since the last snapshot; None where they are not counted."""
        return self._committed.changed

    @property
    def log(self) -> PartitionLog:
        return self._node.quorum.log

    @property
    def image(self) -> Image:
        """What is committed."""
        return self._committed.image

    @property
    def timestamp(self) -> int:
        """When the last committed record was appended (ms)."""
        return self._committed.timestamp

    @property
    def fold(self) -> Fold:
        """The fold of what is committed, which knows of an open transaction."""
        return self._committed.fold

    @property
    def epoch(self) -> int:
        """The quorum's, as this node knows it."""
        return self._node.quorum.replica.epoch

    @property
    def leads(self) -> bool:
        """Whether decisions are made here."""
        return self._active is not None

    @property
    def active(self) -> ActiveController:
        """What only the leader knows. Refusal(NOT_CONTROLLER) when this node does not lead."""
        if self._active is None:
            raise Refusal(error_codes.NOT_CONTROLLER, "The active controller is another node.")
        return self._active

    @property
    def draft(self) -> Image:
        """Everything that was decided, committed or not: what the next decision is made on. Refusal(NOT_CONTROLLER)."""
        return self.active.image

    def write(self, records: Sequence[Message], response: R) -> R | Wait[R]:
        """Append a decision; its answer, at once or when it is committed. Refusal(NOT_CONTROLLER), also when another leads before that;
        (RECORD_LIST_TOO_LARGE)."""
        active = self.active
        self.commit(records)
        end = active.image.end.offset
        return response if self.image.end.offset >= end else self._when_committed(active, end, response)

    def _when_committed(self, active: ActiveController, end: int, response: R) -> Wait[R]:
        while self.active is active:
            left = end - self.image.end.offset
            if left <= 0:
                return response
            yield Until(None, [self.committing], lacking=left)
        raise Refusal(error_codes.NOT_CONTROLLER, "Another controller was elected meanwhile.")

    def commit(self, records: Sequence[Message]) -> None:
        """Append a decision, and show what is committed by that. Refusal(NOT_CONTROLLER)."""
        if records:
            self._append(records)
            self.proceed()

    def _append(self, records: Sequence[Message]) -> None:
        active = self.active
        before, fold = active.image, Fold(active.image)
        level = batch_level(records, before.features.get(METADATA_VERSION))
        records = said(records, level)
        if not records:
            return  # nothing that can be said at this level
        for record in records:
            fold.apply(record)
        end = self.log.log_end_offset + len(records)
        after = fold.image._replace(end=OffsetAndEpoch(end, active.epoch))
        decided = Decided(after, records)
        values = values_of_records(records, level)
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
        """The replica tells what is committed; it is shown when the replica has done."""
        self.fresh += len(batches.records)
        pending = deque[Decided]() if self._active is None else self._active.pending
        if self._node.halted is None:
            before = self.image
            try:
                self._unpublished += self._committed.follow(batches.records, pending)
            except (WireError, BrokenLog) as problem:
                self._node.halted = f"the metadata log, from offset {batches.offset} on: {problem}"
            self._apply_dynamic_configs(before)

    def snapshot_loaded(self, reader: SnapshotReader) -> None:
        """The replica has come to a snapshot."""
        with reader:
            before = self.image
            try:
                change = self._committed.load(reader.id)
            except (WireError, BrokenLog) as problem:
                self._node.halted = str(problem)
                return
            self.fresh = 0  # those bytes lie before its end
            self._node.snapshotting.loaded(self._committed.load_ms)
            if change is not None:
                self._unpublished.append(change)
                self._apply_dynamic_configs(before)

    def became_leader(self, epoch: int) -> None:
        self._elected = epoch

    def lost_leadership(self, epoch: int) -> None:
        self._active = self._elected = None
        own = self.image.brokers.get(self._node.id)
        if self._node.life is not None and self._node.is_registered and own is not None:
            self._node.life.go_on(own.epoch)
        self.committing.wake_all()

    def _apply_dynamic_configs(self, before: Image) -> None:
        """Dynamic configurations of this broker take effect before anybody sees the image (KIP-226)."""
        resources = [(BROKER, ""), (BROKER, str(self._node.id))]
        if any(before.config_overrides(*of) != self.image.config_overrides(*of) for of in resources):
            cluster, own = (self.image.config_overrides(*of) for of in resources)
            self._node.settings = self._node.settings.altered(cluster, own)

    @property
    def has_news(self) -> bool:
        """Whether there is something to `proceed` with."""
        return bool(self._unpublished) or self._elected is not None

    def proceed(self) -> None:
        """Whatever was committed is shown to all, every change before the next, also when one who sees it commits another; and a leader that
        was just elected begins."""
        if self._publishing:
            return
        self._publishing = True
        try:
            while self.has_news:
                if self._unpublished:
                    change = self._unpublished.popleft()
                    for listener in list(self.listeners):
                        listener(*change)
                else:
                    self._become_active()
        finally:
            self._publishing = False
            self._wake_committed()
        if self.fresh >= self._node.snapshots_from:
            self.count_fresh()

    def _wake_committed(self) -> None:
        """Those whose decision is committed, and no others: there may be many."""
        end = self.image.end.offset
        moved, self._woken_offset = end - self._woken_offset, end
        if moved > 0 and self.committing.tasks:
            self.committing.wake(moved)

    def count_fresh(self) -> None:
        """Tell those who write snapshots."""
        fresh, self.fresh = self.fresh, 0
        self._node.snapshotting.committed(fresh)

    def _become_active(self) -> None:
        """Lead: a new cluster is given what it begins with, and this node registers."""
        node, epoch = self._node, self._elected
        assert epoch is not None
        self._elected, self._active = None, ActiveController(node, epoch, self.image)
        if self.fold.in_transaction:
            try:
                self._abort_transaction()
            except BrokenLog as problem:
                node.halted = str(problem)
                return
        if not self.image.features:
            self.commit(
                bootstrap.cluster_records(
                    node.logs.bootstrap, node.roles, str(node.settings.int("min.insync.replicas"))
                )
            )
        self_registration.register_node(node)
        periodic_tasks.start_periodic_tasks(node, self._active)

    def _abort_transaction(self) -> None:
        """What the last leader left half done never was (KIP-868)."""
        from ..metadata.metadata_transactions import left_open

        records, active = left_open(self.fold), self.active
        level = batch_level(records, active.image.features.get(METADATA_VERSION))
        self._node.quorum.append(values_of_records(records, level), flush=False)

    def is_current(self, active: ActiveController) -> bool:
        """Whether this is still what it was."""
        return self._active is active

    def directory_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None:
        """A log directory of this node has failed: what lay in it has no leader (KIP-858)."""
        broker = self.image.brokers.get(self._node.id)
        if broker is None or not self.leads:
            return
        self.commit(
            broker_unfenced.own_directory_failed(self.draft, broker.id, self._node.settings, directory, partitions)
        )

    def partitions_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None:
        """Files of these partitions of this node are gone: they go on without it. The directory in which they lie is as it was."""
        broker = self.image.brokers.get(self._node.id)
        if broker is not None and self.leads:
            lost = broker_unfenced.own_partition_files_lost(
                self.draft, broker.id, self._node.settings, directory, partitions
            )
            self.commit(lost)

    def new_id(self) -> Uuid:
        """A uuid for a topic, an incarnation or a directory."""
        return Uuid.random(self._node.random.randbytes)

    def create_internal_topic(self, name: str) -> TopicImage:
        """The topic in which a coordinator keeps its state, made now if need be. Refusal when it cannot be made, or is not there yet."""
        found = self.image.topic_named(name)
        if found is None:
            from .auto_topic_creation_manager import (
                auto_create_internal_topic,
            )  # most nodes create no topic before somebody asks

            found = auto_create_internal_topic(self._node, name)
        return found

    def __repr__(self) -> str:
        return f"controller in epoch {self.epoch}, {self.image!r}"
