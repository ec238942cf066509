"""A Spark session for measurements, and the cost of a query in it.

CPU seconds are those of the JVM, which is driver and executor in local mode, and of all processes
below it: planners, the daemon, workers, and processes that have ended. This process, which only
sends the queries, is not counted. The figures are read from /proc, so Linux only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from .sources import ALL

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Cost(NamedTuple):
    """Seconds: CPU of the JVM, CPU of the processes below it, and real time."""

    jvm: float
    python: float
    wall: float

    @property
    def cpu(self) -> float:
        return self.jvm + self.python

    def __str__(self) -> str:
        return f"JVM {self.jvm:.2f} and Python {self.python:.2f} CPU-s, {self.wall:.2f} s"


class Session:
    """`spark`, and the processes behind it."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self._jvm = int(spark._jvm.java.lang.ProcessHandle.current().pid())

    def cost(self, job: Callable[[], object]) -> Cost:
        """The cost of an action. It is repeated when a process has ended meanwhile, because the CPU
        time of that process may be lost.
        """
        while True:
            there, before, began = self._all(), self._ticks(), time.perf_counter()
            job()
            wall, after = time.perf_counter() - began, self._ticks()
            if there <= self._all():
                jvm, python = ((now - was) / os.sysconf("SC_CLK_TCK") for was, now in zip(before, after, strict=True))
                return Cost(jvm, python, wall)

    def _all(self) -> set[int]:
        return set(_below(self._jvm))

    def most_memory(self) -> int:
        """The largest resident size of a Python process since its start, in bytes."""
        found = [_status(pid, "VmHWM") for pid in _below(self._jvm) if pid != self._jvm]
        return max(found, default=0)

    def python_memory(self) -> dict[int, int]:
        """Bytes that each Python process below the JVM has resident now, by its id."""
        return {pid: _status(pid, "VmRSS") for pid in _below(self._jvm) if pid != self._jvm}

    def _ticks(self) -> tuple[int, int]:
        """The CPU time of the JVM, and of the rest, which includes children that it waited for."""
        own, total = sum(map(int, _stat(self._jvm)[11:13])), sum(map(_ticks, _below(self._jvm)))
        return own, total - own


@contextmanager
def session(cores: int, jars: Sequence[Path] = ()) -> Iterator[Session]:
    """`local[cores]`. One after the other they share a JVM."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", PYTHONPATH=str(ROOT))
    builder = SparkSession.builder.master(f"local[{cores}]").appName("benchmark")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    if jars:
        builder = builder.config("spark.jars", ",".join(map(str, jars)))
    spark = builder.getOrCreate()
    try:
        for source in ALL:
            spark.dataSource.register(source)
        yield Session(spark)
    finally:
        spark.stop()


def _stat(pid: int) -> list[str]:
    """The fields after the name; empty when the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _ticks(pid: int) -> int:
    """User and system time, with that of children that were waited for."""
    return sum(map(int, _stat(pid)[11:15]))


def _below(root: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and (stat := _stat(int(path.name))):
            children.setdefault(int(stat[1]), []).append(int(path.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _status(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)
