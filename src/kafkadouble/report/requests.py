"""The latest requests, a line each. Requests with which clients only wait are one line together;
those with an error, or that met a fault rule, are shown however old they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from kafkadouble.common.plural import counted
from kafkadouble.server.tracing.seen_line import clock, listed, payloads_of, text_of, throttle_ms
from kafkadouble.server.tracing.trace import ANSWERED

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

    from .reported import Reported

IDLE = frozenset({"Fetch", "Heartbeat", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"})
"""The APIs with which a client only waits, if nothing comes of them."""

MOST_NOTABLE = 15
"""So many requests with an error, or that met a rule, are shown of those before the latest."""


def lines(double: Reported, count: int) -> Iterator[str]:
    return told(list(double.requests), count)


def told(seen: Sequence[SeenRequest], count: int) -> Iterator[str]:
    """The lines about these requests, of which the last `count` have a line each."""
    if not seen:
        yield "no client sent a request"
    runs: list[list[SeenRequest]] = []
    for idle, of_kind in groupby(seen, is_idle):
        run = list(of_kind)
        runs += [run] if idle else [[each] for each in run]
    earlier, last = runs[: max(0, len(runs) - count)], runs[max(0, len(runs) - count) :]
    before = [each for run in earlier for each in run]
    notable = [each for each in before if each.errors or each.rules]
    if before:
        yield counted(len(before), "earlier request") + _of_which(len(notable))
        yield from map(repr, notable[-MOST_NOTABLE:])
    if notable and last:
        yield "the last ones:"
    yield from map(_line, last)


def is_idle(seen: SeenRequest) -> bool:
    """Whether a client waited with this request, and nothing came of it."""
    if seen.api not in IDLE or seen.outcome != ANSWERED or seen.errors or seen.rules or seen.answer is None:
        return False
    return not (payloads_of(seen) or throttle_ms(seen))


def _of_which(notable: int) -> str:
    if not notable:
        return ""
    shown = "" if notable <= MOST_NOTABLE else f", the last {MOST_NOTABLE}"
    return f", {notable:,} of them with an error or a rule{shown}:"


def _line(run: list[SeenRequest]) -> str:
    first, last = run[0], run[-1]
    if len(run) == 1:
        return repr(first)
    clients = listed(f"'{text_of(request.client_id)}'" for request in run)
    apis = ", ".join(f"{number:,} {api}" for api, number in Counter(request.api for request in run).items())
    return f"{clock(first.time)} to {clock(last.time)} {counted(len(run), 'request')} without news of {clients}: {apis}"
