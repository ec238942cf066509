"""The parts of a file that are shown."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.show.text import TREE, TextLimits


class Options(NamedTuple):
    """Whether records are shown, how their keys and values are decoded (None: by the name of the
    folder), and how much of a value is shown."""

    records: bool = False
    decode: str | None = None
    bounds: TextLimits = TREE
