"""The fetch session of a follower: a fetch reads only the partitions that may have news (KIP-227).

Rules. A partition is dirty when a request names it, or when it changed since the last read. A read
without news makes it clean (see `caught_up_followers`). If another broker uses the session, or the
same broker with another epoch, every partition is dirty.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.fetch import FetchRequest

from ...requests.waiting import Waiters
from .cached_partition import CachedPartition, SessionKey, keys_and_partitions
from .fetch_session import FetchSession, Replica


class FollowerFetchSession(FetchSession):
    """`last_used` and `used_before` are the times (ms) of the last request and the one before it.

    The session's fetch waits at `waiters`.
    """

    __slots__ = ("_dirty", "_replica", "used_before", "waiters")

    def __init__(
        self, id: int, partitions: dict[SessionKey, CachedPartition], *, by_id: bool, privileged: bool, now: int
    ) -> None:
        super().__init__(id, partitions, by_id=by_id, privileged=privileged, now=now)
        self._dirty = dict(partitions)
        self._replica: Replica | None = None
        self.used_before, self.waiters = now, Waiters()

    def update(self, body: FetchRequest, version: int) -> None:
        super().update(body, version)
        for key, *_ in keys_and_partitions(body, version):
            self._dirty[key] = self.partitions[key]
        self._dirty = {key: each for key, each in self._dirty.items() if self.partitions.get(key) is each}

    def use(self, now: int) -> None:
        self.used_before = self.last_used
        super().use(now)

    def for_replica(self, replica: Replica | None) -> FollowerFetchSession | None:
        """Returns itself if this replica may use it."""
        if replica != self._replica:
            self._replica, self._dirty = replica, dict(self.partitions)
        return None if replica is None else self

    def partitions_to_read(self) -> Sequence[CachedPartition]:
        return list(self._dirty.values())

    def mark_clean(self, partition: CachedPartition) -> None:
        """Skips the partition until it is marked dirty."""
        self._dirty.pop(self.key_of(partition), None)

    def mark_dirty(self, partition: CachedPartition, size_bytes: int | None) -> None:
        """The partition got `size_bytes` of records; None for any other change, sent at once."""
        key = self.key_of(partition)
        if self.partitions.get(key) is not partition:
            return
        self._dirty[key] = partition
        if size_bytes is None:
            self.waiters.wake_all()
        elif size_bytes:
            self.waiters.wake(size_bytes)

    def move_to_end(self, partition: CachedPartition) -> None:
        key = self.key_of(partition)
        if self._dirty.get(key) is partition:
            self._dirty[key] = self._dirty.pop(key)
