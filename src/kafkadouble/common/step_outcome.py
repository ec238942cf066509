"""The outcome of a step of a scenario."""

from __future__ import annotations

from typing import NamedTuple


class StepOutcome(NamedTuple):
    """A step of a scenario: when it is called first, in seconds since the scenario was applied,
    which verb, and its state: `pending` as long as calls are to come, `done`, or `failed` with the
    error of the latest call that failed. `calls` is how many times it was called. A step that waits
    for records is at 0."""

    at: float
    verb: str
    state: str
    problem: str | None = None
    calls: int = 0
