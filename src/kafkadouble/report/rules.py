"""The fault rules that are armed, and those that no request matched, with the requests that came
near."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kafkadouble.seen.near_misses import nearest
from kafkadouble.seen.request_filter import ALWAYS, PARTS, RequestFilter
from kafkadouble.server.faults import REQUEST
from kafkadouble.server.faults.field_kinds import EVERY_API

if TYPE_CHECKING:
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.rule import Rule
    from kafkadouble.server.tracing.history import SeenRequest

    from .reported import Reported


MOST_EXPLAINED = 10
"""For so many rules that nothing matched, the requests that came near are looked for."""


def lines(double: Reported) -> Iterator[str]:
    running = double.known()
    register = running.broker.faults.register
    left = running.on_thread(lambda: [*register.unmatched, *register.unfinished])
    armed = running.on_thread(lambda: list(register.rules))
    yield from (repr(each) for each in armed if each not in left)
    if left:
        requests = list(double.requests)
        for number, each in enumerate(left):
            explained = requests if number < MOST_EXPLAINED else ()
            yield from unfinished_lines(each, explained) if each.met else unmatched_lines(each.rule, explained)


def unmatched_lines(rule: Rule, requests: Sequence[SeenRequest]) -> Iterable[str]:
    """A rule that nothing matched, and the requests that come nearest."""
    yield f"matched no {'request' if rule.plane == REQUEST else rule.plane}: {rule!r}"
    yield from (f"  {each}" for each in near(rule, requests))


def unfinished_lines(armed: Armed, requests: Sequence[SeenRequest]) -> Iterable[str]:
    """A dialogue that is not at its end, with its next step, and the requests that come nearest."""
    yield f"not at its end: {armed!r}"
    yield from (f"  {each}" for each in near(armed.rule, requests))


def near(rule: Rule, requests: Sequence[SeenRequest]) -> list[str]:
    """The requests that come nearest to a rule, with the fields in which they differ."""
    if rule.plane != REQUEST:
        return []
    apis = () if rule.match.api in (None, EVERY_API) else (str(rule.match.api),)
    given = {name: value for name in (*PARTS, *ALWAYS) if (value := getattr(rule.match, name, None)) is not None}
    found = nearest(RequestFilter(apis, given), requests)
    if not found and apis and requests and not any(request.api in apis for request in requests):
        return [f"no {apis[0]} request came"]
    return found
