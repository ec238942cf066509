"""Finds the jars of an Apache Kafka release in the cache, or downloads them with Maven into the
cache.

A release's jars are in `kafka-VERSION` under `KAFKADOUBLE_CACHE` (default `~/.cache/kafkadouble`);
a folder that holds every jar of `FAMILIES` is used as it is, and Maven is not called. This file
never opens a jar.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

FAMILIES = {
    "kafka-clients": "clients",
    "kafka-group-coordinator": "group_coordinator",
    "kafka-metadata": "metadata",
    "kafka-raft": "raft",
    "kafka-share-coordinator": "share_coordinator",
    "kafka-storage": "storage",
    "kafka-transaction-coordinator": "transaction_coordinator",
}
"""The artifacts with message specifications -> our folder with the same specifications."""

POM = Path(__file__).with_name("kafka.pom.xml")
PATIENCE = 600
"""Seconds that one run of Maven may take."""

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


class NoJars(Exception):
    """The jars are not available; the text is the reason."""


def family_jars(version: str) -> dict[str, Path]:
    """Family -> its jar of this Kafka version. Raises NoJars when a jar is not in the cache and
    cannot be downloaded."""
    folder = cache_folder(version)
    jars = {family: folder / f"{artifact}-{version}.jar" for artifact, family in FAMILIES.items()}
    if not all(jar.is_file() for jar in jars.values()):
        _fetch(version, folder)
    missing = [jar.name for jar in jars.values() if not jar.is_file()]
    if missing:
        raise NoJars(f"Maven did not download {', '.join(missing)}")
    return jars


def cache_folder(version: str) -> Path:
    """The folder for the jars of this version; it may be absent."""
    base = os.environ.get("KAFKADOUBLE_CACHE")
    return (Path(base) if base else Path.home() / ".cache" / "kafkadouble") / f"kafka-{version}"


def _fetch(version: str, folder: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise NoJars("Maven (mvn) is not on the PATH")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise NoJars("Java is not on the PATH, and JAVA_HOME is not set")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written under another name, then renamed: an interrupted run leaves no incomplete jar.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as landing:
        _run_maven(maven, version, landing)
        folder.mkdir(exist_ok=True)
        for jar in Path(landing).glob("*.jar"):
            jar.replace(folder / jar.name)


def _run_maven(maven: str, version: str, landing: str) -> None:
    goal = ["dependency:copy-dependencies", f"-Dkafka.version={version}", f"-DoutputDirectory={landing}"]
    try:
        run = subprocess.run(
            [maven, "-q", "-B", "-f", str(POM), *goal], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoJars(f"Maven failed: {error}") from error
    if run.returncode:
        output = _COLOUR.sub("", run.stdout + run.stderr).strip() or "it printed nothing"
        raise NoJars(f"Maven ended with {run.returncode}: {output.splitlines()[0]}")
