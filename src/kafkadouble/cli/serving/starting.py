"""Values that the parts of `kafkadouble serve` share before it serves."""

from __future__ import annotations

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 9092
MORE_USERS = "KAFKADOUBLE_USERS"
"""More users, as in a file: a program that starts `serve` gives them so, because other users of the
machine can read a command line."""

SIGNALS: list[int] = []
"""Those that came before the event loop handles them. Python ignores the exception of a signal
handler that runs in `__del__` or in the callback of a weak reference, so that the process goes
on."""
