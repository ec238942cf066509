"""kafka-metadata-shell, asked of a snapshot or a metadata log: what of the image Kafka sees in
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
"""It says so of the control records of every snapshot, of Kafka's own too."""
ATTEMPTS, PATIENCE = 6, 12
"""How often, and the seconds of the first time; each has as many more, for a busy machine."""


def shell(file: Path, *words: str, holds: Callable[[str], bool]) -> str:
    """All that the shell says, once it shows what is wanted. It may run a command before it has
    shown the image to itself, and then knows of nothing, or waits for ever: it is asked again.
    Raises Missing."""
    told = "nothing in time"
    for attempt in range(ATTEMPTS):
        with suppress(subprocess.TimeoutExpired):
            told = _run((1 + attempt) * PATIENCE, "--snapshot", str(file), *words)
            shown = [line for line in told.splitlines() if not PASSED_OVER.search(line)]
            if holds("\n".join(shown)):
                return told
    raise AssertionError(told)


def _run(patience: int, *words: str) -> str:
    path = os.pathsep.join(map(str, jars()))
    command = [program("java"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, MAIN, *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=patience
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return f"{done.stdout}\n{done.stderr}"
