"""When a rule applies to what matches: requests, connections, messages on a link, operations of a
disk."""

from __future__ import annotations

from dataclasses import dataclass

from .field_kinds import CHANCE, SECONDS, FieldKind, count


@dataclass(frozen=True, slots=True)
class Trigger:
    """A rule ignores the first `on_call - 1` that match, and applies to the next `times` of them
    (None: to all until it is removed), to each with `probability`, decided by random
    numbers that start at `seed`. It begins `after_seconds`, and ends `for_seconds` later, by the
    clock of the broker."""

    times: int | None = 1
    on_call: int = 1
    probability: float | None = None
    seed: int | None = None
    after_seconds: float | None = None
    for_seconds: float | None = None


TRIGGER_FIELDS: dict[str, FieldKind] = {
    "times": count(1, "a count from 1, or None for every time"),
    "on_call": count(1, "a count from 1").required,
    "probability": CHANCE,
    "seed": count(0, "an integer from 0"),
    "after_seconds": SECONDS,
    "for_seconds": SECONDS,
}
