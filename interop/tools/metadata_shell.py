"""Runs kafka-metadata-shell on a snapshot or a metadata log, to see the image that Kafka reads from
it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from interop.local.jars import program

from .jars import jars

MAIN = "org.apache.kafka.shell.MetadataShell"
PASSED_OVER = re.compile(r"ERROR Ignoring control record with type \w+ at offset \d+$")
"""The shell logs this for the control records of every snapshot, Kafka's own too."""
ATTEMPTS, PATIENCE = 6, 12
"""The number of attempts, and the seconds of the first; each attempt gets as many seconds more as
the first one has, for a busy machine."""


def shell(file: Path, *words: str, holds: Callable[[str], bool]) -> str:
    """The output of the shell, once it has the expected content. The shell may run a command before
    it has loaded the image, and then finds nothing or waits for ever, so the attempt is repeated.
    Raises Missing."""
    output = "nothing in time"
    for attempt in range(ATTEMPTS):
        with suppress(subprocess.TimeoutExpired):
            output = _run((1 + attempt) * PATIENCE, "--snapshot", str(file), *words)
            shown = [line for line in output.splitlines() if not PASSED_OVER.search(line)]
            if holds("\n".join(shown)):
                return output
    raise AssertionError(output)


def _run(patience: int, *words: str) -> str:
    path = os.pathsep.join(map(str, jars()))
    command = [program("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, MAIN, *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=patience
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return f"{done.stdout}\n{done.stderr}"
