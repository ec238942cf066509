"""Suggests the known name that is nearest to an unknown one, as the end of an error message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

LONGER = 3
"""A name that is so many times as long as the longest known one is not compared: it is not near,
and a comparison copies it into lists."""


def near(name: Any, names: Iterable[str]) -> str:
    """`; did you mean 'Produce'?`, or "" when no name is near. The comparison ignores case."""
    from difflib import get_close_matches

    by_small = {known.lower(): known for known in names}
    if len(str(name)) > LONGER * max(map(len, by_small), default=0):
        return ""
    found = get_close_matches(str(name).lower(), list(by_small), n=1, cutoff=0.6)
    return f"; did you mean {by_small[found[0]]!r}?" if found else ""
