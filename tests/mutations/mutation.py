"""A mutation of the source: one rule of the product, broken by a change of its text, and the tests
that must detect it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

HOUSE = Path(__file__).resolve().parent.parent.parent


class Mutation(NamedTuple):
    """`path` is a module of the product; it contains `original` once. `tests` are paths, or paths
    with `::` and the name of a test; one of them must fail. `why` says what goes wrong for a user.
    `survives` is the reason why no test can detect it; it is empty for all others."""

    path: str
    original: str
    mutated: str
    tests: tuple[str, ...]
    why: str
    survives: str = ""

    @property
    def module(self) -> str:
        """The name under which the module is imported."""
        inside = self.path.removeprefix("src/kafkadouble/").removesuffix(".py")
        return "kafkadouble." + inside.replace("/", ".")

    def apply(self, source: str) -> str:
        """The text of the module with the rule broken. ValueError if the table is out of date."""
        if (found := source.count(self.original)) != 1:
            raise ValueError(f"{self.path} has {found} times, and not once: {self.original!r}")
        return source.replace(self.original, self.mutated)
