"""`Reader.java` as a process: Kafka's consumer, which prints each event on a line."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interop.local import VERSION, java
from interop.local.jars import program

SOURCE = Path(__file__).with_name("Reader.java")
TELLING = "> "
PATIENCE = 60
"""Seconds within which it must have ended."""


class Reader:
    """The process. `next_event` returns its next line, split into words."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def next_event(self) -> list[str]:
        """The next event. Raises AssertionError if the process has ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(TELLING):
                return line.removeprefix(TELLING).split()
        raise AssertionError(f"the reader ended with {self._process.wait()}")


@contextmanager
def reading(bootstrap: str, topic: str, *, reset: str, protocol: str = "classic") -> Iterator[Reader]:
    """A reader of the topic's first partition. `reset`: auto.offset.reset; `protocol`:
    group.protocol. Raises Missing."""
    # The source is compiled when it is started.
    program("javac")
    flags = java.quick(VERSION)
    command = java.command(VERSION, str(SOURCE), bootstrap, reset, protocol, topic, flags=flags)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        try:
            yield Reader(process)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(PATIENCE)
        finally:
            process.kill()
