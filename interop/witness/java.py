"""Kafka's own codecs in a Java process beside us: `Witness.java`, asked line by line.

Questions go out from a thread of their own and answers are read by whoever wants them, so that
hundreds are under way at a time: neither side ever waits for the other to take a line. This file
knows the lines, not what they mean.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

from interop.real_kafka import Missing, jars

SOURCE = Path(__file__).with_name("Witness.java")
JVM = ("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
SAME = "="
"""A word of an answer that repeats what was asked."""
THROWN = "!"
"""How a word begins that tells what Kafka threw."""


def class_path() -> list[Path]:
    """Kafka's jars. Raises Missing, which says what it takes."""
    if shutil.which("javac") is None:
        raise Missing("javac is not on the PATH: the witness needs a JDK")
    return jars()


class Witness:
    """The process. `ask` lines, then read as many answers, in the same order; or `answer` one at a
    time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked: SimpleQueue[str | None] = SimpleQueue()
        self._owed = 0
        self._writer = threading.Thread(target=self._write, name="questions to the witness", daemon=True)
        self._writer.start()

    def ask(self, *words: object) -> None:
        self._owed += 1
        self._asked.put("\t".join(map(str, words)))

    def answered(self) -> list[str]:
        """The words of the next answer. RuntimeError when the process has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the Java witness ended with {self._process.wait()}")
        self._owed -= 1
        return line.rstrip("\n").split("\t")

    def answer(self, *words: object) -> list[str]:
        """The answer to this question; those to earlier ones that nobody fetched are lost."""
        self.forget()
        self.ask(*words)
        return self.answered()

    def forget(self) -> None:
        """Throws away the answers that are still owed, as a failed test leaves them."""
        while self._owed:
            self.answered()

    def close(self) -> None:
        self.forget()
        self._asked.put(None)
        self._writer.join()
        self._process.wait(30)

    def _write(self) -> None:
        assert self._process.stdin is not None
        # A process that has ended is found out by whoever waits for its answers.
        with suppress(BrokenPipeError), self._process.stdin as lines:
            while (line := self._asked.get()) is not None:
                lines.write(line + "\n")
                if self._asked.empty():
                    lines.flush()


@contextmanager
def running() -> Iterator[Witness]:
    """A witness of one's own. Raises Missing."""
    path = os.pathsep.join(map(str, class_path()))
    process = subprocess.Popen(
        ["java", *JVM, "-cp", path, str(SOURCE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        witness = Witness(process)
        try:
            yield witness
        finally:
            witness.close()
