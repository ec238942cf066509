"""What a mutation is, how it replaces a part of the core for a while, and which seeds detect it:
used by every simulation."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from .outcome import Outcome

Put = tuple[Any, str, Any]
"""The replacement of an attribute of a module or a class."""


class Mutation(NamedTuple):
    """`shows_in`: the scenarios that are played, seed after seed, until one detects the mutation.
    `begins_with`: the seed that is played first, where one is known to detect it; the others of the
    dose follow."""

    breaks: str
    puts: tuple[Put, ...]
    shows_in: tuple[str, ...]
    begins_with: int = 0


@contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """Breaks this rule of the core while the context lasts."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in mutation.puts]
    try:
        for owner, name, instead in mutation.puts:
            setattr(owner, name, instead)
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


class Mutations(NamedTuple):
    """The mutations of one simulation. `run(seed, scenario=...)` plays it; `seeds` is the dose: the
    number of seeds that are played before a mutation counts as undetected."""

    run: Callable[..., Outcome]
    seeds: int
    rows: Mapping[str, Mutation]

    def outcomes(self, name: str) -> Iterator[Outcome]:
        """The outcome of each seed of the dose with this rule broken."""
        mutation = self.rows[name]
        for number in range(self.seeds):
            seed = (mutation.begins_with + number) % self.seeds
            with mutated(mutation):
                outcome = self.run(seed, scenario=mutation.shows_in[seed % len(mutation.shows_in)])
            yield outcome

    def first_to_fail(self, name: str) -> Outcome | None:
        """The first outcome with a broken promise, in the order of play; None when no seed of the
        dose has one."""
        return next((outcome for outcome in self.outcomes(name) if outcome.broken), None)

    def main(self) -> None:
        """Prints how many seeds detect each mutation, or each whose name has the given words."""
        for name in self.rows:
            if not all(word in name for word in sys.argv[1:]):
                continue
            outcomes = [outcome for outcome in self.outcomes(name) if outcome.broken]
            verdict = "SURVIVES"
            if outcomes:
                first = min(outcomes, key=lambda outcome: outcome.seed)
                verdict = f"first by seed {first.seed:2}, by {len(outcomes):2} of {self.seeds}: {first.scenario}: "
                verdict += first.broken.splitlines()[0]
            print(f"{name}: {verdict[:230]}", flush=True)
