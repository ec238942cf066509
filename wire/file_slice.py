"""A part of a file that is sent without being read into memory: a position and a size.

A message may hold a FileSlice in place of records. The code that writes to a socket sends it from
the file; all other code calls `read`.
"""

from collections.abc import Iterable

from .checksum import Buffer


class FileSlice:
    """`size` bytes from `position` of the file with the descriptor `fileno`. The bytes do not
    change, and they exist as long as this object does: before a file is truncated, its slices are
    copied into memory. `size` and `position` change as bytes are sent; `whole_size` does not
    change."""

    __slots__ = ("__weakref__", "_descriptor", "_kept", "position", "size", "whole_size")

    def __init__(self, descriptor: int, position: int, size: int) -> None:
        self._descriptor, self.position, self.size = descriptor, position, size
        self.whole_size = size
        self._kept: memoryview | None = None

    @property
    def in_file(self) -> bool:
        """Whether the bytes are still in the file. If not, `read` returns them from memory."""
        return self._kept is None

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> Buffer:
        """All remaining bytes."""
        return self._load() if self._kept is None else self._kept

    def read_first(self, size: int) -> Buffer:
        """The first `size` remaining bytes, without removing them."""
        if self._kept is not None:
            return self._kept[:size]
        left, self.size = self.size, min(size, self.size)
        try:
            return self._load()
        finally:
            self.size = left

    def _load(self) -> bytes:
        raise NotImplementedError

    def keep(self) -> None:
        """Copies the bytes into memory, because the file is about to lose them."""
        if self._kept is None:
            self._kept = memoryview(self._load())

    def skip(self, size: int) -> None:
        """Drops the first bytes, which were sent."""
        self.position += size
        self.size -= size
        if self._kept is not None:
            self._kept = self._kept[size:]

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"{self.size} bytes of a file, from {self.position} on"


def in_one_piece(buffers: Iterable[Buffer | FileSlice]) -> bytes:
    """The bytes of buffers and of slices of files, in one piece."""
    return b"".join(buffer.read() if isinstance(buffer, FileSlice) else buffer for buffer in buffers)
