"""Collects garbage that client libraries leave: the sockets of refused or closed connections, which
warn when they are collected. The warning must not come in a later test."""

from __future__ import annotations

import gc
import warnings


def collect() -> None:
    """Collect it now, without the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
