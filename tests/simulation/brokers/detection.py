"""The check of the mutations of brokers: a seed detects each, and only because of the mutation."""

from __future__ import annotations

from functools import cache

from ..mutating import Mutations
from .run import run


def assert_detected(all: Mutations, name: str) -> None:
    """A seed of the dose breaks a promise with this rule broken, and none without."""
    outcome = all.first_to_fail(name)
    assert outcome is not None, f"nothing tells that the rule is broken: {all.rows[name].breaks}"
    assert not _broken_without(outcome.seed, outcome.scenario), "the core as it is has no such fault"


@cache
def _broken_without(seed: int, scenario: str) -> str:
    """The broken promise of a seed with the core as it is; several mutations fail with the same
    seed."""
    return run(seed, scenario=scenario).broken
