"""Recovers a log after an unclean stop: every batch above the recovery point is checked, and
indexes, leader epochs and producers are rebuilt from the batches.

As in Kafka, the log is truncated before the first batch that is not good, and everything after it
is deleted, also later segments. So is a batch below the recovery point, although it was flushed,
and an unclean stop cannot cause the damage. Only in the metadata log it is BadFile: what was
decided must not be undone. A recovery point beyond the end of the log is not trusted: then all of
the log is checked. (Also as in Kafka: if a loss of power took whole batches from the end of a
segment, and left the next segment, the gap looks like one that compaction left.)

The leader epochs and the producers are those of the batches, whatever their files say: see
`RecoveredEpochs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.wire.batch import BatchHeader, read_header
from kafkadouble.wire.client_log import ClientLog

from ..epochs import LeaderEpochCache
from ..formats.errors import BadFile
from ..formats.names import LEADER_EPOCH, LOG, TXN_INDEX
from ..formats.segment import walk
from ..offset_and_epoch import NO_EPOCH
from ..producer_state_manager import ProducerStateManager
from ..refusals import LogRefused
from ..storage import ANY_TIMESTAMP
from ..transactions import AbortedTransaction
from .segment import FileSegment
from .storage import FileStorage

Batches = Iterator[tuple[int, BatchHeader]]

_LOGGER = ClientLog("kafkadouble.server.log")


def recover(
    storage: FileStorage,
    recovery_point: int,
    log_start_offset: int,
    epochs: LeaderEpochCache,
    *,
    has_gaps: bool,
    may_truncate: bool = True,
) -> ProducerStateManager:
    """Recovers the segments from the one that holds `recovery_point` on, and brings `epochs` in
    line with their batches. Returns the producers at the end. BadFile unless it `may_truncate` what
    was flushed."""
    first = storage.first_past(recovery_point)
    kept = 0 if may_truncate else recovery_point
    state = _recover_from(storage, first, recovery_point, log_start_offset, epochs, has_gaps, kept)
    end = storage.segments[-1].next_offset
    if first and end < recovery_point:
        _LOGGER.warning("the recovery point %d is beyond the end, %d: all of the log is checked", recovery_point, end)
        state = _recover_from(storage, 0, 0, log_start_offset, epochs, has_gaps, 0)
    _end_cleaned_transactions(storage, state)
    for segment in storage.segments[:-1]:
        segment.finish()
    return state


def _end_cleaned_transactions(storage: FileStorage, state: ProducerStateManager) -> None:
    """A snapshot of the producers may have a transaction open that ended after it. Compaction keeps
    the batches of a transaction that is open, and removes its marker only after all of them: if
    the first batch is missing, the transaction has ended."""
    for producer in state.producers:
        first = producer.transaction_start
        if first >= storage.segments[0].base_offset and not _begins_batch(storage, first):
            state.forget_transaction(producer)


def _begins_batch(storage: FileStorage, offset: int) -> bool:
    holder = [segment for segment in storage.segments if segment.base_offset <= offset][-1]
    batch = next(holder.batches(offset, ANY_TIMESTAMP), None)
    return batch is not None and read_header(batch).base_offset == offset


def _recover_from(
    storage: FileStorage,
    first: int,
    recovery_point: int,
    log_start_offset: int,
    epochs: LeaderEpochCache,
    has_gaps: bool,
    kept: int,
) -> ProducerStateManager:
    """Recovers the segments from number `first` on. BadFile if a batch below `kept` is bad."""
    begin, recovered = storage.segments[first].base_offset, RecoveredEpochs(epochs, recovery_point)
    storage.distrust_snapshots_after(begin)
    state = state_at(storage, begin, log_start_offset)
    for number, segment in enumerate(storage.segments[first:], first):
        storage.take_producer_snapshot(segment.base_offset, state.producers)
        problem = _recover_segment(storage, segment, recovered, state)
        if problem is not None and segment.next_offset < kept:
            raise problem
        if problem is None and not has_gaps:
            problem = _hole_after(storage, number, recovery_point, log_start_offset)
        if problem is None:
            continue
        dropped = len(storage.segments) - number - 1
        more = f", and {dropped} later segments are deleted" if dropped else ""
        _LOGGER.warning("%s: the log is truncated there, at offset %d%s", problem, segment.next_offset, more)
        storage.drop_newest(dropped)
        segment.cut()
        break
    return state


def _hole_after(storage: FileStorage, number: int, recovery_point: int, log_start_offset: int) -> BadFile | None:
    """Whole batches may be missing at the end of a segment that was not flushed, though the next
    segment is there. Apart from compaction nothing else leaves a gap at that place, because no
    segment begins after a gap. Gaps below the log start offset do not count."""
    segment, following = storage.segments[number], storage.segments[number + 1 : number + 2]
    if not following or segment.next_offset < recovery_point:
        return None
    due, begins = segment.next_offset, following[0].base_offset
    if max(due, log_start_offset) >= begins:
        return None
    return BadFile(f"the offsets from {due} to {begins - 1} are missing", file=segment.path(LOG), offset=segment.size)


def _recover_segment(
    storage: FileStorage, segment: FileSegment, recovered: RecoveredEpochs, state: ProducerStateManager
) -> BadFile | None:
    """Checks every batch, and rebuilds what follows from the batches. Returns the problem of the
    first bad batch; it and all batches after it are no longer part of the segment, though they are
    still in the file."""
    aborted: list[AbortedTransaction] = []
    problem = None
    limit = segment.limit
    segment.begin_recovery(storage.most_index_bytes)
    view = segment.log.view()
    try:
        for position, header in _believable(walk(view, segment.base_offset, 0, segment.path(LOG)), segment.base_offset):
            if header.next_offset > limit:
                where = f"offset {header.last_offset} in a segment that ends before {limit}"
                raise BadFile(where, file=segment.path(LOG), offset=position)
            if why := recovered.problem(header):
                raise BadFile(why, file=segment.path(LOG), offset=position)
            if header.producer_id >= 0:
                aborted += _record(state, header, view[position : position + header.size], segment, position)
            recovered.take(header)
            segment.recovered(position, header)
    except BadFile as found:
        problem = found
    finally:
        view.release()
    segment.rewrite_aborted(aborted)
    return problem


def verify(segments: Iterable[FileSegment], kept: LeaderEpochCache | None) -> LeaderEpochCache:
    """Checks every batch of closed segments, in a log without gaps whose epochs never fall. Returns
    the leader epochs of the batches. `kept` are those of the checkpoint, None when it may lag
    behind. BadFile."""
    cache = LeaderEpochCache()
    for segment in segments:
        due, file = segment.base_offset, segment.path(LOG)
        view = segment.log.view()
        try:
            for position, header in walk(view, due, 0, file):
                first, epoch = header.base_offset, header.partition_leader_epoch
                if first != due:
                    raise BadFile(f"offset {first}, where {due} is due", file=file, offset=position)
                if problem := _wrong_epoch(epoch, first, cache.latest, kept):
                    raise BadFile(problem, file=file, offset=position)
                if epoch > cache.latest:
                    cache.assign(epoch, first)
                due = header.next_offset
        finally:
            view.release()
    return cache


def _wrong_epoch(epoch: int, offset: int, latest: int, kept: LeaderEpochCache | None) -> str:
    """Says what contradicts the epoch of the batch at `offset`; "" when nothing does. The
    checkpoint begins at the log start offset of its time: segments may keep batches below it, of
    epochs that it no longer has."""
    if epoch < latest:
        return f"epoch {epoch} after epoch {latest}"
    if kept is None:
        return ""
    oldest = kept.earliest
    if offset < oldest.offset:
        return f"epoch {epoch}, where {LEADER_EPOCH} begins with {oldest.epoch}" if epoch > oldest.epoch else ""
    recorded = kept.epoch_for(offset)
    return f"epoch {epoch}, where {LEADER_EPOCH} has {recorded}" if epoch != recorded else ""


def _believable(batches: Batches, due: int) -> Batches:
    """Yields each batch after the next one was read. No checksum covers offsets: if a batch leaves
    a gap and the next batch overlaps it, the first one has the wrong offset."""
    held: tuple[int, BatchHeader] | None = None
    try:
        for batch in batches:
            if held is not None:
                due = held[1].next_offset
                yield held
            held = batch
    except BadFile as problem:
        if held is not None and problem.path == "base_offset" and held[1].base_offset > due:
            where = f"offset {held[1].base_offset}, where {due} was due and fits what follows"
            raise BadFile(where, file=problem.file, offset=held[0], path=problem.path) from problem
        if held is not None:
            yield held
        raise
    if held is not None:
        yield held


def _record(
    state: ProducerStateManager, header: BatchHeader, batch: memoryview, segment: FileSegment, position: int
) -> list[AbortedTransaction]:
    """Records a batch in the state, and returns the transaction that it aborts. BadFile for a
    marker that cannot be read. Earlier versions removed the timestamp together with the last
    record: then the expiration of the producer counts from the last append."""
    has_no_time = header.max_timestamp < 0 and not header.count
    timestamp = segment.modified if has_no_time else header.max_timestamp
    try:
        with batch:
            aborted = state.record(header, batch, header.base_offset, timestamp)
    except LogRefused as problem:
        raise BadFile(problem.message, file=segment.path(LOG), offset=position) from problem
    return [aborted] if aborted else []


def state_at(storage: FileStorage, offset: int, log_start_offset: int) -> ProducerStateManager:
    """The producers and the aborted transactions at `offset`: from the newest snapshot at or before
    it, and the batches after the snapshot. BadFile."""
    state = ProducerStateManager()
    since, kept = storage.latest_producer_snapshot(offset) or (0, [])
    state.restore(kept)
    # A transaction that is open in the snapshot may have its marker below the log start offset.
    since = since if kept else max(since, log_start_offset)
    try:
        state.replay(_batches(storage.segments, since, offset))
    except LogRefused as problem:
        raise BadFile(problem.message, file=storage.folder) from problem
    for segment in storage.segments:
        if segment.base_offset < offset:
            state.transactions.list_again(_aborted_in(storage, segment, log_start_offset))
    return state


def _batches(segments: Iterable[FileSegment], start: int, end: int) -> Iterator[memoryview]:
    for segment in segments:
        if segment.base_offset < end and segment.limit > start:
            for batch in segment.batches(start, ANY_TIMESTAMP):
                if read_header(batch).base_offset >= end:
                    return
                yield batch


def _aborted_in(storage: FileStorage, segment: FileSegment, log_start_offset: int) -> list[AbortedTransaction]:
    """The aborted transactions in the segment's list; if the list is damaged, those in its
    batches."""
    try:
        return _with_markers(segment, segment.aborted())
    except BadFile as problem:
        _LOGGER.warning("the list of aborted transactions is rebuilt: %s", problem)
    state = ProducerStateManager()
    since, kept = storage.latest_producer_snapshot(segment.base_offset) or (0, [])
    state.restore(kept)
    state.replay(_batches(storage.segments, max(since, log_start_offset), segment.base_offset))
    aborted: list[AbortedTransaction] = []
    for batch in segment.batches(segment.base_offset, ANY_TIMESTAMP):
        header = read_header(batch)
        if header.producer_id >= 0:
            aborted += _record(state, header, batch, segment, -1)
    segment.rewrite_aborted(aborted)
    return aborted


def _with_markers(segment: FileSegment, listed: list[AbortedTransaction]) -> list[AbortedTransaction]:
    """The transactions whose markers are in the segment. Earlier versions kept the entries of
    transactions that compaction had removed: they would have no end, and every later record of
    their producers would count as aborted."""
    kept = [transaction for transaction in listed if _has_marker(segment, transaction.last_offset)]
    if len(kept) < len(listed):
        path, count = segment.path(TXN_INDEX), len(listed) - len(kept)
        _LOGGER.warning("%s lists transactions without their markers: %d are removed from it", path, count)
        segment.rewrite_aborted(kept)
    return kept


def _has_marker(segment: FileSegment, offset: int) -> bool:
    """Whether the batch at this offset is a control batch with a record."""
    batch = next(segment.batches(offset, ANY_TIMESTAMP), None)
    header = None if batch is None else read_header(batch)
    return header is not None and header.base_offset == offset and header.is_control and header.count > 0


def learn_epochs(segments: Iterable[FileSegment]) -> LeaderEpochCache:
    """The leader epochs according to the batches alone."""
    epochs = LeaderEpochCache()
    for segment in segments:
        for place in segment.batch_positions():
            if place.leader_epoch > epochs.latest:
                epochs.assign(place.leader_epoch, place.base_offset)
    return epochs


class RecoveredEpochs:
    """Collects the leader epochs of the batches that an unclean stop left, one batch after the
    other, and checks that they can be of one history.

    The epochs are those of the batches, whatever `leader-epoch-checkpoint` says: after a
    truncation, a loss of power may leave an older version of this file, or none. (Kafka only adds
    epochs that are later than all in the file, so a stale file survives its recovery.) A log of
    another program, which flushes no truncation, may also have segments that a truncation had
    deleted, after batches that were appended later. Each of these batches is good, but epochs never
    fall within one log.
    """

    def __init__(self, epochs: LeaderEpochCache, recovery_point: int) -> None:
        self.epochs, self._recovery_point = epochs, recovery_point
        self._epoch, self._end = NO_EPOCH, 0  # of the previous batch

    def problem(self, header: BatchHeader) -> str:
        """Why a batch cannot follow the previous one; "" when it can, or when the previous one was
        the last that was flushed."""
        epoch = header.partition_leader_epoch
        if 0 <= epoch < self._epoch and self._end > self._recovery_point:
            return f"epoch {epoch} after epoch {self._epoch}"
        return ""

    def take(self, header: BatchHeader) -> None:
        """Counts the batch as part of the log."""
        if header.partition_leader_epoch >= 0:
            self.epochs.believe(header.partition_leader_epoch, header.base_offset, header.last_offset)
            self._epoch, self._end = header.partition_leader_epoch, header.next_offset
