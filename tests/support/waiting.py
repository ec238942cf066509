"""Waiting for a condition of another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds after which a test stops waiting for a condition and fails."""


def eventually(
    look: Callable[[], T], holds: Callable[[T], object] = bool, *, pause: float = 0.05, within: float = PATIENCE
) -> T:
    """The result of `look` once it satisfies the condition; fails with the last result."""
    end = time.monotonic() + within
    while not holds(seen := look()):
        assert time.monotonic() < end, f"still {seen!r} after {within:g} s"
        time.sleep(pause)
    return seen
