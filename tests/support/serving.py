"""`kafkadouble` as a process: start it, send it requests, end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from queue import Queue
from threading import Thread
from typing import Any

from kafkadouble.messages.message import Message
from tests.support.client import ask

BINARY = os.environ.get("KAFKADOUBLE_BINARY")
KAFKADOUBLE = [BINARY] if BINARY else [sys.executable, "-m", "kafkadouble"]
"""The program of this checkout, or the binary that `make binary` has made of it."""


class Serving:
    """A running `kafkadouble serve`, and the lines that it has printed. A thread always reads its
    stderr: the process would block on a full pipe."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: Queue[str] = Queue()
        self._stderr_reader = Thread(target=self._read_stderr, daemon=True)
        self._stderr_reader.start()

    @cached_property
    def startup(self) -> dict[str, str]:
        """What it prints when it serves clients, for which this waits."""
        assert self.process.stdout is not None
        printed = dict(self.process.stdout.readline().rstrip("\n").partition("=")[::2] for _ in range(5))
        if "pid" not in printed:
            raise AssertionError(f"it does not serve: {self.ended()[1]}")
        return printed

    @cached_property
    def address(self) -> tuple[str, int]:
        """Where it serves; a controller that is no broker prints the address of the controller."""
        host, _, port = next(iter(self.startup.values())).rpartition(":")
        return host, int(port)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._lines.put(line)

    def ask(self, body: Message, version: int) -> Any:
        return ask(self.address, body, version)

    def more_lines(self, count: int) -> dict[str, str]:
        """What stands in the lines of stdout behind the five that each start prints."""
        assert self.startup
        assert self.process.stdout is not None
        return dict(self.process.stdout.readline().rstrip("\n").partition("=")[::2] for _ in range(count))

    def control_url(self) -> str:
        """The URL of the control plane: the next line of stdout."""
        return self.more_lines(1)["control.url"]

    def next_line(self) -> str:
        return self._lines.get(timeout=30)

    def line_with(self, text: str) -> str:
        while text not in (line := self.next_line()):
            pass
        return line

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """(exit code, the rest of stderr)."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """(exit code, the rest of stderr), when it ends by itself."""
        code = self.process.wait(30)
        self._stderr_reader.join(30)
        return code, "".join(self._lines.get_nowait() for _ in range(self._lines.qsize()))


@contextmanager
def serving(*words: str) -> Iterator[Serving]:
    """A process that serves clients."""
    with beginning(*words) as served:
        assert served.startup
        yield served


@contextmanager
def beginning(*words: str) -> Iterator[Serving]:
    """A process that may not serve yet, because it waits for others."""
    command = [*KAFKADOUBLE, "serve", *words] if "--config" in words else [*KAFKADOUBLE, "serve", "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        served = Serving(process)
        try:
            yield served
        finally:
            process.kill()
            served.ended()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KAFKADOUBLE, *words], capture_output=True, text=True, timeout=60, check=False)
