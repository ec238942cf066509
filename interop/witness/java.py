"""Kafka's own codecs in a Java process: `Witness.java`, which answers a line with a line.

Questions are written by a thread of their own and answers are read when the caller needs them, so
hundreds are in flight at a time: neither side waits for the other to read a line. This module knows
the lines, not their meaning.
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
"""A word of an answer that repeats the question."""
THROWN = "!"
"""The first character of a word that names Kafka's exception."""


def class_path() -> list[Path]:
    """Kafka's jars. Raises Missing with the name of what is missing."""
    if shutil.which("javac") is None:
        raise Missing("javac is not on the PATH: the witness needs a JDK")
    return jars()


class Witness:
    """The process. `ask` writes lines, whose answers are read in the same order; `answer` does both
    for one line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._questions: SimpleQueue[str | None] = SimpleQueue()
        self._owed = 0
        self._writer = threading.Thread(target=self._write, name="questions to the witness", daemon=True)
        self._writer.start()

    def ask(self, *words: object) -> None:
        self._owed += 1
        self._questions.put("\t".join(map(str, words)))

    def answered(self) -> list[str]:
        """The words of the next answer. Raises RuntimeError if the process has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the Java witness ended with {self._process.wait()}")
        self._owed -= 1
        return line.rstrip("\n").split("\t")

    def answer(self, *words: object) -> list[str]:
        """The answer to this question; unread answers to earlier ones are dropped."""
        self.forget()
        self.ask(*words)
        return self.answered()

    def forget(self) -> None:
        """Drops the answers that were not read, as a failed test leaves them."""
        while self._owed:
            self.answered()

    def close(self) -> None:
        self.forget()
        self._questions.put(None)
        self._writer.join()
        self._process.wait(30)

    def _write(self) -> None:
        assert self._process.stdin is not None
        # The reader of the answers notices if the process has ended.
        with suppress(BrokenPipeError), self._process.stdin as lines:
            while (line := self._questions.get()) is not None:
                lines.write(line + "\n")
                if self._questions.empty():
                    lines.flush()


@contextmanager
def running(source: Path = SOURCE) -> Iterator[Witness]:
    """A witness for the caller alone, the Java program in `source`. Raises Missing."""
    path = os.pathsep.join(map(str, class_path()))
    process = subprocess.Popen(
        ["java", *JVM, "-cp", path, str(source)],
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
