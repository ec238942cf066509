"""The interface to the file system. Logs use files only through a `Disk`, so that tests can
simulate one.

A disk is one log directory. Paths are relative to it, with `/` between folder and file. Rules for
every disk. Appended bytes belong to the system when the call returns, so they outlive this process;
only a flush makes them outlive the machine. A read gives a copy, which stays good whatever happens
to the file. Flushing a folder makes its names durable, flushing a file its contents. An operation
that the system refuses raises DiskFailure, also for a missing file or folder; only the removal of a
missing file is no error. A disk that has failed once refuses everything from then on, because its
contents are unknown (KIP-112). Only a LostFile, of one partition, leaves the disk in use.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Protocol

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .errors import DiskFailure

FlushStep = Callable[[], None]
"""A flush that is to be run once, on any thread; raises DiskFailure."""

WORTH_IT = 64 << 10
"""From this size in bytes on, it is cheaper to send a part of a file without reading it."""


class OperationFaults(Protocol):
    """Fault rules that a disk asks before an operation on a file, which has its full path. They
    raise the OSError with which the system would fail it."""

    def append(self, path: str, size: int) -> None:
        """Before an append to a file of this size."""
        ...

    def read(self, path: str) -> None: ...

    def flush(self, path: str, size: int) -> bool:
        """Before a flush; False if it is not to be done, and reported as done."""
        ...


class File(Protocol):
    """A file that is read anywhere, and only appended to or truncated."""

    @property
    def size(self) -> int:
        """Its size in bytes."""
        ...

    def append(self, buffers: Sequence[Buffer]) -> None:
        """Appends the buffers, one after the other: all of them, or DiskFailure and none."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """That many bytes, or fewer at the end of the file."""
        ...

    def truncate(self, size: int) -> None:
        """Makes the file shorter; a larger size changes nothing."""
        ...

    def view(self) -> memoryview:
        """All of it, mapped. The file must not be appended to or truncated while the view lives."""
        ...

    def slice(self, position: int, size: int) -> bytes | FileSlice:
        """The bytes that `read` would give, perhaps without reading them. They stay good as a copy
        does."""
        ...

    def flush(self) -> None:
        """Waits until everything that was written would outlive the machine."""
        ...

    def flushing(self) -> FlushStep:
        """A flush for another thread. It covers what was written up to now, even if the file is
        renamed, truncated or closed before it runs."""
        ...

    def rename(self, path: str) -> None:
        """Renames the file within its folder; another file of that name is replaced."""
        ...

    def moved(self, path: str) -> None:
        """Its folder was renamed while the file was closed: from now on this is its path."""
        ...

    def preallocate(self, size: int) -> None:
        """Reserves `size` bytes for an empty file: it has zeros after its contents, until they are
        truncated or `trim`med. `size` of the file does not count them."""
        ...

    def trim(self) -> None:
        """Cuts off what was preallocated and not written to."""
        ...

    def close(self) -> None:
        """Closes the file descriptor. The next use opens it again."""
        ...


class Disk(Protocol):
    """A log directory."""

    @property
    def failed(self) -> DiskFailure | None:
        """The first failure, if the disk has failed."""
        ...

    def fail(self, why: str) -> None:
        """Takes the disk out of use, as after a failure of the system: a file is damaged that
        counts for all of it."""
        ...

    def watch(self, on_failure: Callable[[DiskFailure], None]) -> None:
        """Calls `on_failure` once when the disk fails, and for each LostFile, on the thread where
        it happens. It replaces an earlier callback."""
        ...

    def space(self) -> tuple[int, int] | None:
        """The size of the volume and its usable space in bytes, each -1 when unknown; None when the
        system does not tell."""
        ...

    def names(self, folder: str) -> builtins.list[str]:
        """The names of the files in a folder, in no order, without those of its folders."""
        ...

    def folders(self) -> builtins.list[str]:
        """The names of the folders in the log directory."""
        ...

    def exists(self, path: str) -> bool: ...

    def open(self, path: str) -> File:
        """A file to append to; it is made when it is missing."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Renames a file that is not open, or a folder without open files."""
        ...

    def remove(self, path: str) -> None:
        """Deletes a file; a missing one is no error."""
        ...

    def make_folder(self, folder: str) -> None:
        """Makes a folder, if it is missing."""
        ...

    def remove_folder(self, folder: str) -> None:
        """Deletes a folder with all its files; a missing one is no error."""
        ...

    def read_whole(self, path: str) -> bytes: ...

    def write_whole(self, path: str, data: Buffer, *, flush: bool = True) -> None:
        """Replaces the contents of a file, as a whole or not at all: they are written to another
        file, which is renamed. Without `flush` this holds for the end of the process, but not of
        the machine."""
        ...

    def size(self, path: str) -> int:
        """The size of a file in bytes."""
        ...

    def modified(self, path: str) -> int:
        """When the file was last written to (ms since the epoch)."""
        ...

    def flush_folder(self, folder: str) -> None:
        """Waits until the names of the files in the folder would outlive the machine."""
        ...

    def flushing_folder(self, folder: str) -> FlushStep:
        """A flush of a folder for another thread, even if the folder is renamed before it runs."""
        ...
