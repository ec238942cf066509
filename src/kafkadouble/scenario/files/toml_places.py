"""Finds where each key and each value is in a text that tomllib has accepted.

The place of a table is that of its key in the header; of a dotted key it is the place of its part.
"""

from __future__ import annotations

import re
import tomllib

from .document import ValuePath

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_PART = re.compile(r"""[\w-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_STRING = re.compile(r'''"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?'{3,5}(?!')|"(?:[^"\\]|\\.)*"|'[^']*\'''', re.DOTALL)
_SCALAR = re.compile(r"[^,\]}#\r\n]*")


class TomlPlaces:
    """`keys` and `values` have the offset of each, by path. An element of a list, or of an array of
    tables, has the same in both."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self.keys: dict[ValuePath, int] = {}
        self.values: dict[ValuePath, int] = {(): 0}
        self._counts: dict[ValuePath, int] = {}
        table: ValuePath = ()
        while self._skip(_GAP) < len(text):
            if self._next("["):
                table = self._header()
            else:
                self._pair(table)

    def _skip(self, what: re.Pattern[str]) -> int:
        found = what.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _next(self, text: str) -> bool:
        """Whether this text is next; it is skipped."""
        found = self._text.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _header(self) -> ValuePath:
        is_array = self._next("[")
        *above, last = self._key()
        table: ValuePath = ()
        for part, at in above:
            table = self._current((*table, part))
            self._note(table, at, at)
        part, at = last
        table = (*table, part)
        self._note(table, at, at)
        if is_array:
            index = self._counts[table] = self._counts.get(table, -1) + 1
            table = (*table, index)
            self._note(table, at, at)
        self._at = self._text.index("]", self._at) + 1 + is_array
        return table

    def _current(self, table: ValuePath) -> ValuePath:
        """The last table of an array, or the table itself."""
        return (*table, self._counts[table]) if table in self._counts else table

    def _note(self, path: ValuePath, key: int, value: int) -> None:
        self.keys.setdefault(path, key)
        self.values.setdefault(path, value)

    def _key(self) -> list[tuple[str, int]]:
        """The parts of a key, each with its offset."""
        parts = []
        while True:
            start = self._skip(_SPACE)
            written = self._text[start : self._skip(_PART)]
            parts.append((written if written[0] not in "\"'" else next(iter(tomllib.loads(f"{written}=0"))), start))
            self._skip(_SPACE)
            if not self._next("."):
                return parts

    def _pair(self, table: ValuePath) -> None:
        path = table
        *above, (last, at) = self._key()
        for part, start in above:
            path = (*path, part)
            self._note(path, start, start)
        self._next("=")
        self._note((*path, last), at, self._skip(_SPACE))
        self._value((*path, last))

    def _value(self, path: ValuePath) -> None:
        if self._next("["):
            index = 0
            while self._skip(_GAP) < len(self._text) and not self._next("]"):
                if not self._next(","):
                    self._note((*path, index), self._at, self._at)
                    self._value((*path, index))
                    index += 1
        elif self._next("{"):
            while self._skip(_GAP) < len(self._text) and not self._next("}"):
                if not self._next(","):
                    self._pair(path)
        elif self._text[self._at] in "\"'":
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)
