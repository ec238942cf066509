"""What an unclean stop calls for: from the recovery point on every batch is looked at, and all that follows from the batches is made anew.

As in Kafka, the log ends before the first batch that is not good, and what comes after it, later segments too, is deleted; but only past the
recovery point, where nothing was promised to be whole. A batch below it that is not good is BadFile: that is no unclean stop, and no guess of
ours. A recovery point beyond the end of the log is not believed at all: all of the log is looked at. (Also as in Kafka: when power took the
last batches of a segment as a whole, and left the next segment, nothing tells the hole from one that compaction left.)

The leader epochs and the producers are those of the batches, whatever their files say: see `succession`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from kafkadouble.wire.batch import BatchHeader, read_header

from ..epochs import LeaderEpochCache
from ..formats.errors import BadFile
from ..formats.names import LEADER_EPOCH, LOG
from ..formats.segment import walk
from ..producer_state import ProducerState
from ..refusals import LogRefused
from ..storage import ANY_TIMESTAMP
from ..transactions import AbortedTransaction
from .segment import FileSegment
from .storage import FileStorage
from .succession import Succession

Batches = Iterator[tuple[int, BatchHeader]]

_LOGGER = logging.getLogger("kafkadouble.server.log")


def recover(
    storage: FileStorage, recovery_point: int, log_start_offset: int, epochs: LeaderEpochCache
) -> ProducerState:
    """Recover the segments from the one that holds `recovery_point` on, and tell the epochs what their batches say. Gives what the producers
    are at the end. BadFile."""
    first = storage.first_past(recovery_point)
    state = _recover_from(storage, first, recovery_point, log_start_offset, epochs)
    end = storage.segments[-1].next_offset
    if first and end < recovery_point:
        _LOGGER.warning("the recovery point %d is beyond the end, %d: all of the log is looked at", recovery_point, end)
        state = _recover_from(storage, 0, 0, log_start_offset, epochs)
    for segment in storage.segments[:-1]:
        segment.finish()
    return state


def _recover_from(
    storage: FileStorage, first: int, recovery_point: int, log_start_offset: int, epochs: LeaderEpochCache
) -> ProducerState:
    begin, succession = storage.segments[first].base_offset, Succession(epochs, recovery_point)
    storage.distrust_snapshots_after(begin)
    state = state_at(storage, begin, log_start_offset)
    for number, segment in enumerate(storage.segments[first:], first):
        storage.keep_producers(segment.base_offset, state.producers)
        problem = _recover_segment(storage, segment, succession, state)
        if problem is not None and segment.next_offset < recovery_point:
            raise problem
        problem = problem or _hole_after(storage, number, recovery_point, log_start_offset)
        if problem is None:
            continue
        gone = len(storage.segments) - number - 1
        more = f", and {gone} later segments are deleted" if gone else ""
        _LOGGER.warning("%s: the log is cut off there, at offset %d%s", problem, segment.next_offset, more)
        storage.drop_newest(gone)
        segment.cut()
        break
    return state


def _hole_after(storage: FileStorage, number: int, recovery_point: int, log_start_offset: int) -> BadFile | None:
    """Of a segment that was not flushed whole batches may be missing at its end, though the next one is there. Nothing else leaves a gap just
    there, but for compaction: no segment begins with the batch that comes after one. Below the log's start nothing is missed."""
    segment, following = storage.segments[number], storage.segments[number + 1 : number + 2]
    if not following or storage.compacts or segment.next_offset < recovery_point:
        return None
    due, begins = segment.next_offset, following[0].base_offset
    if max(due, log_start_offset) >= begins:
        return None
    return BadFile(f"the offsets from {due} to {begins - 1} are missing", file=segment.path(LOG), offset=segment.size)


def _recover_segment(
    storage: FileStorage, segment: FileSegment, succession: Succession, state: ProducerState
) -> BadFile | None:
    """Look at every batch, and make all from them that follows from them. Gives what the first is that is not good; from there on nothing is
    part of the segment any more, though it is still in the file."""
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
            if why := succession.problem(header):
                raise BadFile(why, file=segment.path(LOG), offset=position)
            if header.producer_id >= 0:
                aborted += _record(state, header, view[position : position + header.size], segment, position)
            succession.take(header)
            segment.recovered(position, header)
    except BadFile as found:
        problem = found
    finally:
        view.release()
    segment.list_anew(aborted)
    return problem


def verify(segments: Iterable[FileSegment], kept: LeaderEpochCache | None) -> LeaderEpochCache:
    """Check every batch of closed segments, in a log without gaps whose epochs never fall. Return the leader epochs
    that the batches carry. `kept` are those that were written down, None where they may lag behind. BadFile."""
    found = LeaderEpochCache()
    for segment in segments:
        due, file = segment.base_offset, segment.path(LOG)
        view = segment.log.view()
        try:
            for position, header in walk(view, due, 0, file):
                first, epoch = header.base_offset, header.partition_leader_epoch
                if first != due:
                    raise BadFile(f"offset {first}, where {due} is due", file=file, offset=position)
                if problem := _wrong_epoch(epoch, first, found.latest, kept):
                    raise BadFile(problem, file=file, offset=position)
                if epoch > found.latest:
                    found.assign(epoch, first)
                due = header.next_offset
        finally:
            view.release()
    return found


def _wrong_epoch(epoch: int, offset: int, latest: int, kept: LeaderEpochCache | None) -> str:
    """Say what contradicts the epoch of the batch at `offset`; "" when nothing does. The checkpoint begins at what was
    the log start offset: below it segments keep batches of epochs that it no longer names."""
    if epoch < latest:
        return f"epoch {epoch} after epoch {latest}"
    if kept is None:
        return ""
    oldest = kept.earliest
    if offset < oldest.offset:
        return f"epoch {epoch}, where {LEADER_EPOCH} begins with {oldest.epoch}" if epoch > oldest.epoch else ""
    said = kept.epoch_for(offset)
    return f"epoch {epoch}, where {LEADER_EPOCH} has {said}" if epoch != said else ""


def _believable(batches: Batches, due: int) -> Batches:
    """The batches, each when the one after it has come. No checksum covers offsets: a batch that left a gap, and that the next one overlaps,
    has a wrong one itself."""
    held: tuple[int, BatchHeader] | None = None
    try:
        for place in batches:
            if held is not None:
                due = held[1].next_offset
                yield held
            held = place
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
    state: ProducerState, header: BatchHeader, batch: memoryview, segment: FileSegment, position: int
) -> list[AbortedTransaction]:
    """What a batch changes in the state; the transaction that it aborts. BadFile when it is a marker that cannot be read."""
    try:
        with batch:
            aborted = state.record(header, batch, header.base_offset, header.max_timestamp)
    except LogRefused as problem:
        raise BadFile(problem.message, file=segment.path(LOG), offset=position) from problem
    return [aborted] if aborted else []


def state_at(storage: FileStorage, offset: int, log_start_offset: int) -> ProducerState:
    """What the producers were at `offset`, and which transactions had been aborted: from the newest snapshot that is no later, and the batches
    since then. BadFile."""
    state = ProducerState()
    since, kept = storage.producers_at(offset) or (0, [])
    state.restore(kept)
    try:
        state.replay(_batches(storage.segments, max(since, log_start_offset), offset))
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
    """What the segment's list says; where it is damaged, what the segment's batches do."""
    try:
        return segment.aborted()
    except BadFile as problem:
        _LOGGER.warning("the list of aborted transactions is made anew: %s", problem)
    state = ProducerState()
    since, kept = storage.producers_at(segment.base_offset) or (0, [])
    state.restore(kept)
    state.replay(_batches(storage.segments, max(since, log_start_offset), segment.base_offset))
    aborted: list[AbortedTransaction] = []
    for batch in segment.batches(segment.base_offset, ANY_TIMESTAMP):
        header = read_header(batch)
        if header.producer_id >= 0:
            aborted += _record(state, header, batch, segment, -1)
    segment.list_anew(aborted)
    return aborted


def learn_epochs(segments: Iterable[FileSegment]) -> LeaderEpochCache:
    """Where the leader epochs begin, by the batches alone."""
    epochs = LeaderEpochCache()
    for segment in segments:
        for place in segment.places():
            if place.leader_epoch > epochs.latest:
                epochs.assign(place.leader_epoch, place.base_offset)
    return epochs
