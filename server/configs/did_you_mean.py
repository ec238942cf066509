"""Suggests the known name that is nearest to an unknown one, as the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LONGER = 3
"""A name that is so many times as long as the longest known one is not compared: it is not near,
and a comparison copies it into lists."""

LOOSE, STRICT = 0.6, 0.75
"""How like names must be, from 0 to 1. The long names of settings have much in common."""


def near(name: Any, names: Iterable[str]) -> str:
    """`; did you mean 'Produce'?`, or "" when no name is near. The comparison ignores case."""
    by_small = {known.lower(): known for known in names}
    found = nearest(str(name).lower(), by_small)
    return suggestion(None if found is None else by_small[found])


def nearest(name: str, names: Iterable[str], likeness: float = LOOSE) -> str | None:
    """The name that is most like the unknown one; None when no name is near."""
    from difflib import get_close_matches

    known = list(names)
    if len(name) > LONGER * max(map(len, known), default=0):
        return None
    return next(iter(get_close_matches(name, known, n=1, cutoff=likeness)), None)


def suggestion(name: str | None) -> str:
    """The end of an error message: `; did you mean 'Produce'?`, or "" without a name."""
    return "" if name is None else f"; did you mean {name!r}?"
