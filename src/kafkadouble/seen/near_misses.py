"""Explains a failed assertion about requests: the requests that nearly match, with the fields in
which they differ, and the last requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.common.plural import counted
from kafkadouble.server.tracing.history import SeenRequest

from .request_filter import RequestFilter

MOST_NEAREST, MOST_LAST, MOST_FOUND = 3, 5, 5


def explanation(request_filter: RequestFilter, times: int | None, requests: Sequence[SeenRequest]) -> str:
    """The text of the AssertionError. `times` is how many should match, None for at least one."""
    searched = request_filter.since(requests)
    found = [seen for seen in searched if request_filter.matches(seen)]
    lines = [_headline(request_filter, times, len(found), len(searched))]
    if found:
        more = len(found) - MOST_FOUND
        lines += _lines("these match:", [*map(repr, found[:MOST_FOUND]), *([f"and {more} more"] if more > 0 else [])])
    if not found or (times or 0) > len(found):
        lines += _lines("the nearest:", nearest(request_filter, searched))
        lines += _lines("the last requests:", map(repr, searched[-MOST_LAST:]))
    return "\n".join(lines)


def _headline(request_filter: RequestFilter, times: int | None, found: int, searched: int) -> str:
    expected = "at least one request" if times is None else "no request" if not times else counted(times, "request")
    matched = "none" if not found else str(found)
    return (
        f"expected {expected} to match {request_filter}, but {matched} of {searched} {'does' if found == 1 else 'do'}"
    )


def nearest(request_filter: RequestFilter, requests: Sequence[SeenRequest]) -> list[str]:
    """The requests with the fewest differences, the latest first, and the differences."""
    missed = [
        (differences, seen) for seen in reversed(requests) if (differences := list(request_filter.differences(seen)))
    ]
    near = sorted(filter(_is_near, missed), key=lambda miss: len(miss[0]))[:MOST_NEAREST]
    texts = []
    for differences, seen in near if request_filter.given else ():
        texts.append(repr(seen))
        texts += [f"    {name} is {has}, not {_meant(request_filter, name)}" for name, has in differences]
    return texts


def _is_near(miss: tuple[list[tuple[str, str]], SeenRequest]) -> bool:
    """A request of another API is near only if nothing else differs."""
    return len(miss[0]) == 1 or all(name != "api" for name, _ in miss[0])


def _meant(request_filter: RequestFilter, name: str) -> str:
    if name == "api":
        return " or ".join(request_filter.apis)
    value = request_filter.given[name]
    return {True: "any error", False: "no error"}[value] if isinstance(value, bool) else str(value)


def _lines(head: str, texts: Iterable[str]) -> list[str]:
    found = [f"  {text}" for text in texts]
    return [head, *found] if found else []
