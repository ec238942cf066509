"""The command lines that run main classes of Kafka, for a quick start or for full speed.

Most of a quick start is reading classes; an archive of them, which Java records when a first node ends, halves it. Java takes an archive
only from the very program and class path that made it, and goes on without it otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from .jars import cache, jars, program

QUICK = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
"""The shortest start on a small machine, and for tests fast enough."""

FULL = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC", "-XX:-UsePerfData")
"""What throughput is measured with."""

LOGGING = Path(__file__).with_name("log4j2.properties")


def command(version: str, main: str, *words: str, flags: Sequence[str]) -> list[str]:
    """Raises Missing."""
    path = os.pathsep.join(map(str, jars(version)))
    quiet = ("-Xlog:disable", "-Xlog:all=error:stderr", f"-Dlog4j2.configurationFile={LOGGING}")
    return [program("java"), *flags, *quiet, "-cp", path, main, *words]


def archive(version: str) -> Path:
    """Where the archive of this release for this Java is, or would be."""
    java = Path(program("java")).resolve()
    maker = f"{java} {java.stat().st_mtime_ns} {os.environ.get('JAVA_HOME')} {jars(version)}"
    return cache() / f"server-{version}-{sha256(maker.encode()).hexdigest()[:12]}.jsa"


def recording(target: Path) -> tuple[str, ...]:
    """Flags of a run that ends by writing an archive."""
    return (*QUICK, f"-XX:ArchiveClassesAtExit={target}")


def quick(version: str) -> tuple[str, ...]:
    """Flags for the shortest start, with the archive if there is one."""
    found = archive(version)
    return (*QUICK, f"-XX:SharedArchiveFile={found}") if found.exists() else QUICK
