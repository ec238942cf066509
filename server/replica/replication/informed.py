"""The followers of a partition: where their fetches hang, and which of them have been told all there is (KIP-227).

Rules. Who has been told everything asks on in his session, and his fetches do not look at this partition until something moves here; then his
session is told, once, and he is not among the informed until a reading finds again that there is nothing to say. Each of those fetches said
that he still had everything, so the time of the last one counts. One entry for each broker: a fetch of another session takes the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...requests.waiting import Waiters

if TYPE_CHECKING:
    from ..fetching.wanted import Wanted
    from .in_sync import InSync


class Session(Protocol):
    """As much of a follower's fetch session as is needed here. Times are in ms: of its last request, and of the one before."""

    last_used: int
    used_before: int

    def stir(self, wanted: Wanted, amount: int | None) -> None:
        """Look at this one again, which has so many bytes more; None for whatever else may have happened."""


class Followers(Waiters):
    """Those of one partition; here hang the fetches of those who have not been told everything."""

    __slots__ = ("_informed",)

    def __init__(self) -> None:
        super().__init__()
        self._informed: dict[int, tuple[Session, Wanted]] = {}

    def inform(self, broker: int, session: Session, wanted: Wanted) -> None:
        """There is nothing to tell to this one, whom `asks` named last."""
        self._informed[broker] = session, wanted

    def asks(self, broker: int, session: Session | None, in_sync: InSync) -> None:
        """A broker's fetch is about to look, in this session if any."""
        known = self._informed.pop(broker, None)
        if known is None:
            return
        if known[0] is session:
            in_sync.still_had_all(broker, known[0].used_before)
        else:
            in_sync.still_had_all(broker, known[0].last_used)
            known[0].stir(known[1], None)

    def stir(self, in_sync: InSync, amount: int | None) -> None:
        """So many bytes came, 0 where others have them now, too; None for whatever else may have happened, which everybody must look at."""
        for broker, (session, wanted) in self._informed.items():
            in_sync.still_had_all(broker, session.last_used)
            session.stir(wanted, amount)
        if amount != 0:  # a fetch that waits is still to be told of bytes that come
            self._informed.clear()
        if amount is None:
            self.wake_all()
        elif amount:
            self.wake(amount)

    def __repr__(self) -> str:
        return f"{len(self.tasks)} waiting, {len(self._informed)} told everything"
