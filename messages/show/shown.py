"""What a thing that can be shown can do: a line, a tree, rows, JSON; and what is wrong with its bytes."""

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
    """A frame, a message or a batch, read as far as it can be read. Subclasses say how; none of it ever raises WireError."""

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
        """The first thing that is wrong with the bytes, with its place."""
        return first_error(self.rows())

    def tree(self) -> str:
        return "\n".join(self.tree_lines())

    def hexdump_lines(self) -> Iterator[str]:
        return render(self.rows(), self.bounds)

    def hexdump(self) -> str:
        """The rows as text."""
        return "\n".join(self.hexdump_lines())


def broken_line(error: WireError) -> str:
    """How a tree says that something cannot be read."""
    return f"!! {error}"


def error_json(error: WireError) -> dict[str, Any]:
    return {"error": type(error).__name__, "problem": error.problem, "offset": error.offset, "path": error.path}
