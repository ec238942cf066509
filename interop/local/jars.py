"""The jars of one release of the Kafka server, fetched once by Maven into a cache outside the
repository.

Rules. The cache is `KAFKADOUBLE_CACHE`, by default `~/.cache/kafkadouble`. A folder appears in it
complete or not at all, so that several test processes may create it at once. If Maven or anything
else is absent, `Missing` says what, and the caller can skip its tests with that reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

VERSION = "4.4.0"
POM = Path(__file__).parent.with_name("real-kafka.pom.xml")

TOOLS_API = {"4.4.0": "4.3.1"}
"""The release whose tools API a server runs with, where its own release was not published."""


class Missing(Exception):
    """A prerequisite of a real Kafka is not installed; the text says which."""


def cache() -> Path:
    return Path(os.environ.get("KAFKADOUBLE_CACHE") or Path.home() / ".cache" / "kafkadouble")


def program(name: str) -> str:
    """The path of a program. Raises Missing."""
    if (found := shutil.which(name)) is None:
        raise Missing(f"{name} is not on the PATH")
    return found


def jars(version: str = VERSION) -> list[Path]:
    """The server's class path, sorted. Raises Missing."""
    program("java")
    folder = cache() / f"server-{version}"
    if not (folder / "complete").exists():
        _fetch(version, program("mvn"), folder)
    return sorted(folder.glob("*.jar"))


def _fetch(version: str, maven: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        target = Path(made, "jars")
        options = {
            "kafka.version": version,
            "tools.version": TOOLS_API.get(version, version),
            "outputDirectory": target,
        }
        given = [f"-D{name}={value}" for name, value in options.items()]
        command = [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", *given]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"Maven could not fetch Kafka {version}: {(done.stdout + done.stderr)[-500:]}")
        (target / "complete").touch()
        if (folder / "complete").exists():
            return  # another process was quicker
        shutil.rmtree(folder, ignore_errors=True)
        target.rename(folder)
