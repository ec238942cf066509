"""The state that the connections of one replay share: the order, the ids, and the findings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from .comparison.answer_comparison import AnswerComparison, FieldDifference
from .comparison.id_translation import IdTranslation
from .recorded.causal_order import CausalOrder
from .recorded.exchange import Exchange
from .recorded.recording import Recording
from .replay_report import ReplayReport
from .retrying import was_early
from .target import Address, TargetConnection
from .target_security import PLAINTEXT, TargetSecurity


class ReplayOptions(NamedTuple):
    """`patience` is how long (s) an answer may take beyond the recorded time, and how long a
    request is sent again. `ignored`: further fields that may differ. `creates_topics`: create at
    the target the topics that the recorded cluster had before the recording. `security` is that of
    connections to the target."""

    patience: float = 30.0
    ignored: frozenset[str] = frozenset()
    creates_topics: bool = False
    security: TargetSecurity = PLAINTEXT


class ReplayRun:
    """`addresses` are those of the nodes that stand for the recorded ones."""

    def __init__(
        self, recording: Recording, addresses: Mapping[int, Address], nodes: Mapping[int, int], options: ReplayOptions
    ) -> None:
        self.addresses, self.options = addresses, options
        self.ids = IdTranslation(nodes)
        self.report = ReplayReport(recording)
        self._comparison = AnswerComparison(self.ids, options.ignored)
        self._order = CausalOrder(recording.exchanges)
        self._changed = asyncio.Condition()

    async def connected(self, node: int) -> TargetConnection:
        """A connection to the node that stands for a recorded one. Raises TargetError."""
        return await TargetConnection.open(self.addresses[node], self.options.patience, self.options.security)

    async def turn_of(self, exchange: Exchange) -> None:
        """Waits until the request may be sent."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._order.may_begin(exchange))

    async def over(self, exchange: Exchange) -> None:
        """The exchange is over: others may begin."""
        async with self._changed:
            self._order.done(exchange)
            self._changed.notify_all()

    async def answered(self, exchange: Exchange, recorded: Any, found: Any) -> None:
        """Compares the answer that was found; the exchange is over."""
        if was_early(recorded, found):
            self.report.early += 1
        else:
            self.report.compared += 1
            self.report.add(exchange, self._comparison.differences(exchange, recorded, found))
        await self.over(exchange)

    async def differs(self, exchange: Exchange, recorded: str, found: str) -> None:
        """The exchange as a whole is not as recorded; it is over."""
        self.report.add(exchange, [FieldDifference("", recorded, found)])
        await self.over(exchange)
