"""Explains a failed assertion about requests: the requests that nearly match, with the fields in
which they differ, and the last requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.server.tracing.history import SeenRequest

from .request_filter import RequestFilter

MOST_NEAREST, MOST_LAST, MOST_FOUND = 3, 5, 5


def explanation(wanted: RequestFilter, times: int | None, requests: Sequence[SeenRequest]) -> str:
    """The text of the AssertionError. `times` is how many should match, None for at least one."""
    searched = wanted.since(requests)
    found = [seen for seen in searched if wanted.matches(seen)]
    lines = [_headline(wanted, times, len(found), len(searched))]
    if found:
        lines += _lines("these match:", _short(found))
    if not found or (times or 0) > len(found):
        lines += _nearest(wanted, searched)
        lines += _lines("the last requests:", map(repr, searched[-MOST_LAST:]))
    return "\n".join(lines)


def _headline(wanted: RequestFilter, times: int | None, found: int, searched: int) -> str:
    expected = "at least one request" if times is None else "no request" if not times else _counted(times)
    matched = "none" if not found else str(found)
    return f"expected {expected} to match {wanted}, but {matched} of {searched} {'does' if found == 1 else 'do'}"


def _counted(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


def _short(found: Sequence[SeenRequest]) -> list[str]:
    more = len(found) - MOST_FOUND
    return [*map(repr, found[:MOST_FOUND]), *([f"and {more} more"] if more > 0 else [])]


def _nearest(wanted: RequestFilter, requests: Sequence[SeenRequest]) -> list[str]:
    """The requests with the fewest differences, the latest first."""
    missed = [(differences, seen) for seen in reversed(requests) if (differences := list(wanted.differences(seen)))]
    near = sorted(filter(_is_near, missed), key=lambda miss: len(miss[0]))[:MOST_NEAREST]
    texts = []
    for differences, seen in near if wanted.given else ():
        texts.append(repr(seen))
        texts += [f"    {name} is {has}, not {_meant(wanted, name)}" for name, has in differences]
    return _lines("the nearest:", texts)


def _is_near(miss: tuple[list[tuple[str, str]], SeenRequest]) -> bool:
    """A request of another API is near only if nothing else differs."""
    return len(miss[0]) == 1 or all(name != "api" for name, _ in miss[0])


def _meant(wanted: RequestFilter, name: str) -> str:
    if name == "api":
        return " or ".join(wanted.apis)
    value = wanted.given[name]
    return {True: "any error", False: "no error"}[value] if isinstance(value, bool) else str(value)


def _lines(head: str, texts: Iterable[str]) -> list[str]:
    found = [f"  {text}" for text in texts]
    return [head, *found] if found else []
