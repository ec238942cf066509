"""The jars of Kafka's command-line tools, fetched once by Maven into the cache of `interop.local`.

Their newest release is older than the server's: 4.4.0 was published without its tools.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from interop.local.jars import Missing, cache, program

VERSION = "4.3.1"
POM = Path(__file__).with_name("kafka-tools.pom.xml")


def jars() -> list[Path]:
    """The class path of the tools, sorted. Raises Missing."""
    program("java")
    return copied(POM, f"tools-{VERSION}", f"Kafka's tools {VERSION}", "-Dkafka.version=" + VERSION)


def copied(pom: Path, name: str, what: str, *given: str) -> list[Path]:
    """The jars that a pom names, in a folder of the cache whose name comes from the pom's name and
    text. Raises Missing."""
    folder = cache() / f"{name}-{sha256(pom.read_bytes()).hexdigest()[:8]}"
    if not folder.exists():
        _fetch(pom, program("mvn"), folder, what, given)
    return sorted(folder.glob("*.jar"))


def _fetch(pom: Path, maven: str, folder: Path, what: str, given: Sequence[str]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        target = Path(made, "jars")
        command = [
            maven,
            "-q",
            "-B",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
            *given,
            f"-DoutputDirectory={target}",
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"Maven could not fetch {what}: {(done.stdout + done.stderr)[-500:]}")
        if not folder.exists():  # else another process was quicker
            target.rename(folder)
