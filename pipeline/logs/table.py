"""`open_log`: what lies at a path as an Arrow table, for pandas, polars, DuckDB and whoever else takes Arrow; no broker, no Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..streamed import Streamed
from .levels import Planned, chosen, level_of, options_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pyarrow as pa

Path = str | os.PathLike[str]


class LogTable(Streamed):
    """A log, opened: planned when it is made, read whenever it is gone through. Reading holds some megabytes at a time."""

    def __init__(
        self, paths: Sequence[Path], level: str, columns: Sequence[str] | None, options: dict[str, object]
    ) -> None:
        self.options = options_of(level, options)
        self._level = level_of(level)
        self.schema: pa.Schema = chosen(self._level.schema(self.options), columns)
        self.pieces: Sequence[Planned] = self._level.plan(paths, self.options)

    def read(self, piece: Planned) -> Iterator[pa.RecordBatch]:
        """One of the pieces."""
        return self._level.read(piece, self.schema.names, self.options)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for piece in self.pieces:
            yield from self.read(piece)

    def __repr__(self) -> str:
        size = sum(piece.size for piece in self.pieces)
        return f"LogTable({self.options.level} of {size} bytes in {len(self.pieces)} pieces)"


def open_log(
    path: Path | Sequence[Path], *, level: str = "records", columns: Sequence[str] | None = None, **options: object
) -> LogTable:
    """What lies at a path: a log directory, a partition's folder, a segment, a snapshot of the metadata, a pattern, or several of them.

    `level`: one of `LEVELS`; `columns`: which ones, in which order (all). Options have the names of the Spark source `kafka-log`,
    also with underscores: `starting_offsets=23`. UsageError for what cannot be; BadFile while reading, for what is broken.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    return LogTable(paths, level, columns, options)
