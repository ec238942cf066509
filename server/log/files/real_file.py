"""A file of a `RealDisk`: it is opened at its first use, and again after the disk has closed it.

Readers use pread, writers append (writev on a file that was opened for appending), so neither
depends on the other's file position. The system cannot append in front of preallocated bytes: such
a file is written at its end instead.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakSet, ref

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .disk import WORTH_IT, FlushStep
from .errors import LostFile

if TYPE_CHECKING:
    from .real_disk import RealDisk

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
WINDOWS = sys.platform == "win32"


def _write_joined(fd: int, buffers: Sequence[Buffer]) -> int:
    return os.write(fd, b"".join(buffers))


def _seek_and_read(fd: int, size: int, position: int) -> bytes:
    os.lseek(fd, position, os.SEEK_SET)
    return os.read(fd, size)


_write: Callable[[int, Sequence[Buffer]], int] = getattr(os, "writev", _write_joined)
_read: Callable[[int, int, int], bytes] = getattr(os, "pread", _seek_and_read)
sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class RealFile:
    """A file that is open, or that is opened at its next use."""

    __slots__ = ("__weakref__", "_disk", "_fd", "_has_room", "_lent", "_path", "size")

    def __init__(self, disk: RealDisk, path: str) -> None:
        self._disk, self._path = disk, path
        self._fd = -1
        self._has_room = False  # preallocated bytes follow its contents
        self._lent: ref[_Lent] | None = None  # while a slice of it is in use
        self.size = os.fstat(self._opened(os.O_CREAT)).st_size

    def _opened(self, more_flags: int = 0) -> int:
        """The file descriptor. The file is created only the first time: a file that was deleted
        later must not be replaced by an empty one."""
        if self._fd < 0:
            self._disk.make_room()
            flags = _FLAGS & ~os.O_APPEND if self._has_room else _FLAGS
            self._fd = os.open(self._path, flags | more_flags, 0o644)
            self._disk.opened(self)
        return self._fd

    def append(self, buffers: Sequence[Buffer]) -> None:
        self._disk.check()
        due = len(buffers[0]) if len(buffers) == 1 else sum(map(len, buffers))
        try:
            if self._disk.faults is not None:
                self._disk.faults.append(self._path, self.size)
            fd = self._fd if self._fd >= 0 else self._opened()
            if self._has_room:
                os.lseek(fd, self.size, os.SEEK_SET)
            written = os.write(fd, buffers[0]) if len(buffers) == 1 else _write(fd, buffers)
            if written < due:
                self._append_rest(b"".join(buffers), written)
        except OSError as problem:
            # What the append has written, if the system still allows it.
            with suppress(OSError):
                os.ftruncate(self._opened(), self.size)
            raise self._disk.failure(problem) from problem
        self.size += due

    def _append_rest(self, data: bytes, written: int) -> None:
        with memoryview(data) as view:
            while written < len(data):
                written += os.write(self._opened(), view[written:])

    def preallocate(self, size: int) -> None:
        if size <= self.size or self._has_room:
            return
        # The system puts what it appends after all bytes, so such a file is opened otherwise.
        self.close()
        self._has_room = True
        with self._disk.failures():
            os.ftruncate(self._opened(), size)

    def trim(self) -> None:
        if self._has_room:
            with self._disk.failures():
                os.ftruncate(self._opened(), self.size)
            self.close()
            self._has_room = False

    def read(self, position: int, size: int) -> bytes:
        self._disk.check()
        if position < 0:  # A wrong index leads here; no file has such a byte.
            return b""
        if self._has_room:
            size = max(0, min(size, self.size - position))
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
            for file_slice in () if lent is None else lent.slices:
                if file_slice.position + file_slice.size > size:
                    file_slice.keep()
            with self._disk.failures():
                os.ftruncate(self._opened(), size)
            self.size = size

    def view(self) -> memoryview:
        if not self.size:
            return memoryview(b"")
        with self._disk.failures():
            return memoryview(mmap.mmap(self._opened(), self.size, access=mmap.ACCESS_READ))

    def slice(self, position: int, size: int) -> bytes | FileSlice:
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
        stretch = _FileStretch(self._disk, lent, position, size)
        lent.slices.add(stretch)
        return stretch

    def flush(self) -> None:
        with self._disk.failures():
            if self._disk.faults is None or self._disk.faults.flush(self._path, self.size):
                sync(self._opened())

    def flushing(self) -> FlushStep:
        with self._disk.failures():
            if self._disk.faults is not None and not self._disk.faults.flush(self._path, self.size):
                return no_flush
            return DescriptorFlush(self._disk, os.dup(self._opened()))

    def rename(self, path: str) -> None:
        to = self._disk.full(path)
        if WINDOWS:  # an open file cannot be renamed there
            self.close()
        with self._disk.failures():
            os.replace(self._path, to)
        self._path = to

    def moved(self, path: str) -> None:
        self._path = self._disk.full(path)

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


def no_flush() -> None:
    """A flush that a fault rule loses."""


class DescriptorFlush:
    """A flush of a file or folder for another thread. It has its own file descriptor: that of the
    file may be closed, and given to another file, at any time."""

    __slots__ = ("_disk", "_fd", "_sync")

    def __init__(self, disk: RealDisk, fd: int, do: Callable[[int], None] = sync) -> None:
        self._disk, self._fd, self._sync = disk, fd, do

    def __call__(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                with self._disk.failures():
                    self._sync(fd)
            finally:
                os.close(fd)

    def __del__(self) -> None:
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)


class _Lent:
    """One file descriptor for all slices of a file: the file may be closed or removed before
    they are sent."""

    __slots__ = ("__weakref__", "descriptor", "slices")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.slices = WeakSet[FileSlice]()

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
