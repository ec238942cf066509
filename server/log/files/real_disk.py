"""A `Disk` of the operating system, with a bound on the number of open files.

A log directory has at least three files for each partition, and systems allow some hundreds of open
files. So a file is opened at its first use; when too many are open, the one that was opened first
is closed, and opened again at its next use. A file without references is closed with its object: a
reader of a segment that was deleted or compacted can finish, and the space is freed after the last
reader.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from kafkadouble.wire.checksum import Buffer

from .disk import FlushStep, OperationFaults
from .errors import DiskFailure, LostFile
from .real_file import WINDOWS, DescriptorFlush, RealFile, no_flush, sync


class RealDisk:
    """The log directory `root`, which is made when it is missing. At most `most_open` of its files
    are open at once. After the first failure `failed` describes it, and the system is not called
    until it is set to None, for a node that starts again."""

    def __init__(self, root: str, most_open: int | None = None) -> None:
        self.root = os.path.abspath(root)
        self.most_open = most_open or _allowed()
        self._open = WeakKeyDictionary[RealFile, None]()  # in the order in which they were opened
        self.failed: DiskFailure | None = None
        self.faults: OperationFaults | None = None
        """Fault rules, while there are such rules."""
        self._on_failure: Callable[[DiskFailure], None] | None = None
        with self.failures():
            os.makedirs(self.root, exist_ok=True)

    def full(self, path: str) -> str:
        return os.path.join(self.root, path)

    def watch(self, on_failure: Callable[[DiskFailure], None]) -> None:
        self._on_failure = on_failure

    def failure(self, problem: OSError) -> DiskFailure:
        if isinstance(problem, FileNotFoundError) and self._is_in_partition(problem.filename):
            return self.lost(problem.filename, "it is missing")
        found = DiskFailure(self.root, str(problem))
        self._fail(found)
        return found

    def fail(self, why: str) -> None:
        self._fail(DiskFailure(self.root, why))

    def _fail(self, failure: DiskFailure) -> None:
        if self.failed is None:
            self.failed = failure
            if self._on_failure is not None:
                self._on_failure(failure)

    def lost(self, full: str, why: str) -> LostFile:
        """Reports that a file of a partition is not as it was written."""
        file = LostFile(self.root, f"{full}: {why}", os.path.relpath(full, self.root).replace(os.sep, "/"))
        if self._on_failure is not None:
            self._on_failure(file)
        return file

    def _is_in_partition(self, full: str) -> bool:
        """Whether the path is in a folder of a log directory that still exists."""
        return os.path.dirname(full) != self.root and os.path.isdir(self.root)

    def check(self) -> None:
        """DiskFailure once the disk has failed."""
        if self.failed is not None:
            raise DiskFailure(self.root, self.failed.why)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turns an OSError of the block into a DiskFailure."""
        self.check()
        try:
            yield
        except OSError as problem:
            raise self.failure(problem) from problem

    def make_room(self) -> None:
        """Closes files until one more may be open."""
        while len(self._open) >= self.most_open:
            next(iter(self._open)).close()

    def opened(self, file: RealFile) -> None:
        self._open[file] = None

    def closed(self, file: RealFile) -> None:
        self._open.pop(file, None)

    def space(self) -> tuple[int, int] | None:
        try:
            found = shutil.disk_usage(self.root)
        except OSError:  # a failure here does not fail the disk
            return None
        return found.total, found.free

    def names(self, folder: str) -> list[str]:
        with self.failures(), os.scandir(self.full(folder)) as entries:
            return [entry.name for entry in entries if entry.is_file()]

    def folders(self) -> list[str]:
        with self.failures(), os.scandir(self.root) as entries:
            return [entry.name for entry in entries if entry.is_dir()]

    def exists(self, path: str) -> bool:
        self.check()
        return os.path.exists(self.full(path))

    def open(self, path: str) -> RealFile:
        with self.failures():
            return RealFile(self, self.full(path))

    def rename(self, path: str, to: str) -> None:
        with self.failures():
            os.replace(self.full(path), self.full(to))

    def remove(self, path: str) -> None:
        with self.failures(), suppress(FileNotFoundError):
            os.remove(self.full(path))

    def make_folder(self, folder: str) -> None:
        with self.failures():
            os.makedirs(self.full(folder), exist_ok=True)

    def remove_folder(self, folder: str) -> None:
        with self.failures(), suppress(FileNotFoundError):
            shutil.rmtree(self.full(folder))

    def read_whole(self, path: str) -> bytes:
        with self.failures(), open(self.full(path), "rb") as file:
            return file.read()

    def write_whole(self, path: str, data: Buffer, *, flush: bool = True) -> None:
        full = self.full(path)
        with self.failures():
            with open(full + ".tmp", "wb") as file:
                file.write(data)
                if flush:
                    file.flush()
                    sync(file.fileno())
            os.replace(full + ".tmp", full)
        if flush:
            self.flush_folder(os.path.dirname(path))

    def size(self, path: str) -> int:
        with self.failures():
            return os.stat(self.full(path)).st_size

    def modified(self, path: str) -> int:
        with self.failures():
            return os.stat(self.full(path)).st_mtime_ns // 1_000_000

    def flush_folder(self, folder: str) -> None:
        if WINDOWS:  # which has no such call, and needs none
            return
        with self.failures():
            fd = os.open(self.full(folder), os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def flushing_folder(self, folder: str) -> FlushStep:
        if WINDOWS:
            return no_flush
        with self.failures():
            return DescriptorFlush(self, os.open(self.full(folder), os.O_RDONLY), os.fsync)

    def __repr__(self) -> str:
        return f"log dir {self.root}, {len(self._open)} files open"


def _allowed() -> int:
    """Half of the files that this process may open; the rest is for connections."""
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return 2048
    soft = getrlimit(RLIMIT_NOFILE)[0]
    return max(16, min(soft // 2, 4096)) if soft > 0 else 4096
