"""The jars of Kafka's command-line tools, fetched once by Maven into the cache of `interop.local`.

Their newest release is older than the server's: 4.4.0 came without its tools.
"""

from __future__ import annotations

import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

from interop.local.jars import Missing, cache, program

VERSION = "4.3.1"
POM = Path(__file__).with_name("kafka-tools.pom.xml")


def jars() -> list[Path]:
    """The class path of the tools, sorted. Raises Missing."""
    program("java")
    folder = cache() / f"tools-{VERSION}-{sha256(POM.read_bytes()).hexdigest()[:8]}"
    if not folder.exists():
        _fetch(program("mvn"), folder)
    return sorted(folder.glob("*.jar"))


def _fetch(maven: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        target = Path(made, "jars")
        given = [f"-Dkafka.version={VERSION}", f"-DoutputDirectory={target}"]
        command = [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", *given]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"Maven could not fetch Kafka's tools {VERSION}: {(done.stdout + done.stderr)[-500:]}")
        if not folder.exists():  # else another process was quicker
            target.rename(folder)
