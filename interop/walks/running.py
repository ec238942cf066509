"""Runs a program until its input ends. It writes a line that begins with `> ` for each event, and
the object of the contract in its last line."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import threading
from typing import IO

from .promise import PASS, parsed
from .run import HOUSE, tail
from .toolchains.building import Program, built

LINE = "> "
PATIENCE = 150.0
"""Seconds that a program may take to end (it gives up after 100) or to continue. A member that
joins with a new id may have to wait for the session timeout of the old one, which is 30 s with some
libraries."""


class RunningProgram:
    """A running program. A subclass takes its events, on another thread."""

    def __init__(self, program: Program, verb: str, *words: str) -> None:
        """Raises Missing where the program cannot be built here."""
        self.program, self.verb, self._last = program, verb, ""
        command = [*program.command(built(program.toolchain)), verb, *words]
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # as long as this lives
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._err, text=True, cwd=HOUSE
        )
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(LINE):
                word, *rest = line.removeprefix(LINE).split()
                self.take(word, rest)
            elif line.strip():
                self._last = line

    def take(self, word: str, rest: list[str]) -> None:
        """Takes an event: its first word, and the rest."""
        raise NotImplementedError

    def tell(self, line: str) -> None:
        """Writes a line to its input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def pause(self) -> None:
        """Pauses its process until `resume`; its connections stay open."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def assert_runs(self) -> None:
        assert self._process.poll() is None, f"{self.program.name} has ended: {self.end()}"

    def end(self) -> str:
        """Ends its input, and waits until it has ended. Returns its faults, or the empty string."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            code = self._process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            code = self.kill()
        self._hearing.join(PATIENCE)
        try:
            found = parsed(self._last).behaviours
        except ValueError:
            found = {}
        expected = 0, {self.verb: PASS}
        return "" if (code, found) == expected else f"exit code {code}, {found or self._last} {tail(self._err)}"

    def kill(self) -> int:
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        """Stops the program if it still runs."""
        self.kill()
        self._hearing.join(PATIENCE)
        for pipe in (self._process.stdin, self._process.stdout, self._err):
            if pipe is not None:
                pipe.close()
