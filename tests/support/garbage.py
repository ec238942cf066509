"""Collects garbage that client libraries leave: the sockets of refused or closed connections, which
warn when they are collected, in the same test or in a later one."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator


def collecting() -> Iterator[None]:
    """The body of a fixture for a test that leaves such garbage: it may be collected during the
    test, and is collected after it, without the warnings."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed", ResourceWarning)
        yield
        gc.collect()
