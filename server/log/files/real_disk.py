"""A `Disk` of the operating system, with a bound on the number of open files.

A log directory has at least three files for each partition, and systems allow some hundreds of open
files. So a file is opened at its first use; when too many are open, the one that was opened first
is closed, and opened again at its next use. A file without references is closed with its object: a
reader of a segment that was deleted or compacted can finish, and the space is freed after the last
reader. Readers use pread, writers append (writev on a file that was opened for appending), so
neither depends on the other's file position.
"""

from __future__ import annotations

import mmap
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary, WeakSet, ref

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .disk import WORTH_IT, FlushStep, OperationFaults
from .errors import DiskFailure, LostFile

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WINDOWS = sys.platform == "win32"


def _write_joined(fd: int, buffers: Sequence[Buffer]) -> int:
    return os.write(fd, b"".join(buffers))


def _seek_and_read(fd: int, size: int, position: int) -> bytes:
    os.lseek(fd, position, os.SEEK_SET)
    return os.read(fd, size)


_write: Callable[[int, Sequence[Buffer]], int] = getattr(os, "writev", _write_joined)
_read: Callable[[int, int, int], bytes] = getattr(os, "pread", _seek_and_read)
_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class RealFile:
    """A file that is open, or that is opened at its next use."""

    __slots__ = ("__weakref__", "_disk", "_fd", "_lent", "_path", "size")

    def __init__(self, disk: RealDisk, path: str) -> None:
        self._disk, self._path = disk, path
        self._fd = -1
        self._lent: ref[_Lent] | None = None  # while a stretch of it is in use
        self.size = os.fstat(self._opened(os.O_CREAT)).st_size

    def _opened(self, more_flags: int = 0) -> int:
        """The file descriptor. The file is created only the first time: a file that was deleted
        later must not be replaced by an empty one."""
        if self._fd < 0:
            self._disk.make_room()
            self._fd = os.open(self._path, _FLAGS | more_flags, 0o644)
            self._disk.opened(self)
        return self._fd

    def append(self, buffers: Sequence[Buffer]) -> None:
        self._disk.check()
        due = len(buffers[0]) if len(buffers) == 1 else sum(map(len, buffers))
        try:
            if self._disk.faults is not None:
                self._disk.faults.append(self._path, self.size)
            fd = self._fd if self._fd >= 0 else self._opened()
            written = os.write(fd, buffers[0]) if len(buffers) == 1 else _write(fd, buffers)
            if written < due:
                self._append_rest(b"".join(buffers), written)
        except OSError as problem:
            self._undo()
            raise self._disk.failure(problem) from problem
        self.size += due

    def _append_rest(self, data: bytes, written: int) -> None:
        with memoryview(data) as view:
            while written < len(data):
                written += os.write(self._opened(), view[written:])

    def _undo(self) -> None:
        """Remove what a failed append has written, if the system still allows it."""
        with suppress(OSError):
            os.ftruncate(self._opened(), self.size)

    def read(self, position: int, size: int) -> bytes:
        self._disk.check()
        if position < 0:  # A wrong index leads here; no file has such a byte.
            return b""
        try:
            if self._disk.faults is not None:
                self._disk.faults.read(self._path)
            fd = self._fd if self._fd >= 0 else self._opened()
            data = _read(fd, size, position)
            while len(data) < size and position + len(data) < self.size:
                more = _read(fd, size - len(data), position + len(data))
                if not more:
                    raise self._shorter(position + len(data))
                data += more
            return data
        except OSError as problem:
            raise self._disk.failure(problem) from problem

    def _shorter(self, end: int) -> LostFile:
        """The file ends at `end`, and more was written: another process has truncated it."""
        return self._disk.lost(self._path, f"it ends at byte {end}, where {self.size} were written")

    def truncate(self, size: int) -> None:
        if size < self.size:
            lent = self._lent() if self._lent is not None else None
            for stretch in () if lent is None else lent.stretches:
                if stretch.position + stretch.size > size:
                    stretch.keep()
            with self._disk.failures():
                os.ftruncate(self._opened(), size)
            self.size = size

    def view(self) -> memoryview:
        if not self.size:
            return memoryview(b"")
        with self._disk.failures():
            return memoryview(mmap.mmap(self._opened(), self.size, access=mmap.ACCESS_READ))

    def stretch(self, position: int, size: int) -> bytes | FileSlice:
        size = min(size, self.size - position)
        if size < WORTH_IT:
            return self.read(position, size)
        with self._disk.failures():
            if self._disk.faults is not None:
                self._disk.faults.read(self._path)
            fd = self._opened()
            end = os.fstat(fd).st_size
        if end < position + size:
            raise self._shorter(end)
        lent = self._lent() if self._lent is not None else None
        if lent is None:
            try:
                lent = _Lent(os.dup(fd))
            # Too many files are open in this process, perhaps for clients that do not read.
            except OSError:
                return self.read(position, size)
            self._lent = ref(lent)
        found = _FileStretch(self._disk, lent, position, size)
        lent.stretches.add(found)
        return found

    def flush(self) -> None:
        with self._disk.failures():
            if self._disk.faults is None or self._disk.faults.flush(self._path, self.size):
                _sync(self._opened())

    def flushing(self) -> FlushStep:
        with self._disk.failures():
            if self._disk.faults is not None and not self._disk.faults.flush(self._path, self.size):
                return _no_flush
            return _FlushStep(self._disk, os.dup(self._opened()))

    def rename(self, path: str) -> None:
        to = self._disk.full(path)
        if _WINDOWS:  # an open file cannot be renamed there
            self.close()
        with self._disk.failures():
            os.replace(self._path, to)
        self._path = to

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            self._disk.closed(self)
            try:
                os.close(fd)
            except OSError as problem:
                raise self._disk.failure(problem) from problem

    def __del__(self) -> None:
        # An object that is collected together with it may still close it.
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with suppress(OSError):
                os.close(fd)

    def __repr__(self) -> str:
        return f"{self._path}, {self.size} bytes{'' if self._fd >= 0 else ', closed'}"


def _no_flush() -> None:
    """A flush that a fault rule loses."""


class _FlushStep:
    """A flush for another thread. It has its own file descriptor: that of the file may be closed,
    and given to another file, at any time."""

    __slots__ = ("_disk", "_fd")

    def __init__(self, disk: RealDisk, fd: int) -> None:
        self._disk, self._fd = disk, fd

    def __call__(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                with self._disk.failures():
                    _sync(fd)
            finally:
                os.close(fd)

    def __del__(self) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)


class _Lent:
    """One file descriptor for all stretches of a file: the file may be closed or removed before
    they are sent."""

    __slots__ = ("__weakref__", "descriptor", "stretches")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.stretches = WeakSet[FileSlice]()

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self.descriptor)


class _FileStretch(FileSlice):
    """A part of a file. It stays good after the file was closed or removed."""

    __slots__ = ("_disk", "_lent")

    def __init__(self, disk: RealDisk, lent: _Lent, position: int, size: int) -> None:
        super().__init__(lent.descriptor, position, size)
        self._disk, self._lent = disk, lent

    def _load(self) -> bytes:
        with self._disk.failures():
            return _read(self._descriptor, self.size, self.position)


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
        if self.failed is None:
            self.failed = found
            if self._on_failure is not None:
                self._on_failure(found)
        return found

    def lost(self, full: str, why: str) -> LostFile:
        """Report that a file of a partition is not as it was written."""
        found = LostFile(self.root, f"{full}: {why}", os.path.relpath(full, self.root).replace(os.sep, "/"))
        if self._on_failure is not None:
            self._on_failure(found)
        return found

    def _is_in_partition(self, full: str) -> bool:
        """Whether the path is in a folder of a log directory that still exists."""
        return os.path.dirname(full) != self.root and os.path.isdir(self.root)

    def check(self) -> None:
        """DiskFailure once the disk has failed."""
        if self.failed is not None:
            raise DiskFailure(self.root, self.failed.why)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turn an OSError of the block into a DiskFailure."""
        self.check()
        try:
            yield
        except OSError as problem:
            raise self.failure(problem) from problem

    def make_room(self) -> None:
        """Close files until one more may be open."""
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
                    _sync(file.fileno())
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
        if _WINDOWS:  # which has no such call, and needs none
            return
        with self.failures():
            fd = os.open(self.full(folder), os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

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
