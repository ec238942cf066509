"""What a mutation is, and how one is put in the place of the core and taken out again: for every simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Put = tuple[Any, str, Any]
"""In the place of an attribute of a module or a class."""


class Mutation(NamedTuple):
    """`shows_in`: the scenarios that are played, seed after seed, until one of them tells."""

    breaks: str
    puts: tuple[Put, ...]
    shows_in: tuple[str, ...]


@contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """The core with this rule broken, for as long as that lasts."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in mutation.puts]
    try:
        for owner, name, instead in mutation.puts:
            setattr(owner, name, instead)
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)
