"""A progress bar on standard error. It appears only on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TextIO

_WIDTH = 30
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Progress:
    """A context manager; it ends the line on exit, also after an exception."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty() and total > 0
        self._total, self._done, self._last = total, 0, ""

    def add(self, size: int) -> None:
        """Adds a number of bytes that are done."""
        self._done += size
        if self._shown:
            self._show()

    def _show(self) -> None:
        part = min(self._done / self._total, 1)
        bar = "#" * round(part * _WIDTH)
        line = f"\r[{bar:.<{_WIDTH}}] {part:4.0%} of {in_words(self._total)}"
        if line != self._last:
            self._stream.write(line)
            self._stream.flush()
            self._last = line

    def __enter__(self) -> Progress:
        if self._shown:
            self._show()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stream.write("\n")


def in_words(size: float) -> str:
    """A number of bytes with three digits and a unit."""
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} {_UNITS[-1]}"
