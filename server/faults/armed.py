"""A rule in force: how many requests it has met, and whether it applies to the next.

This file decides by counting and by the rule's own generator of random numbers; it knows neither node nor request.
"""

from __future__ import annotations

from random import Random

from .rule import Rule


class Armed:
    """A rule, and what became of it. `met` counts the requests that matched, `hits` those to which it was applied."""

    __slots__ = ("_random", "hits", "met", "rule")

    def __init__(self, rule: Rule, seed: int) -> None:
        self.rule = rule
        self.met = self.hits = 0
        self._random = Random(seed if rule.seed is None else rule.seed)

    def applies(self) -> bool:
        """Whether it applies to the request that it has just met."""
        self.met += 1
        if self.met < self.rule.on_call:
            return False
        if self.rule.probability is not None and self._random.random() >= self.rule.probability:
            return False
        self.hits += 1
        return True

    @property
    def spent(self) -> bool:
        """Whether it was applied as often as it is to be."""
        return self.rule.times is not None and self.hits >= self.rule.times

    def __repr__(self) -> str:
        return f"{self.rule!r}: applied {self.hits} times"
