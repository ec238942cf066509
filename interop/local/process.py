"""One JVM: started, ready when its own log says so, ended by its own process id, and never left behind.

That a port accepts says nothing: it may be somebody else's, and the JVM that wanted it may just be ending.
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
"""Seconds that a JVM may take to be ready."""

GRACE = 120
"""Seconds that it may take to leave when it is asked to."""

TAIL = 4000
"""Characters of the log that are told when something is wrong."""


class Process:
    """A JVM that runs, with its log; `ready` is what the log says when it is."""

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
        told = self._log.read_text(errors="replace")[-TAIL:]
        raise RuntimeError(f"Kafka was not ready (exit code {self._it.poll()}):\n{told}")

    def stop(self) -> None:
        """Ask it to leave, and wait until it did."""
        self._it.terminate()
        try:
            self._it.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"Kafka did not leave within {GRACE} s:\n{self._log.read_text()[-TAIL:]}") from None

    def pause(self) -> None:
        """It does nothing any more, none of its threads, when this returns."""
        self._it.send_signal(signal.SIGSTOP)
        os.waitpid(self._it.pid, os.WUNTRACED)

    def resume(self) -> None:
        self._it.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once; once it has ended, nothing."""
        self._it.kill()
        self._it.wait()


def _bound() -> list[str]:
    """Where the system can, the JVM ends with the process that started it, however that one ends. It keeps its process id."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []
