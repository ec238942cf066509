"""`open_log`: Kafka's files at a path as an Arrow table, for pandas, polars, DuckDB and other users
of Arrow; without a broker, without Spark."""

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
    """A log that was opened: planned once, and read by each iteration, with some megabytes in
    memory."""

    def __init__(
        self, paths: Sequence[Path], level: str, columns: Sequence[str] | None, options: dict[str, object]
    ) -> None:
        self.options = options_of(level, options)
        self._level = level_of(level)
        self.schema: pa.Schema = chosen(self._level.schema(self.options), columns)
        self.pieces: Sequence[Planned] = self._level.plan(paths, self.options)

    def read(self, piece: Planned) -> Iterator[pa.RecordBatch]:
        """Reads one of the pieces."""
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
    """Opens a path: a log directory, a partition folder, a segment, a metadata snapshot, a pattern,
    or several of them.

    `level`: one of `LEVELS`; `columns`: their names, in order; by default all. Options have the
    names of the Spark source `kafka-log`, also with underscores: `starting_offsets=23`. Raises
    UsageError for wrong arguments; while reading, BadFile for corrupt files.
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    return LogTable(paths, level, columns, options)
