"""Tables of plain text: aligned, nothing cut, nothing that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkadouble.wire.client_log import printable


def table(title: str, heads: Sequence[str] | None, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A headline, the rows under their heads in columns, an empty line."""
    found = [[printable(cell) for cell in row] for row in rows]
    yield title
    if not found:
        yield "  (none)"
    else:
        lines = [list(heads), *found] if heads else found
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            yield ("  " + "  ".join(cells)).rstrip()
    yield ""
