"""One JVM: ready when its own log says so, ended by its own process id, and never left running.

A port that accepts connections proves nothing: it may belong to another process, while the JVM that
tried to bind it is just ending.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 180
"""Seconds until a JVM must be ready."""

GRACE = 120
"""Seconds until it must have ended after it was asked to."""

TAIL = 4000
"""Characters of the log that an error message quotes."""


class Process:
    """A running JVM with its log; `ready` is what the log says once it is ready."""

    def __init__(self, command: Sequence[str], log: Path, ready: bytes) -> None:
        self._log, self._ready = log, ready
        with log.open("ab") as out:
            self._from = out.tell()
            self._it = subprocess.Popen(
                [*_bound(), *command], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    @property
    def pid(self) -> int:
        return self._it.pid

    def wait_ready(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._ready in self._log.read_bytes()[self._from :]:
                return
            if self._it.poll() is not None:
                break
            time.sleep(0.02)
        output = self._log.read_text(errors="replace")[-TAIL:]
        raise RuntimeError(f"Kafka was not ready (exit code {self._it.poll()}):\n{output}")

    def stop(self) -> None:
        """Asks it to end, and waits until it has."""
        self._it.terminate()
        try:
            self._it.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"Kafka did not leave within {GRACE} s:\n{self._log.read_text()[-TAIL:]}") from None

    def pause(self) -> None:
        """Pauses the process; none of its threads runs any more when this returns."""
        self._it.send_signal(signal.SIGSTOP)
        os.waitpid(self._it.pid, os.WUNTRACED)

    def resume(self) -> None:
        self._it.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kills it at once; does nothing if it has ended."""
        self._it.kill()
        self._it.wait()


def _bound() -> list[str]:
    """Makes the JVM end with the process that started it, however that one ends, where the system
    can do that. The process id stays the same."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []
