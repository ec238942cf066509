"""Builds Python source: lines with indentation, and the pool of names that one generated module
needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Lines:
    """Lines of Python. `with lines.block("if x:")` indents the lines inside."""

    def __init__(self, depth: int = 0) -> None:
        self._lines: list[str] = []
        self._depth = depth

    def __call__(self, *texts: str) -> None:
        for text in texts:
            self._lines.append("    " * self._depth + text if text else "")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self(head)
        self._depth += 1
        yield
        self._depth -= 1

    def raw(self, text: str) -> None:
        """Adds lines without indentation, inside a string."""
        self._lines.append(text)

    def text(self) -> str:
        return "".join(line + "\n" for line in self._lines)


class Pool:
    """The first lines that a generated module needs: `struct` formats (as bound functions), helpers
    by module, shapes, default structs."""

    def __init__(self) -> None:
        self.helpers: dict[str, set[str]] = {}
        self._formats: dict[str, set[str]] = {}
        self._shapes: dict[str, str] = {}
        self.defaults: dict[str, str] = {}

    def helper(self, module: str, name: str) -> str:
        """A name imported from a module of the package `wire` or `messages`."""
        self.helpers.setdefault(module, set()).add(name)
        return name

    def unpack(self, letters: str) -> str:
        """`Struct.unpack_from` for these letters."""
        return self._function(letters, "u")

    def pack(self, letters: str) -> str:
        return self._function(letters, "p")

    def iterate(self, letters: str) -> str:
        """`Struct.iter_unpack` for these letters."""
        return self._function(letters, "i")

    def _function(self, letters: str, kind: str) -> str:
        self._formats.setdefault(letters, set()).add(kind)
        return f"_{kind}_{_spell(letters)}"

    def shapes(self, template: str) -> str:
        """Pack functions by lengths of arrays, for one run of fixed values and arrays."""
        self.helper("kafkadouble.wire.primitives", "Shapes")
        return self._shapes.setdefault(template, f"_shapes_{len(self._shapes) + 1}")

    def default_struct(self, qualified: str) -> str:
        """A struct of defaults, to compare with and to write from; it is not returned to
        callers."""
        return self.defaults.setdefault(qualified, "_default_" + qualified.replace(".", "_"))

    def constants(self) -> str:
        """The statements that make formats and shapes."""
        lines = Lines()
        for letters in sorted(self._formats):
            lines(f'_s = _Struct(">{letters}")')
            for kind in sorted(self._formats[letters]):
                lines(f"_{kind}_{_spell(letters)} = _s.{_ATTRIBUTE[kind]}")
        for template, name in self._shapes.items():
            lines(f'{name} = Shapes(">{template}")')
        return lines.text()

    @property
    def has_formats(self) -> bool:
        return bool(self._formats)


_ATTRIBUTE = {"u": "unpack_from", "p": "pack", "i": "iter_unpack"}


def _spell(letters: str) -> str:
    """The letters as part of an identifier."""
    return letters.replace("16s", "u").replace("?", "o")
