"""Chooses the implementation that finds the fields of a chunk: the compiled one when it is
installed, else the one in numpy that suits the chunk's shape.

`KAFKADOUBLE_COLUMNS` in the environment names one for all chunks, as does the argument
`implementation` of `decode`.
"""

import os
from importlib import import_module
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from . import hybrid, lanes, loop, spans
from .gather import Gatherer, gather
from .spans import Finder, HeaderFinder, Ints

# the average number of parallel lanes from which lanes are faster than a loop over lengths
_WIDE = 256


class Implementation(NamedTuple):
    """Finds fields, and the headers of regular records, and gathers bytes."""

    find: Finder
    find_headers: HeaderFinder
    gather: Gatherer


IMPLEMENTATIONS = {
    "loop": Implementation(loop.find, spans.header_spans, gather),
    "lanes": Implementation(lanes.find, spans.header_spans, gather),
    "hybrid": Implementation(hybrid.find, spans.header_spans, gather),
}
"""Name -> implementation. `loop` leaves everything to the plain reader: the reference. `native` is
added when `available` finds it."""


def available() -> tuple[str, ...]:
    """The implementations that this environment has."""
    _load_native()
    return tuple(IMPLEMENTATIONS)


def choose(name: str | None, counts: Ints) -> Implementation:
    """The implementation of this name, or the best for a chunk whose batches have these counts of
    records. Raises UsageError for an unknown name."""
    name = name or os.environ.get("KAFKADOUBLE_COLUMNS") or _best(counts)
    if name not in available():
        hint = " (pip install 'kafkadouble[fast]')" if name == "native" else ""
        raise UsageError(f"columns are not read by {name!r}, but by one of {', '.join(IMPLEMENTATIONS)}{hint}")
    return IMPLEMENTATIONS[name]


def _best(counts: Ints) -> str:
    if "native" in available():
        return "native"
    return "lanes" if int(counts.sum()) >= _WIDE * int(counts.max(initial=0)) else "hybrid"


_looked = False


def _load_native() -> None:
    global _looked
    if _looked:
        return
    _looked = True
    try:
        import_module("kafkadouble_fast")
    except ImportError:
        return
    native = import_module(".native", __package__)
    IMPLEMENTATIONS["native"] = Implementation(native.find, native.find_headers, native.gather)
