"""The start and the end of a query as its options give them, before any request.

Of the three options, the timestamp for all partitions takes precedence over timestamps by
partition, and those over offsets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kafkadouble.wire.errors import UsageError

from ..client import TopicPartition
from .options import BATCH, QueryOptions

EARLIEST, LATEST = -2, -1
"""The special timestamps of ListOffsets, and the special offsets of the options."""


@dataclass(frozen=True)
class Bound:
    """One end of a query. `option` is the name of its option. `everywhere` is EARLIEST, LATEST or a
    timestamp; without it, `each` has a value for every partition."""

    option: str
    by: Literal["offset", "timestamp"]
    everywhere: int | None = None
    each: Mapping[TopicPartition, int] = field(default_factory=dict)
    strict: bool = False
    """Whether a timestamp without a record is an error; otherwise it means LATEST."""


def starting(settings: QueryOptions, use: str) -> Bound:
    """The start of a new query. Raises UsageError for a bound that is only an end."""
    strict = settings["startingOffsetsByTimestampStrategy"] == "error"
    bound = _bound(settings, "starting", strict, default=EARLIEST if use == BATCH else LATEST)
    if use == BATCH and bound.by == "offset":
        _not(bound, LATEST, "latest", "a batch would have nothing to read")
    return bound


def ending(settings: QueryOptions) -> Bound:
    """The end of a batch. Raises UsageError for a bound that is only a start."""
    bound = _bound(settings, "ending", False, default=LATEST)
    if bound.by == "offset":
        _not(bound, EARLIEST, "earliest", "a batch would have nothing to read")
    return bound


def check(start: Bound, end: Bound) -> None:
    """Checks the two bounds of a batch. Raises UsageError when they do not name the same
    partitions, or a start is after its end."""
    if start.by != end.by or start.everywhere is not None or end.everywhere is not None:
        return
    if start.each.keys() != end.each.keys():
        unlike = ", ".join(f"{tp}" for tp in sorted(start.each.keys() ^ end.each.keys()))
        raise UsageError(
            f"{start.option} and {end.option} must name the same partitions; {unlike} is in one of them only"
        )
    for tp, first in sorted(start.each.items()):
        last = end.each[tp]
        if first > last and first >= 0 and last >= 0:
            name = f"{tp}"
            raise UsageError(f"{start.option} has {first} for {name}, which is behind {last} of {end.option}")


def _bound(settings: QueryOptions, side: str, strict: bool, default: int) -> Bound:
    if (timestamp := settings[name := f"{side}Timestamp"]) is not None:
        return Bound(name, "timestamp", timestamp, strict=strict)
    if (timestamps := settings[name := f"{side}OffsetsByTimestamp"]) is not None:
        return Bound(name, "timestamp", each=timestamps, strict=strict)
    offsets = settings[name := f"{side}Offsets"]
    if offsets is None:
        return Bound(name, "offset", default)
    if isinstance(offsets, str):
        return Bound(name, "offset", {"earliest": EARLIEST, "latest": LATEST}[offsets])
    return Bound(name, "offset", each=offsets)


def _not(bound: Bound, offset: int, word: str, why: str) -> None:
    if bound.everywhere == offset:
        raise UsageError(f"the option {bound.option} cannot be {word} in a batch query: {why}")
    for tp, given in bound.each.items():
        if given == offset:
            raise UsageError(f"the option {bound.option} cannot be {word} for {tp} in a batch query: {why}")
