"""Work that makes very many objects, all of which stay: Python does not look for garbage among them meanwhile.

Its collector looks at everything again whenever there is a quarter more of it. Of a million partitions that is longer than making them takes.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def all_kept() -> Iterator[None]:
    """For as long as the work lasts. What becomes unreachable goes nevertheless, unless it refers to itself. Afterwards all that there is
    counts as old, so that it is not looked at as soon as the next object is made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # else somebody wants it so, and `unfreeze` would undo that
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()
