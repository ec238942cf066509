"""`kafkadouble observe` as a user runs it, and what it prints as plain values."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from interop.local.jars import program
from interop.tools.jars import jars
from kafkadouble.__main__ import main

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, str]


class ObserveOutput(NamedTuple):
    """The exit code and the output of a call."""

    code: int
    out: str
    err: str


def observed(*words: str) -> ObserveOutput:
    """A call that ends by itself."""
    command = [sys.executable, "-m", "kafkadouble", "observe", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=180, check=False)
    return ObserveOutput(done.returncode, done.stdout, done.stderr)


def tables(out: str) -> dict[str, list[Row]]:
    """The tables by their headlines; that of the cluster as one row."""
    found: dict[str, list[Row]] = {}
    for part in out.strip().split("\n\n"):
        title, *lines = part.splitlines()
        cells = [re.split(r"\s{2,}", line.strip()) for line in lines]
        title = title.partition(" (")[0]
        if title == "Cluster":
            found[title] = [dict(cells)]
        elif cells == [["(none)"]]:
            found[title] = []
        else:
            heads, *rows = cells
            found[title] = [dict(zip(heads, row, strict=False)) for row in rows]
    return found


class Watch:
    """A call with --watch --json, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.objects: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.objects.append(json.loads(line))

    def of(self, type: str) -> list[dict[str, Any]]:
        """The records of one type, without where they stand."""
        return [each["data"] for each in list(self.objects) if each.get("type") == type]

    def end(self) -> ObserveOutput:
        """Ends it as `kill` does."""
        self._process.terminate()
        code = self._process.wait(30)
        self._thread.join(30)
        assert self._process.stderr is not None
        return ObserveOutput(code, "", self._process.stderr.read())


@contextmanager
def watching(*words: str) -> Iterator[Watch]:
    command = [sys.executable, "-m", "kafkadouble", "observe", "--watch", "--json", *words]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            yield Watch(process)
        finally:
            process.kill()


def tool(main_class: str, *words: str) -> str:
    """What a tool of Kafka's says. Raises Missing."""
    path = os.pathsep.join(map(str, jars()))
    quick = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
    command = [program("java"), *quick, "-cp", path, f"org.apache.kafka.tools.{main_class}", *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def described_topics(bootstrap: str) -> list[Row]:
    """The partitions as kafka-topics --describe lists them."""
    out = tool("TopicCommand", "--bootstrap-server", bootstrap, "--describe")
    rows = []
    for line in out.splitlines():
        if line.startswith("\tTopic: "):
            fields = (cell.partition(":") for cell in line.strip().split("\t"))
            rows.append({name.strip(): value.strip() for name, _, value in fields})
    return rows


def run_here(words: Sequence[str]) -> int:
    """In this process, for tests that change something in it."""
    return main(["observe", *words])
