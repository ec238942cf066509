"""The seam to the file system: every touch of it by a log goes through a `Disk`, so that a simulated one can take its place.

A disk is one log dir. Paths are relative to it, with `/` between folder and file. Rules for every disk. What was appended is the system's
when the call returns, and so outlives this process (not the machine: that takes a flush). A read gives bytes of its own, which stay good
whatever happens to the file. Names are made durable by the folder's flush, contents by the file's. What the system refuses is a
DiskFailure; a file or folder that is missing is one too, but for removing it. A disk that has failed once refuses everything from then on:
nobody knows any more what is on it (KIP-112). Only a LostFile, of one partition, is not the end of the disk.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Protocol

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.file_slice import FileSlice

from .errors import DiskFailure

Flushing = Callable[[], None]
"""A flush that is still to be done, once, on any thread; raises DiskFailure."""

WORTH_IT = 64 << 10
"""Bytes from which on it is cheaper not to read them."""


class File(Protocol):
    """A file that may be read anywhere, and is only ever appended to or cut."""

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    def append(self, buffers: Sequence[Buffer]) -> None:
        """Write these, one after the other, at the end: all of them, or DiskFailure and none."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """That many bytes, or fewer where the file ends."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file off; its size is never made larger."""
        ...

    def view(self) -> memoryview:
        """All of it, mapped; only of a file that is neither appended to nor cut while the view lives."""
        ...

    def stretch(self, position: int, size: int) -> bytes | FileSlice:
        """The bytes that `read` gives, perhaps without reading them. They stay good as those do."""
        ...

    def flush(self) -> None:
        """Wait until what was written would outlive the machine."""
        ...

    def flushing(self) -> Flushing:
        """`flush` for another thread: of what was written up to now, even if the file is renamed, cut or closed before it is run."""
        ...

    def rename(self, path: str) -> None:
        """Give the file another name in the same folder; one that has this name already is gone."""
        ...

    def close(self) -> None:
        """Give back what an open file costs; using it again opens it again."""
        ...


class Disk(Protocol):
    """A log dir."""

    @property
    def failed(self) -> DiskFailure | None:
        """What the system refused first."""
        ...

    def watch(self, told: Callable[[DiskFailure], None]) -> None:
        """Have `told` called when the disk fails, once, and for each LostFile, on whatever thread that happens; it replaces whoever was told
        before."""
        ...

    def space(self) -> tuple[int, int] | None:
        """Bytes of the volume, and those that can still be used; -1 where there is none, None where the system does not say."""
        ...

    def names(self, folder: str) -> builtins.list[str]:
        """The names of the files in a folder, in no order; not those of its folders."""
        ...

    def folders(self) -> builtins.list[str]:
        """The names of the folders in the log dir."""
        ...

    def exists(self, path: str) -> bool: ...

    def open(self, path: str) -> File:
        """A file to append to; made when it is missing."""
        ...

    def rename(self, path: str, to: str) -> None:
        """Of a file that is not open, or a folder of which no file is."""
        ...

    def remove(self, path: str) -> None:
        """Delete a file; nothing happens when it is missing."""
        ...

    def make_folder(self, folder: str) -> None:
        """Make a folder, if it is not there."""
        ...

    def remove_folder(self, folder: str) -> None:
        """Delete a folder with all its files; nothing happens when it is missing."""
        ...

    def read_whole(self, path: str) -> bytes: ...

    def write_whole(self, path: str, data: Buffer, *, flush: bool = True) -> None:
        """Put a file there that holds just this, or leave what is there: never part of it (written beside it, and renamed). Without `flush`
        that holds for the end of the process, not of the machine."""
        ...

    def size(self, path: str) -> int:
        """In bytes."""
        ...

    def modified(self, path: str) -> int:
        """When the file was last written to (ms since the epoch)."""
        ...

    def flush_folder(self, folder: str) -> None:
        """Wait until the names of the files in it would outlive the machine."""
        ...
