"""Which records of a partition of `__share_group_state` are still needed (KIP-932; Kafka:
`ShareCoordinatorOffsetsManager`).

The state of a share partition is its last snapshot and the updates after it. So every record before
the oldest of the last snapshots is redundant, and can be deleted.
"""

from __future__ import annotations

from .persister import SharePartitionKey


class ShareCoordinatorOffsetsManager:
    """The offset of the last snapshot of each share partition."""

    def __init__(self) -> None:
        # In the order of the offsets: a later snapshot moves its share partition to the end.
        self._offsets: dict[SharePartitionKey, int] = {}
        self._last_redundant_offset = 0

    def update_state(self, key: SharePartitionKey, offset: int, is_delete: bool) -> None:
        """A snapshot or a tombstone was replayed."""
        self._offsets.pop(key, None)
        self._offsets[key] = offset
        self._last_redundant_offset = next(iter(self._offsets.values()))
        if is_delete:
            del self._offsets[key]

    @property
    def last_redundant_offset(self) -> int | None:
        """The offset before which no record is needed; None if every record is."""
        return self._last_redundant_offset or None

    def __repr__(self) -> str:
        return f"{len(self._offsets)} snapshots, nothing before offset {self._last_redundant_offset} is needed"
