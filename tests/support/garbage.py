"""Collects garbage that client libraries leave: the sockets of refused or closed connections, which
warn when they are collected, in the same test or in a later one."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest


def collecting(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The body of a fixture for a test that leaves such garbage: it may be collected during the
    test, and is collected after it, without the warnings. The captured records of the log are
    cleared first: an exception in one of them refers to the sockets by its traceback."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed", ResourceWarning)
        yield
        caplog.get_records("call").clear()
        gc.collect()


def freeze_between_modules(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Freezes what is left after the last test of a module, if there was a full collection since:
    else each later one would traverse what all earlier tests have left, for half a second."""
    if nextitem is not None and nextitem.path != item.path and gc.get_stats()[2]["collections"] > _frozen_after[-1]:
        gc.collect()
        gc.freeze()
        _frozen_after[:] = [gc.get_stats()[2]["collections"]]


_frozen_after = [0]
"""The number of full collections at the last freeze."""
