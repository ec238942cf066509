"""The fetch session of a follower: a request looks only at those of its partitions of which there may be something to tell (KIP-227).

Rules. Due is what a request names, and what was stirred since it was read last; what was read and has nothing to tell is due no more (see
`replication.informed`). Where somebody else asks on, or the same broker in another life, everything is due.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.fetch import FetchRequest

from ...requests.waiting import Waiters
from .fetch_sessions import Asker, Session
from .wanted import Key, Wanted, keys_and_partitions


class FollowerSession(Session):
    """`last_used` and `used_before` are the times (ms) of the latest request and of the one before; `waiters` is where its fetch hangs."""

    __slots__ = ("_asker", "_due", "used_before", "waiters")

    def __init__(self, id: int, partitions: dict[Key, Wanted], *, by_id: bool, privileged: bool, now: int) -> None:
        super().__init__(id, partitions, by_id=by_id, privileged=privileged, now=now)
        self._due = dict(partitions)
        self._asker: Asker | None = None
        self.used_before, self.waiters = now, Waiters()

    def update(self, body: FetchRequest, version: int) -> None:
        super().update(body, version)
        for key, *_ in keys_and_partitions(body, version):
            self._due[key] = self.partitions[key]
        self._due = {key: wanted for key, wanted in self._due.items() if self.partitions.get(key) is wanted}

    def use(self, now: int) -> None:
        self.used_before = self.last_used
        super().use(now)

    def known_to(self, asker: Asker | None) -> FollowerSession | None:
        if asker != self._asker:
            self._asker, self._due = asker, dict(self.partitions)
        return None if asker is None else self

    def due(self) -> Sequence[Wanted]:
        return list(self._due.values())

    def told_all(self, wanted: Wanted) -> None:
        """There is nothing to tell of it until it is stirred."""
        self._due.pop(self.key_of(wanted), None)

    def stir(self, wanted: Wanted, amount: int | None) -> None:
        """So many bytes came to it; None for whatever else may have happened, which cannot wait."""
        key = self.key_of(wanted)
        if self.partitions.get(key) is not wanted:
            return
        self._due[key] = wanted
        if amount is None:
            self.waiters.wake_all()
        elif amount:
            self.waiters.wake(amount)

    def served(self, wanted: Wanted) -> None:
        key = self.key_of(wanted)
        if self._due.get(key) is wanted:
            self._due[key] = self._due.pop(key)
