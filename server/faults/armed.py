"""An armed rule: how many requests it has met, and whether it applies to the next one.

It decides by counting, by time and by the rule's own random numbers, and knows neither a node nor a
request.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ..metadata.image import Image
from ..requests.waiting import Waiters
from .rule import Rule


class Armed:
    """A rule and its counts: `met` requests matched, and it was applied to `hits` of them.

    `since` is when it was armed (ms), `image` is the metadata of then, for an action that needs
    it. `paused` are the requests that it holds until it is released. `on_hit` is called after each
    hit.
    """

    __slots__ = ("_random", "hits", "image", "is_released", "met", "on_hit", "paused", "rule", "since")

    def __init__(self, rule: Rule, seed: int, since: int = 0, image: Image | None = None) -> None:
        self.rule, self.since, self.image = rule, since, image
        self.met = self.hits = 0
        self.paused, self.is_released = Waiters(), False
        self.on_hit: list[Callable[[], None]] = []
        self._random = Random(seed if rule.trigger.seed is None else rule.trigger.seed)

    def applies(self, now: int) -> bool:
        """Whether it applies to the request that it meets now."""
        trigger = self.rule.trigger
        if now < self._begin or self.is_over(now):
            return False
        self.met += 1
        if self.met < trigger.on_call:
            return False
        if trigger.probability is not None and self._random.random() >= trigger.probability:
            return False
        self.hits += 1
        for each in list(self.on_hit):
            each()
        return True

    @property
    def _begin(self) -> int:
        return self.since + round((self.rule.trigger.after_seconds or 0) * 1000)

    def is_over(self, now: int) -> bool:
        """Whether its time is over."""
        length = self.rule.trigger.for_seconds
        return length is not None and now >= self._begin + round(length * 1000)

    @property
    def spent(self) -> bool:
        """Whether it was applied `times` times."""
        return self.rule.trigger.times is not None and self.hits >= self.rule.trigger.times

    def release(self) -> None:
        """Let the requests go on that it holds; it holds no further ones."""
        self.is_released = True
        self.paused.wake_all()

    def __repr__(self) -> str:
        return f"{self.rule!r}: applied {self.hits} times"
