"""The lock on a log directory: two nodes that write to one would destroy it. It is Kafka's own
(`.lock`), so a JVM respects it too.

The system releases it when the process ends, for any reason. The system's lock works between
processes; the locks of this process are remembered here.
"""

from __future__ import annotations

import os
import sys
from typing import IO

from kafkadouble.wire.errors import UsageError

from ..log.formats.names import LOCK

_HELD: set[str] = set()


class DirectoryLock:
    """Holds the lock on `folder` until `release`. UsageError when another node holds it."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.realpath(folder)
        if self._folder in _HELD:
            raise _taken(folder)
        self._file = open(os.path.join(folder, LOCK), "a+b")  # noqa: SIM115  # it is held for as long as the lock
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise _taken(folder) from None
        _HELD.add(self._folder)

    def release(self) -> None:
        """Releases the lock. Calling it again does nothing."""
        if not self._file.closed:
            self._file.close()
            _HELD.discard(self._folder)


def _taken(folder: str) -> UsageError:
    return UsageError(f"{folder} is in use: another broker has it open")


def _lock(file: IO[bytes]) -> None:
    """Takes the system's lock. OSError when another process has it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
