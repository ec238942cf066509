"""The matrix: a topic that one client wrote, read by every other client, and by itself.

A client's own round trip hides framing errors that its writing and reading halves share.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from interop.support import unique

from .run import faults, run
from .toolchains.building import Missing, Program, built

AT_ONCE = (os.cpu_count() or 2) + 2
"""Programs at the same time; they wait more than they compute."""


class Row(NamedTuple):
    """One writer: the faults of each reader, and the readers that were left out, with the
    reason."""

    cells: dict[str, list[str]]
    left_out: dict[str, str]

    @property
    def wrong(self) -> dict[str, list[str]]:
        return {reader: cell for reader, cell in self.cells.items() if cell}


def row(writer: Program, readers: Sequence[Program], bootstrap: str) -> Row:
    """One row of the matrix. Raises Missing if the writer cannot be built, AssertionError if it
    does not write."""
    topic = unique(f"matrix-{writer.name}")
    wrong = faults(writer, "write", run(writer, "write", bootstrap, topic, f"{topic}-{writer.name}"))
    assert not wrong, f"{writer.name} could not write: {wrong}"
    reasons = {reader.name: _reason(writer, reader) for reader in readers}
    able = [reader for reader in readers if not reasons[reader.name]]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ends = pool.map(lambda reader: _read(reader, bootstrap, topic), able)
        cells = {reader.name: found for reader, found in zip(able, ends, strict=True)}
    return Row(cells, {name: reason for name, reason in reasons.items() if reason})


def _read(reader: Program, bootstrap: str, topic: str) -> list[str]:
    group = unique(f"{topic}-{reader.name}")
    return faults(reader, "read", run(reader, "read", bootstrap, topic, group))


def _reason(writer: Program, reader: Program) -> str:
    """The reason why this reader is left out; empty if it is not."""
    if reader.blind_to and writer.writes_null_headers:
        return reader.blind_to
    try:
        built(reader.toolchain)
    except Missing as reason:
        return str(reason)
    return ""
