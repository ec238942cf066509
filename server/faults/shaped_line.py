"""Both directions of one connection under the rules: bytes go in, and come out when the rules let
them.

    line.put(OUT, data, now)       # bytes came
    line.take(OUT, now)            # the bytes that pass now, piece by piece
    line.next_deadline(now)        # when to call `take` again (ms)

Rules. A rule meets a connection once, with the first bytes in either direction that come while the
rule is armed and its time has begun, and decides about all that follows; one with a client id meets
it with the answer to the first request. A reset and a slow close meet it when they would take
effect. This file knows no socket and no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from .armed import Armed
from .connection_actions import HalfOpen, RefuseConnections, ResetAfter, SlowClose, close_delay_ms
from .match import Match
from .pacing import Effect, Pacing

IN, OUT = 0, 1
"""From the client, and to it."""

AT_AN_EVENT = (RefuseConnections, SlowClose)
"""Actions that wait for a connection to begin or to end."""


class ShapedLine:
    """One connection. `rules` are those in force, oldest first, and `concerns` says which of them
    match the connection."""

    def __init__(self, rules: Sequence[Armed], concerns: Callable[[Match], bool]) -> None:
        self._rules, self._concerns = rules, concerns
        self._met: dict[Armed, Effect | None] = {}
        self._effects: list[Effect] = []
        self._pacings = Pacing(self._effects), Pacing(self._effects)
        self._closing_since: int | None = None
        self._slow_closes: list[Armed] = []
        self._held: tuple[deque[memoryview], deque[memoryview]] = deque(), deque()

    def put(self, direction: int, data: bytes, now: int) -> None:
        """Bytes came."""
        if data:
            # Only the rules decide that have not met the connection.
            for armed in self._rules:
                action, is_begun = armed.rule.action, armed.begin <= now and not armed.is_over(now)
                if armed in self._met or isinstance(action, AT_AN_EVENT) or armed.spent or not is_begun:
                    continue
                if self._concerns(armed.rule.match):
                    applies = isinstance(action, ResetAfter) or armed.applies(now)
                    self._met[armed] = effect = Effect(armed) if applies else None
                    self._effects += [] if effect is None else [effect]
            self._held[direction].append(memoryview(data))
            self._pacings[direction].put(len(data), now)

    def take(self, direction: int, now: int) -> list[memoryview]:
        """The bytes that pass now, piece by piece."""
        return [self._cut(self._held[direction], size) for size in self._pacings[direction].take(now)]

    def _cut(self, held: deque[memoryview], size: int) -> memoryview:
        first = held[0]
        if size == len(first):
            return held.popleft()
        held[0] = first[size:]
        return first[:size]

    def is_reset(self, now: int) -> bool:
        """Whether so many bytes have passed that a rule resets the connection."""
        for pacing in self._pacings:
            effect, pacing.tripped = pacing.tripped, None
            if effect is None or effect not in self._effects:
                continue
            self._effects.remove(effect)
            if effect.armed.applies(now):
                return True
        return False

    def begin_close(self, now: int) -> None:
        """The connection would close now."""
        if self._closing_since is None:
            self._closing_since = now
            self._slow_closes = [
                armed
                for armed in list(self._rules)
                if isinstance(armed.rule.action, SlowClose) and self._concerns(armed.rule.match) and armed.applies(now)
            ]

    @property
    def closes_at(self) -> int | None:
        """When a connection is closed that would have closed before (ms); None for another one."""
        if self._closing_since is None:
            return None
        actions = [close.rule.action for close in self._slow_closes if not close.is_released]
        return self._closing_since + close_delay_ms(actions)

    def is_half_open(self, now: int) -> bool:
        """Whether nothing passes."""
        return any(isinstance(effect.action, HalfOpen) and effect.is_in_force(now) for effect in self._effects)

    def size(self, direction: int) -> int:
        """The bytes that have not passed."""
        return self._pacings[direction].size

    def forget_released(self) -> None:
        """Drops what is known of rules that were released, or are over."""
        self._effects[:] = [effect for effect in self._effects if not effect.armed.is_released]
        kept = {*self._rules, *(effect.armed for effect in self._effects)}
        self._met = {armed: effect for armed, effect in self._met.items() if armed in kept}

    def next_deadline(self, now: int) -> int | None:
        """When something passes, unless more is put or released (ms)."""
        found = [pacing.next_deadline(now) for pacing in self._pacings]
        ends = [each.armed.end for each in self._effects if isinstance(each.action, HalfOpen) and each.is_in_force(now)]
        return min((each for each in (*found, *ends) if each is not None), default=None)

    def __repr__(self) -> str:
        return f"{self.size(IN)} bytes held of the client, {self.size(OUT)} for it"
