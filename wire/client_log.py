"""Loggers whose lines show text as text: what a client sends cannot begin a line of its own, or
reach a terminal as an escape sequence, or fill the log.

Rules. Every module that logs has a `ClientLog`; configuration stays with `logging`. An argument of
a message is formatted only if the message is logged. What cannot be printed is escaped, as Python
writes it, and a long text is cut.
"""

from __future__ import annotations

import logging
from typing import Any

LONGEST = 2000
"""The characters of one argument that are logged."""

_AS_IT_IS = (int, float, type(None))


def printable(text: str) -> str:
    """A text with escapes for what a terminal would obey."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


class ClientLog(logging.LoggerAdapter[logging.Logger]):
    """A logger of the package; see `logging.Logger`."""

    def __init__(self, name: str) -> None:
        super().__init__(logging.getLogger(name), None)

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        if self.isEnabledFor(level):
            kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
            self.logger.log(level, msg, *map(_shown, args), **kwargs)


def _shown(value: object) -> object:
    return value if isinstance(value, _AS_IT_IS) else _Shown(value)


class _Shown:
    """An argument, in either of its forms."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        return _cut(printable(str(self._value)))

    def __repr__(self) -> str:
        return _cut(printable(repr(self._value)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
