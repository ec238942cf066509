"""Where captured traffic goes: Parquet files in a directory, or one Parquet file.

Rules. A path that ends in `.parquet` is a file; every other is a directory, in which each run has files of its own, so that many processes
may share it. A file is made when a run ends, of what it had before and of the run's parts, which lie in a folder beside it until then: Parquet
cannot be extended. A part appears whole or not at all, and is never written to again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.pipeline.traffic.schema import PARTS, schema
from kafkadouble.server.logs.lock import DirectoryLock

from .errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".parquet"
COMPRESSION = "zstd"
ROWS = 1 << 16
"""In a row group of a file that is made of parts; a part is one."""

MISSING = "captured traffic is written by pyarrow, which is not installed: pip install 'kafkadouble[columns]'"


def check(path: str) -> None:
    """UsageError when nothing can be written, or when something else is there."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise UsageError(MISSING) from None
    if not path.endswith(SUFFIX):
        if os.path.exists(path) and not os.path.isdir(path):
            raise UsageError(f"{path} is a file: captured traffic goes into a directory, or a file named *{SUFFIX}")
        return
    if os.path.isdir(path):
        raise UsageError(f"{path} is a directory: what ends in {SUFFIX} is to be a file of captured traffic")
    if os.path.exists(path):
        try:
            found = pq.read_schema(path)
        except (OSError, ValueError):
            found = None
        if found is None or not found.equals(schema()):
            raise UsageError(f"{path} is there, and is no file of captured traffic")


class CaptureFiles:
    """The files of one run, named for it. UsageError when they cannot be had."""

    def __init__(self, path: str, run: str) -> None:
        check(path)
        self._path, self._run, self._count = path, run, 0
        self._is_file = path.endswith(SUFFIX)
        self._folder = path + PARTS if self._is_file else path
        self._lock: DirectoryLock | None = None
        try:
            os.makedirs(self._folder, exist_ok=True)
            if self._is_file:
                self._lock = DirectoryLock(self._folder)
        except UsageError:
            raise UsageError(f"traffic is being captured in {path} already: only a directory can be shared") from None
        except OSError as problem:
            raise UsageError(f"traffic cannot be captured in {path}: {problem.strerror or problem}") from None

    def add(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write a part. OSError when the disk does not take it; then there is nothing of it."""
        import pyarrow as pa

        name = f"{self._run}-{self._count:05}{SUFFIX}"
        self._count += 1
        _write(os.path.join(self._folder, name), [pa.Table.from_batches(batches)])

    def close(self) -> None:
        """The run is over. OSError when its file cannot be written; then its parts stay."""
        try:
            if self._is_file and (parts := _parts(self._folder)):
                self._join([self._path, *parts] if os.path.exists(self._path) else parts)
        finally:
            if self._lock is not None:
                self._lock.release()
        if self._is_file:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _join(self, paths: Sequence[str]) -> None:
        """One alone, as of most tests, is the file as it is."""
        if len(paths) == 1:
            os.replace(paths[0], self._path)
        else:
            _write(self._path, _row_groups(paths))

    def __repr__(self) -> str:
        return self._path


def _parts(folder: str) -> list[str]:
    """In their order; parts of runs that were killed are among them."""
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.endswith(SUFFIX))


def _row_groups(paths: Sequence[str]) -> Iterator[pa.Table]:
    """What is in these files, in pieces that are neither small nor large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held: list[pa.RecordBatch] = []
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS):
                held.append(batch)
                if sum(map(len, held)) >= ROWS:
                    yield pa.Table.from_batches(held)
                    held.clear()
    if held:
        yield pa.Table.from_batches(held)


def _write(path: str, tables: Iterable[pa.Table]) -> None:
    """A file that is there as a whole, or not at all; meanwhile it has a name that readers of Parquet pass over."""
    import pyarrow.parquet as pq

    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with pq.ParquetWriter(unfinished, schema(), compression=COMPRESSION) as file:
            for table in tables:
                file.write_table(table)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.remove(unfinished)
        raise
