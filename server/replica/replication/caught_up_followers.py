"""Tracks which followers of a partition are caught up, and where the fetches of the others wait.

A follower that is caught up is skipped by its own incremental fetches (KIP-227). When the partition
changes, its session is marked dirty once; the next fetch reads the partition and, if nothing is
new, marks the follower as caught up again. Each skipped fetch also said that the follower still was
at the log end offset, so the time of the last one counts for the in-sync check. There is one entry
for each broker; a fetch of a newer session replaces it. If the answer to a fetch is lost, the fetch
of the older session still waits: it does not take the entry back, since the two would then wake
each other without end.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from ...requests.waiting import Waiters

SessionPartition: TypeAlias = Any
"""A partition as its fetch session has it. It is only handed back to the session."""


class CaughtUpSession(Protocol):
    """The part of a follower's fetch session that is used here.

    The times are in ms: of the session's last request, and of the one before it.
    """

    last_used: int
    used_before: int

    def mark_dirty(self, partition: SessionPartition, size_bytes: int | None) -> None:
        """The partition got `size_bytes` of records; None for any other change."""


class CaughtUpTimes(Protocol):
    """When each follower was caught up last."""

    def was_caught_up(self, broker_id: int, at: int) -> None: ...


class CaughtUpFollowers(Waiters):
    """The followers of one partition. Fetches of followers that are not caught up wait here."""

    __slots__ = ("_caught_up",)

    def __init__(self) -> None:
        super().__init__()
        self._caught_up: dict[int, tuple[CaughtUpSession, SessionPartition]] = {}

    def mark_caught_up(self, broker_id: int, session: CaughtUpSession, partition: SessionPartition) -> bool:
        """The follower knows everything of the partition. False if it has a newer session: a fetch
        of this one is not to be skipped."""
        if self._has_newer(broker_id, session):
            return False
        self._caught_up[broker_id] = session, partition
        return True

    def _has_newer(self, broker_id: int, session: CaughtUpSession) -> bool:
        known = self._caught_up.get(broker_id)
        return known is not None and known[0] is not session and session.last_used <= known[0].last_used

    def on_fetch(self, broker_id: int, session: CaughtUpSession | None, in_sync: CaughtUpTimes) -> None:
        """A fetch of the broker, in this session if any, is about to read the partition."""
        if session is not None and self._has_newer(broker_id, session):
            return
        known = self._caught_up.pop(broker_id, None)
        if known is None:
            return
        if known[0] is session:
            in_sync.was_caught_up(broker_id, known[0].used_before)
        else:
            in_sync.was_caught_up(broker_id, known[0].last_used)
            known[0].mark_dirty(known[1], None)

    def mark_dirty(self, in_sync: CaughtUpTimes, size_bytes: int | None) -> None:
        """The partition changed: let the caught-up followers read it again.

        `size_bytes` is the size of new records; 0 if other replicas have them now; None for any
        other change, which every follower must see.
        """
        for broker_id, (session, partition) in self._caught_up.items():
            in_sync.was_caught_up(broker_id, session.last_used)
            session.mark_dirty(partition, size_bytes)
        if size_bytes != 0:  # at 0, a waiting fetch must still learn of records that come
            self._caught_up.clear()
        if size_bytes is None:
            self.wake_all()
        elif size_bytes:
            self.wake(size_bytes)

    def __repr__(self) -> str:
        return f"{len(self.tasks)} waiting, {len(self._caught_up)} caught up"
