"""Writes captured traffic to Parquet files in a directory, or to one Parquet file.

A path that ends in `.parquet` is a file. Every other path is a directory, in which each run has its
own files, so that many processes can share it. A Parquet file cannot be extended: during a run, its
parts are in a folder beside the file, and at the end of the run they are joined with the earlier
content into a new file. A part appears whole or not at all, and does not change afterwards.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.pipeline.traffic.schema import PARTS, schema
from kafkadouble.server.logs.lock import DirectoryLock

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIX = ".parquet"
COMPRESSION = "zstd"
ROWS, ROW_BYTES = 1 << 16, 64 << 20
"""The rows in each row group of a file that is joined from parts, and their size in memory from
which there are fewer. A part is one row group."""

FRAME_ROWS = 1 << 8
"""The rows that are read at once if they have frames, which may be large."""

MISSING = "captured traffic is written by pyarrow, which is not installed: pip install 'kafkadouble[columns]'"


def check(path: str, *, frames: bool = False) -> None:
    """Raises UsageError when the path cannot be written, or holds something other than captured
    traffic, with frames or without."""
    try:
        import pyarrow.parquet as pq  # an extra
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
        if found is None or not any(found.equals(schema(kind)) for kind in (True, False)):
            raise UsageError(f"{path} is there, and is no file of captured traffic")
        if not found.equals(schema(frames)):
            raise UsageError(f"{path} is a capture {_kind(not frames)}: one {_kind(frames)} goes into another file")


def _kind(frames: bool) -> str:
    return "with frames" if frames else "without frames"


class CaptureFiles:
    """The files of one run, named after the run. Raises UsageError when they cannot be created."""

    def __init__(self, path: str, run: str, *, frames: bool = False) -> None:
        check(path, frames=frames)
        self._path, self._run, self._count, self._frames = path, run, 0, frames
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
        """Writes a part. Raises OSError when the disk refuses it; then no part of it is left."""
        import pyarrow as pa  # an extra

        name = f"{self._run}-{self._count:05}{SUFFIX}"
        self._count += 1
        _write(os.path.join(self._folder, name), [pa.Table.from_batches(batches)], self._frames)

    def close(self) -> None:
        """Ends the run. Raises OSError when its file cannot be written; then the parts are kept."""
        try:
            if self._is_file and (parts := _parts(self._folder)):
                self._join([self._path, *parts] if os.path.exists(self._path) else parts)
        finally:
            if self._lock is not None:
                self._lock.release()
        if self._is_file:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _join(self, paths: Sequence[str]) -> None:
        """Joins the parts into the file. A single part, as in most tests, is renamed."""
        if len(paths) == 1:
            os.replace(paths[0], self._path)
        else:
            _write(self._path, _row_groups(paths, self._frames), self._frames)

    def __repr__(self) -> str:
        return self._path


def _parts(folder: str) -> list[str]:
    """The paths of the parts, sorted by name, including the parts of runs that were killed."""
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.endswith(SUFFIX))


def _row_groups(paths: Sequence[str], frames: bool) -> Iterator[pa.Table]:
    """Reads the rows of these files, in tables of about `ROWS` rows or `ROW_BYTES`."""
    import pyarrow as pa  # an extra
    import pyarrow.parquet as pq  # an extra

    held: list[pa.RecordBatch] = []
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(FRAME_ROWS if frames else ROWS):
                held.append(batch)
                if sum(map(len, held)) >= ROWS or sum(batch.nbytes for batch in held) >= ROW_BYTES:
                    yield pa.Table.from_batches(held)
                    held.clear()
    if held:
        yield pa.Table.from_batches(held)


def _write(path: str, tables: Iterable[pa.Table], frames: bool) -> None:
    """Writes a file that appears whole or not at all, and that only this user can read: it may have
    secrets. Until it is complete, it has a hidden name that readers of Parquet ignore."""
    import pyarrow.parquet as pq  # an extra

    folder, name = os.path.split(path)
    unfinished = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with (
            open(unfinished, "wb", opener=_private) as opened,
            pq.ParquetWriter(opened, schema(frames), compression=COMPRESSION) as file,
        ):
            for table in tables:
                file.write_table(table)
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.remove(unfinished)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
