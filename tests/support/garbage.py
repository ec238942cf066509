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
