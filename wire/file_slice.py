"""Bytes that lie in a file, and go out without being read by us: a length, and where they are.

A message may have them where it has records. Whoever writes to a socket looks for them; to everybody else `read` gives them.
"""

from .checksum import Buffer


class FileSlice:
    """`size` bytes from `position` on of the file that `fileno` gives. They never change, and are there for as long as this is: whoever cuts
    the file has them kept in memory first. It is less of them when some have gone."""

    __slots__ = ("__weakref__", "_descriptor", "_kept", "position", "size")

    def __init__(self, descriptor: int, position: int, size: int) -> None:
        self._descriptor, self.position, self.size = descriptor, position, size
        self._kept: memoryview | None = None

    @property
    def in_file(self) -> bool:
        """Whether they still lie where `fileno` and `position` say; if not, `read` has them."""
        return self._kept is None

    def fileno(self) -> int:
        return self._descriptor

    def read(self) -> Buffer:
        """All of them."""
        return self._load() if self._kept is None else self._kept

    def _load(self) -> bytes:
        raise NotImplementedError

    def keep(self) -> None:
        """The file will not have them any more."""
        if self._kept is None:
            self._kept = memoryview(self._load())

    def skip(self, size: int) -> None:
        """The first ones have gone."""
        self.position += size
        self.size -= size
        if self._kept is not None:
            self._kept = self._kept[size:]

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"{self.size} bytes of a file, from {self.position} on"
