"""An armed rule: how many requests it has met, and whether it applies to the next one.

It decides by counting and by the rule's own random numbers, and knows neither a node nor a request.
"""

from __future__ import annotations

from random import Random

from .rule import Rule


class Armed:
    """A rule and its counts: `met` requests matched, and it was applied to `hits` of them."""

    __slots__ = ("_random", "hits", "met", "rule")

    def __init__(self, rule: Rule, seed: int) -> None:
        self.rule = rule
        self.met = self.hits = 0
        self._random = Random(seed if rule.seed is None else rule.seed)

    def applies(self) -> bool:
        """Whether it applies to the request that it meets now."""
        self.met += 1
        if self.met < self.rule.on_call:
            return False
        if self.rule.probability is not None and self._random.random() >= self.rule.probability:
            return False
        self.hits += 1
        return True

    @property
    def spent(self) -> bool:
        """Whether it was applied `times` times."""
        return self.rule.times is not None and self.hits >= self.rule.times

    def __repr__(self) -> str:
        return f"{self.rule!r}: applied {self.hits} times"
