"""Counts the lines of Python that a call executes: a measure of work that no machine changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

LINEAR = 2.3
"""The most that twice the work may cost, as a factor: n log n, and a constant part."""


def executed_lines(call: Callable[[], Any]) -> int:
    """The lines that the call executes, those of the functions that it calls included."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # what objects do when they are collected are lines, too
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return lines


def growth(work: Callable[[int], Callable[[], Any]], size: int) -> float:
    """The lines of the work of twice the size, as a multiple of those of this size.

    `work(size)` prepares the work, which is not counted, and returns it. It is done once before, so
    that imports and caches do not count.
    """
    work(2 * size)()
    return executed_lines(work(2 * size)) / executed_lines(work(size))


class CountedText(str):
    """A text whose comparisons execute a line, so that a scan of a list of texts is counted."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    __hash__ = str.__hash__
