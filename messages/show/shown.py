"""The base class of everything that can be shown: as a line, a tree, rows, JSON, with the error of
its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from kafkadouble.wire.errors import WireError

from .lines import LONGEST
from .row import FieldRow, first_error, render
from .text import TREE, TextLimits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Shown:
    """A frame, a message or a batch, read as far as possible. Its methods do not raise
    WireError."""

    bounds: TextLimits = TREE

    def line(self, longest: int = LONGEST) -> str:
        """One line of at most `longest` characters."""
        raise NotImplementedError

    def tree_lines(self) -> Iterator[str]:
        raise NotImplementedError

    def rows(self) -> Iterator[FieldRow]:
        """Every byte, in order; see `row.Row`."""
        raise NotImplementedError

    def json(self) -> dict[str, Any]:
        """A plain dict, secrets hidden."""
        raise NotImplementedError

    @cached_property
    def error(self) -> WireError | None:
        """The first error of the bytes, with its position."""
        return first_error(self.rows())

    def tree(self) -> str:
        return "\n".join(self.tree_lines())

    def hexdump_lines(self) -> Iterator[str]:
        return render(self.rows(), self.bounds)

    def hexdump(self) -> str:
        """The rows as text."""
        return "\n".join(self.hexdump_lines())


def broken_line(error: WireError) -> str:
    """The line of a tree for bytes that cannot be read."""
    return f"!! {error}"


def error_json(error: WireError) -> dict[str, Any]:
    return {"error": type(error).__name__, "problem": error.problem, "offset": error.offset, "path": error.path}
