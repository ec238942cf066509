"""The command lines that run main classes of Kafka, for a quick start or for full speed.

A start spends most of its time on reading classes. An archive of the classes, which Java records
when a first node ends, halves that time. Java uses an archive only with the program and class path
that made it, and otherwise runs without it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from .jars import cache, jars, program

QUICK = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""Flags for the shortest start on a small machine. They are fast enough for tests."""

FULL = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:-UsePerfData")
"""Flags for measurements of throughput."""

LOGGING = Path(__file__).with_name("log4j2.properties")


def command(version: str, main: str, *words: str, flags: Sequence[str]) -> list[str]:
    """The command that runs a main class. Raises Missing."""
    path = os.pathsep.join(map(str, jars(version)))
    quiet = ("-Xlog:disable", "-Xlog:all=error:stderr", f"-Dlog4j2.configurationFile={LOGGING}")
    return [program("java"), *flags, *quiet, "-cp", path, main, *words]


def archive(version: str) -> Path:
    """The path of the archive of this release for this Java, whether it exists or not."""
    java = Path(program("java")).resolve()
    maker = f"{java} {java.stat().st_mtime_ns} {os.environ.get('JAVA_HOME')} {jars(version)}"
    return cache() / f"server-{version}-{sha256(maker.encode()).hexdigest()[:12]}.jsa"


def recording(target: Path) -> tuple[str, ...]:
    """Flags of a run that writes an archive when it ends."""
    return (*QUICK, f"-XX:ArchiveClassesAtExit={target}")


def quick(version: str) -> tuple[str, ...]:
    """Flags for the shortest start, with the archive if there is one."""
    found = archive(version)
    return (*QUICK, f"-XX:SharedArchiveFile={found}") if found.exists() else QUICK
