"""The order in which requests of a recording are sent again.

Rules. A request waits for every answer that the recorded server had given when the request came:
its sender, or a program that talked to its sender, may have known that answer. A request that
reads (Fetch) waits in addition for every write that was answered before the Fetch was, so that it
finds what it found. These rules never make two requests wait for each other: one waits only for
answers that were given before its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.api_keys import ApiKeys

from .exchange import Exchange

READS = (ApiKeys.FETCH, ApiKeys.SHARE_FETCH)

WAITS_FOR_OTHERS = (*READS, ApiKeys.JOIN_GROUP, ApiKeys.SYNC_GROUP)
"""APIs whose answers may wait for requests of other clients."""


class CausalOrder:
    """The exchanges that are over, and those that may begin."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._all = _EndOrder(exchanges)
        self._writes = _EndOrder([exchange for exchange in exchanges if exchange.api_key not in WAITS_FOR_OTHERS])
        self._done: set[int] = set()

    def done(self, exchange: Exchange) -> None:
        """Marks an exchange as done: it has its answer, or will have none."""
        self._done.add(exchange.number)
        self._all.advance(self._done)
        self._writes.advance(self._done)

    def may_begin(self, exchange: Exchange) -> bool:
        """Whether nothing that it waits for is under way."""
        if not self._all.is_over_before(exchange.began_us):
            return False
        return exchange.api_key not in READS or self._writes.is_over_before(exchange.ended_us)


class _EndOrder:
    """Exchanges in the order in which they ended; the first `_over` of them are over."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._in_order = sorted(exchanges, key=lambda exchange: (exchange.ended_us, exchange.number))
        self._over = 0

    def advance(self, done: set[int]) -> None:
        while self._over < len(self._in_order) and self._in_order[self._over].number in done:
            self._over += 1

    def is_over_before(self, time_us: int) -> bool:
        """Whether everything is over that ended before this time."""
        return self._over == len(self._in_order) or self._in_order[self._over].ended_us >= time_us
