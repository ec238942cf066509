"""Pauses Python's garbage collector during work that makes very many objects that all stay alive.

The collector traverses all objects again whenever their number has grown by a quarter. For a
million partitions that takes longer than making them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MANY = 2_000
"""New objects from which it pays to move them: counting what is frozen traverses all of that."""


def _make_old() -> None:
    """Moves all objects to the oldest generation. If objects are frozen already, the application
    wants that, and `unfreeze` would undo it."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


many_made: Callable[[], None] = _make_old
"""What is done after work that made many objects. A process that owns its collector sets it."""


@contextmanager
def all_kept() -> Iterator[None]:
    """Pauses the collector inside the `with` block.

    Objects that become unreachable are still freed, except reference cycles. If many were made, all
    objects are moved to the oldest generation at the end, so that the next allocation does not
    start a traversal.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] >= MANY:
            many_made()
        if was_enabled:
            gc.enable()
