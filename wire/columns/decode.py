"""Decodes record batches to Arrow: the steps of this package from headers to
`pyarrow.RecordBatch`es.

    headers -> chunks of bodies (`bodies`) -> positions (`choice`) -> rows -> columns (`rows`)

A batch that the implementation calls odd goes to the plain reader, and its rows stay in order. A
batch that the plain reader refuses is corrupt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby

import numpy as np
import pyarrow as pa

from kafkadouble.wire.batch_read import records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import LIMIT
from kafkadouble.wire.errors import BadCompression, TooLarge, UsageError, WireError

from .bodies import CHUNK, Bodies, BodyChunk, SeparateBatch
from .choice import choose
from .found import FoundRows
from .headers import Headers
from .plain import Plain, plain_rows, stand_in
from .rows import Common, Rows, record_batch
from .schema import Origin, schema

_MOST_ROWS = 1 << 20

Finding = Callable[[int, WireError], object]


def decode(
    buffer: Buffer,
    headers: Headers,
    names: Iterable[str],
    origin: Origin,
    check_crc: bool = True,
    on_corrupt: str = "fail",
    rows: int = 65536,
    limit: int = LIMIT,
    on_finding: Finding | None = None,
    implementation: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """The records of the batches of `headers`, in order: RecordBatches with the columns `names`, of
    about 16 MB of raw bytes and at most `rows` rows each. The buffer is in use until the last one
    was returned.

    A batch that is corrupt raises its WireError (`on_corrupt` "fail"), is left out ("skip"), or
    leaves one row with `crc_ok` false and its base offset ("report"); `on_finding` is called with
    its position in the file and the error. `limit` bounds the decompressed size of a batch, in
    bytes.
    """
    if on_corrupt not in ("fail", "skip", "report"):
        raise UsageError(f"on_corrupt is one of fail, skip and report, not {on_corrupt!r}")
    if rows < 1:
        raise UsageError(f"batches of {rows} rows")
    if implementation is not None:
        choose(implementation, headers.count)
    # bytes a character
    widest = max(len(text or "") for text in (origin.topic, origin.segment, origin.replica)) * 4
    # a column of them must stay below 2 GB
    rows = min(rows, _MOST_ROWS, _MOST_ROWS * 2000 // max(widest, 1))
    common = Common(schema(names), origin, True if check_crc else None)
    corrupt = _Corrupt(headers, origin.position, on_corrupt, on_finding)
    return _Decoder(buffer, headers, common, corrupt, limit, implementation).batches(rows)


class _Corrupt:
    """The handling of a batch that cannot be read."""

    def __init__(self, headers: Headers, start: int, action: str, on_finding: Finding | None) -> None:
        self._headers, self._start, self._action, self._on_finding = headers, start, action, on_finding

    def found(self, index: int, problem: WireError) -> list[Plain]:
        """The rows that replace the batch; or raises the error."""
        position = int(self._headers.position[index]) + self._start
        # relative to the first of the compressed bytes
        if isinstance(problem, (BadCompression, TooLarge)):
            problem.path = problem.path or f"the batch at byte {position}"
        elif problem.offset >= 0 and not problem.path.startswith("decompressed"):
            problem.offset += self._start
        if self._action == "fail":
            raise problem
        if self._on_finding is not None:
            self._on_finding(position, problem)
        return [stand_in(self._headers, index)] if self._action == "report" else []


class _Decoder:
    def __init__(
        self,
        buffer: Buffer,
        headers: Headers,
        common: Common,
        corrupt: _Corrupt,
        limit: int,
        implementation: str | None,
    ) -> None:
        self._buffer, self._headers, self._common, self._corrupt = buffer, headers, common, corrupt
        self._check, self._limit, self._implementation = common.crc_ok is True, limit, implementation

    def batches(self, most: int) -> Iterator[pa.RecordBatch]:
        with memoryview(self._buffer) as view:
            # batches for the plain reader share their rows
            for _, pieces in groupby(self._pieces(view, most), type):
                yield from map(record_batch, self._runs_of_rows(pieces, most))

    def _runs_of_rows(self, pieces: Iterator[Rows | SeparateBatch], most: int) -> Iterator[Rows]:
        """Rows of pieces that are all of one kind."""
        for piece in pieces:
            if isinstance(piece, Rows):
                yield piece
            else:
                plain = (
                    row
                    for apart in chain([piece], pieces)
                    if isinstance(apart, SeparateBatch)
                    for row in self._read(apart)
                )
                yield from plain_rows(self._common, self._headers, plain, most)

    def _pieces(self, view: memoryview, most: int) -> Iterator[Rows | SeparateBatch]:
        for piece in Bodies(view, self._headers, self._check, self._limit):
            if isinstance(piece, SeparateBatch):
                yield piece
            else:
                yield from self._rows_of(piece, most)

    def _rows_of(self, chunk: BodyChunk, most: int) -> Iterator[Rows | SeparateBatch]:
        """The rows of a chunk, and between them those of its odd batches."""
        implementation = choose(self._implementation, chunk.counts)
        data = np.frombuffer(chunk.data, np.uint8)
        if len(data) > 2 * CHUNK:  # of one batch, whose rows are divided into several Arrow batches
            most = max(1, min(most, int(chunk.counts.sum()) * CHUNK // len(data)))
        spans = implementation.find(data, chunk.starts, chunk.ends, chunk.counts)
        headers = self._headers[
            chunk.indexes
        ]  # so that what is made of headers is not made of all of them for every chunk
        last = np.cumsum(chunk.counts)
        batch = 0
        for stop in [*np.flatnonzero(spans.odd).tolist(), len(chunk.counts)]:
            low, high = (int(last[batch - 1]) if batch else 0), (int(last[stop - 1]) if stop else 0)
            which = np.repeat(np.arange(batch, stop), chunk.counts[batch:stop])
            for start in range(low, high, most):
                end = min(start + most, high)
                yield FoundRows(
                    self._common, headers, which[start - low : end - low], data, spans.rows(start, end), implementation
                )
            if stop < len(chunk.counts):
                yield SeparateBatch(int(chunk.indexes[stop]), None)
            batch = stop + 1

    def _read(self, apart: SeparateBatch) -> list[Plain]:
        """The rows of a batch by the plain reader."""
        if apart.problem is not None:
            return self._corrupt.found(apart.batch, apart.problem)
        header, position = self._headers.one(apart.batch), int(self._headers.position[apart.batch])
        try:
            records = records_of(self._buffer, position, header, limit=self._limit, check_crc=self._check)
        except WireError as problem:
            return self._corrupt.found(apart.batch, problem)
        return [Plain(apart.batch, record, self._common.crc_ok) for record in records]
