"""Checks one segment: its batches, their records, and the files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.server.log.formats import BadFile, TornTail, names
from kafkadouble.server.log.formats.scan import ScannedBatch, UnreadableBytes, scan
from kafkadouble.wire.batch import BatchHeader, records_of, scan_records
from kafkadouble.wire.errors import WireError

from .agreement import Cursor, EpochRule, OffsetCursor, TimeCursor, TransactionCursor
from .verdict import Rules, Tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CURSORS: dict[str, Callable[[FileBytes, int], Cursor[Any]]] = {
    names.INDEX: OffsetCursor,
    names.TIME_INDEX: TimeCursor,
    names.TXN_INDEX: TransactionCursor,
}
_SHOWN_GAP = "offsets {} to {} are missing before it, which only compaction may take away (--gaps)"


class Segment:
    """A segment to check: its location, whether it is the last of its log, and the rule for its
    leader epochs."""

    def __init__(self, folder: Path, base_offset: int, *, last: bool, epochs: EpochRule, rules: Rules) -> None:
        self.folder, self.base_offset, self.last = folder, base_offset, last
        self.epochs, self.rules = epochs, rules
        self.next_offset = base_offset

    def path(self, suffix: str) -> Path:
        return self.folder / (names.segment_name(self.base_offset) + suffix)

    def check(self, tally: Tally) -> int:
        """Checks the segment and returns the offset after the last batch. Raises BadFile; a torn
        tail is added to the tally."""
        with self._cursors() as cursors, FileBytes(self.path(names.LOG)) as data:
            whole = True
            for found in scan(data, self.base_offset, str(data.path)):
                if isinstance(found, UnreadableBytes):
                    self._lost(found, tally)
                    whole = False
                    break
                self._batch(found, cursors, tally)
            if whole:
                for cursor in cursors:
                    cursor.finish()
        tally.counts["segments"] += 1
        return self.next_offset

    @contextmanager
    def _cursors(self) -> Iterator[list[Cursor[Any]]]:
        with ExitStack() as stack:
            found: list[Cursor[Any]] = []
            for suffix, make in _CURSORS.items():
                if self.path(suffix).exists():
                    found.append(make(stack.enter_context(FileBytes(self.path(suffix))), self.base_offset))
            yield found

    def _lost(self, found: UnreadableBytes, tally: Tally) -> None:
        problem = found.problem
        if not isinstance(problem, TornTail):
            raise problem
        if not self.last:
            raise BadFile(f"{problem.problem}, and segments follow", file=problem.file, offset=problem.offset)
        if not self.rules.live:
            tally.torn.append(problem)

    def _batch(self, batch: ScannedBatch, cursors: list[Cursor[Any]], tally: Tally) -> None:
        if batch.problem is not None:
            raise batch.problem
        header, file = batch.header, str(self.path(names.LOG))
        problem = self._misplaced(header) or self.epochs.problem(header)
        if problem is not None:
            raise BadFile(problem, file=file, offset=batch.position)
        for cursor in cursors:
            cursor.see(batch.position, header)
        tally.counts["batches"] += 1
        tally.counts["records"] += count_records(batch, file)
        self.next_offset = header.next_offset

    def _misplaced(self, header: BatchHeader) -> str | None:
        gap = header.magic == 2 and header.base_offset > self.next_offset
        return _SHOWN_GAP.format(self.next_offset, header.base_offset - 1) if gap and not self.rules.gaps else None


def count_records(batch: ScannedBatch, file: str) -> int:
    """Counts the records of a batch by reading them. Raises BadFile for a corrupt record."""
    header = batch.header
    try:
        if header.magic < 2:
            return len(records_of(batch.data, 0, header))
        scan_records(batch.data, 0, header)
    except WireError as error:
        inside = 0 if header.compression else max(error.offset, 0)
        raise BadFile(error.problem, file=file, offset=batch.position + inside, path=error.path) from None
    return header.count
