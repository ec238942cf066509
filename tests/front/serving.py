"""`kafkadouble` as a process: started, asked, ended."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafkadouble.messages.message import Message
from tests.front.client import ask

KAFKADOUBLE = [sys.executable, "-m", "kafkadouble"]


class Serving:
    """A `kafkadouble serve` that was started, and the lines that it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.told = dict(process.stdout.readline().rstrip("\n").partition("=")[::2] for _ in range(5))
        if "pid" not in self.told:
            raise AssertionError(f"it does not serve: {process.communicate(timeout=30)[1]}")
        first = next(iter(self.told.values()))  # of a controller that is no broker, where it is reached
        host, _, port = first.rpartition(":")
        self.address = host, int(port)

    def ask(self, body: Message, version: int) -> Any:
        return ask(self.address, body, version)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """(exit code, all of stderr)."""
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stderr


@contextmanager
def serving(*words: str) -> Iterator[Serving]:
    command = [*KAFKADOUBLE, "serve", *words] if "--config" in words else [*KAFKADOUBLE, "serve", "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Serving(process)
        finally:
            process.kill()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*KAFKADOUBLE, *words], capture_output=True, text=True, timeout=60, check=False)
