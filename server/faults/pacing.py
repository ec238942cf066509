"""When the bytes of one direction pass, under the rules for connections and links.

    pacing.put(100, now)      # 100 bytes came
    pacing.take(now)          # the sizes of the pieces that pass now, in order
    pacing.next_deadline(now) # when to call `take` again (ms)

Rules. Sizes go in and come out: every byte passes once, and in order. Time is given in ms, and
counted in µs, so that a small piece is not rounded up. A released rule, or one whose time is over,
holds nothing from then on. A late call of `take` loses nothing: what is due has passed when it was
due, and the rates hold over time. This file knows no bytes, no socket and no clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .armed import Armed
from .connection_actions import Bandwidth, HalfOpen, Latency, ResetAfter, SliceFrames

PIECES_PER_SECOND = 10
"""With a bandwidth, a piece is at most what passes in a tenth of a second."""

MOST_AT_ONCE = 1000
"""Pieces of one `take`; the rest is due at once."""

MS = 1000
"""In µs, in which this file counts."""


class Effect:
    """One rule that applies to a connection or to a link. `left` are the bytes until a reset, of
    both directions."""

    __slots__ = ("action", "armed", "left")

    def __init__(self, armed: Armed) -> None:
        self.armed, self.action = armed, armed.rule.action
        self.left = self.action.bytes if isinstance(self.action, ResetAfter) else 0

    def is_in_force(self, now: int) -> bool:
        """Whether the rule was not released, and its time is not over."""
        return not (self.armed.is_released or self.armed.is_over(now))

    def __repr__(self) -> str:
        return repr(self.armed)


class Chunk:
    """Bytes that came together: their size, when they came (µs), and how much later each latency
    lets them pass."""

    __slots__ = ("came", "delays", "effects", "left")

    def __init__(self, size: int, came: int, effects: Sequence[Effect], delays: dict[Effect, int]) -> None:
        self.left, self.came, self.effects, self.delays = size, came, effects, delays


class Pacing:
    """One direction. `effects` apply to everything in it; a chunk may have effects of its own."""

    def __init__(self, effects: Sequence[Effect] = ()) -> None:
        self.effects = effects
        self.size = 0
        """Bytes that have not passed."""
        self.tripped: Effect | None = None
        """The rule whose number of bytes has passed; nothing passes until it is set to None."""
        self._chunks: deque[Chunk] = deque()
        self._free: dict[Effect, int] = {}  # when the next piece may begin (µs)
        self._last = 0  # when the latest piece passed (µs)
        self._since = 0  # when the latest half-open connection ended (µs)
        self._is_held = False
        self._due = 0  # of the next piece (µs)

    def put(self, size: int, now: int, effects: Sequence[Effect] = ()) -> None:
        """These bytes came, and the effects apply to them alone."""
        delays = {each: _delay_of(each) for each in (*self.effects, *effects) if isinstance(each.action, Latency)}
        self._chunks.append(Chunk(size, now * MS, effects, delays))
        self.size += size

    def take(self, now: int) -> list[int]:
        """The sizes of the pieces that pass now. No piece is of two chunks."""
        passed: list[int] = []
        while self._chunks and self.tripped is None and len(passed) < MOST_AT_ONCE:
            effects = self._in_force(now)
            if any(isinstance(effect.action, HalfOpen) for effect in effects):
                self._is_held = True
                break
            if self._is_held:
                self._is_held, self._since = False, now * MS
            size, free = self._next(effects)
            if self._due > now * MS:
                break
            self._pass(size, free, effects)
            passed.append(size)
        return passed

    def _in_force(self, now: int) -> list[Effect]:
        return [effect for effect in (*self.effects, *self._chunks[0].effects) if effect.is_in_force(now)]

    def _next(self, effects: Iterable[Effect]) -> tuple[int, dict[Effect, int]]:
        """The size of the next piece, and from when each effect lets the one after it begin. Sets
        when the piece is due."""
        chunk, size = self._chunks[0], self._chunks[0].left
        at, free = max(chunk.came, self._since), dict[Effect, int]()
        for effect in effects:
            at += chunk.delays.get(effect, 0)
            if type(effect.action) in PIECES:
                size = min(size, PIECES[type(effect.action)](effect))
        for each in effects:
            if type(each.action) in LASTS:
                at = max(at, self._free.get(each, 0))
                at, free[each] = LASTS[type(each.action)](each.action, size, at)
        self._due = max(at, self._last)
        return size, free

    def _pass(self, size: int, free: dict[Effect, int], effects: Iterable[Effect]) -> None:
        self._free = {each: at for each, at in self._free.items() if not each.armed.is_released} | free
        self._last = self._due
        self.size -= size
        chunk = self._chunks[0]
        chunk.left -= size
        if not chunk.left:
            self._chunks.popleft()
        for effect in effects:
            if isinstance(effect.action, ResetAfter):
                effect.left -= size
                if effect.left <= 0:
                    self.tripped = effect

    def next_deadline(self, now: int) -> int | None:
        """When something passes, unless more is released (ms)."""
        if not self._chunks or self.tripped is not None:
            return None
        ends = [end for effect in self._in_force(now) if (end := effect.armed.end) is not None]
        return min([*ends, *([] if self._is_held else [-(-self._due // MS)])], default=None)

    def __repr__(self) -> str:
        return f"{self.size} bytes in {len(self._chunks)} chunks"


def _delay_of(effect: Effect) -> int:
    """In µs."""
    action = effect.action
    assert isinstance(action, Latency)
    moved = effect.armed.random.uniform(-action.jitter, action.jitter) if action.jitter else 0
    return round((action.seconds + moved) * 1_000_000)


def _at_rate(action: Bandwidth, size: int, at: int) -> tuple[int, int]:
    ends = at - (-size * 1_000_000 // action.bytes_per_second)
    return ends, ends


def _in_slices(action: SliceFrames, size: int, at: int) -> tuple[int, int]:
    return at, at + round(action.gap * 1_000_000)


PIECES: dict[type, Callable[[Any], int]] = {
    Bandwidth: lambda effect: max(1, effect.action.bytes_per_second // PIECES_PER_SECOND),
    SliceFrames: lambda effect: effect.action.bytes,
    ResetAfter: lambda effect: max(1, effect.left),
}
"""The most bytes of one piece, by the action of an Effect."""

LASTS: dict[type, Callable[..., tuple[int, int]]] = {Bandwidth: _at_rate, SliceFrames: _in_slices}
"""When a piece that begins at a time has passed, and when the next one may begin (µs)."""
