"""Writes a log as a Parquet file: the tables of `open_log`, with everything that `dump` shows:
headers, control records, and rows for corrupt parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kafkadouble.pipeline.logs import LogTable, open_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pyarrow as pa

_GROUP = 32 << 20
"""The size of a row group in memory, in bytes."""


def opened(paths: Sequence[Path], level: str) -> LogTable:
    """Opens the logs to write. Raises UsageError and BadFile as `open_log` does."""
    return open_log(
        paths, level=level, include_headers=True, include_control=True, on_corrupt="report", split_bytes=_GROUP // 2
    )


def write(log: LogTable, file: Path, done: Callable[[int], None]) -> int:
    """Writes the log, and returns the number of rows about corrupt parts.

    `done` is called with the number of bytes of each piece that was read. A file that is not
    complete is removed.
    """
    import pyarrow.parquet  # an extra

    broken = 0
    unfinished = file.with_name(file.name + ".part")
    try:
        with pyarrow.parquet.ParquetWriter(unfinished, log.schema, compression="zstd") as writer:
            for table in _groups(log, done):
                broken += _broken(table)
                writer.write_table(table)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
    return broken


def _groups(log: LogTable, done: Callable[[int], None]) -> Iterator[pa.Table]:
    import pyarrow as pa  # an extra

    waiting: list[pa.RecordBatch] = []
    for piece in log.pieces:
        for batch in log.read(piece):
            waiting.append(batch)
            if sum(batch.nbytes for batch in waiting) >= _GROUP:
                yield pa.Table.from_batches(waiting, log.schema)
                waiting = []
        done(piece.size)
    yield pa.Table.from_batches(waiting, log.schema)


def _broken(table: pa.Table) -> int:
    from pyarrow import compute  # an extra

    if "crc_ok" in table.schema.names:
        return int(compute.sum(compute.equal(table["crc_ok"], False)).as_py() or 0)
    return table.num_rows - int(table["problem"].null_count) if "problem" in table.schema.names else 0
