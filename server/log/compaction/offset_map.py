"""The newest offset of each key in the dirty part of a log (Kafka's OffsetMap). Compaction compares
every record with it.

Rules. A key is represented by sixteen bytes of its hash, as in Kafka, so that a long key takes no
more memory than a short one. The map is bounded: when it is full, the rest of the log waits for the
next cleaning.
"""

from __future__ import annotations

from hashlib import blake2b

from kafkadouble.wire.errors import UsageError

DIGEST = 16


class OffsetMap:
    """Key -> its newest offset. `latest` is the last offset that was read, -1 before the first."""

    __slots__ = ("_offsets", "latest", "most")

    def __init__(self, most: int) -> None:
        if most < 1:
            raise UsageError(f"a map of {most} keys holds nothing")
        self.most, self.latest = most, -1
        self._offsets: dict[bytes, int] = {}

    @property
    def full(self) -> bool:
        return len(self._offsets) >= self.most

    def put(self, key: bytes, offset: int) -> None:
        """A record with this key is at `offset`, after all that were put before."""
        self._offsets[_digest(key)] = offset

    def newest(self, key: bytes) -> int:
        """The offset of the newest record with this key, -1 for none."""
        return self._offsets.get(_digest(key), -1)

    def __len__(self) -> int:
        return len(self._offsets)

    def __repr__(self) -> str:
        return f"{len(self._offsets)} keys up to offset {self.latest}"


def _digest(key: bytes) -> bytes:
    return key if len(key) < DIGEST else blake2b(key, digest_size=DIGEST).digest()
