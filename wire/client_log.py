"""Loggers that escape and cut their arguments: a text from a client cannot start a new log line,
send an escape sequence to a terminal, or fill the log.

Rules. Every module that logs has a `ClientLog`; configuration stays with `logging`. An argument of
a message is formatted only if the message is logged. Unprintable characters are escaped as in a
Python literal, and a long text is cut.
"""

from __future__ import annotations

import logging
from typing import Any

LONGEST = 2000
"""The largest number of characters that are logged of one argument."""

_AS_IT_IS = (int, float, type(None))


def printable(text: str) -> str:
    """`text` with its unprintable characters escaped."""
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


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
    """An argument that is escaped and cut when `%s` or `%r` formats it."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        return _cut(printable(str(self._value)))

    def __repr__(self) -> str:
        return _cut(printable(repr(self._value)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
