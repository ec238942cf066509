"""Runs Kafka's command-line tools in one JVM that keeps running: `resident/Resident.java`, with a
line for each call.

A tool's JVM needs a second or two to start, most of which goes to loading Kafka's client. Here the
client is loaded once, and only the tools' own classes are loaded again for each call.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from interop.walks.toolchains.building import Toolchain, built, fetch, program, run

SOURCES = Path(__file__).with_name("resident")
VERSION = "4.3.1"
"""The newest release of the tools in Maven: they were not published with 4.4.0."""

JAVA = "17"
FLAGS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto")
LOGGING = "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"
FRESH = ("kafka-tools-4*.jar", "kafka_2.13-*.jar")
"""The jars with the tools themselves."""


PATIENCE = 180
"""Seconds that a tool may take in a JVM of its own."""


class ToolOutput(NamedTuple):
    code: int
    out: str
    err: str


def build(folder: Path) -> None:
    javac, maven = program("javac"), program("mvn")
    program("java")
    given = [f"-Dkafka.version={VERSION}", f"-DoutputDirectory={folder / 'jars'}"]
    fetch([maven, "-q", "-B", "-f", SOURCES / "pom.xml", "dependency:copy-dependencies", *given], folder)
    (folder / "fresh").mkdir()
    for pattern in FRESH:
        for jar in (folder / "jars").glob(pattern):
            jar.rename(folder / "fresh" / jar.name)
    source = SOURCES / "Resident.java"
    run([javac, "--release", JAVA, "-cp", folder / "jars" / "*", "-d", folder / "classes", source], folder)


TOOLCHAIN = Toolchain("tools", SOURCES, build)


class Resident:
    """The JVM. `folder` is its working directory, where the tools find their files."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, path: str) -> None:
        self._process, self.folder, self._path = process, folder, path

    def alone(self, main: str, words: Sequence[str], stdin: str = "") -> ToolOutput:
        """Runs a main class in a new JVM that ends with it."""
        command = [program("java"), *FLAGS, LOGGING, "-cp", self._path, main, *words]
        done = subprocess.run(
            command, cwd=self.folder, input=stdin, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False
        )
        return ToolOutput(done.returncode, done.stdout, done.stderr)

    def call(self, main: str, words: Sequence[str], stdin: str = "") -> ToolOutput:
        """Runs a main class to its end."""
        fields = [main, *(b64encode(one.encode()).decode() for one in (stdin, *words))]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(fields) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the JVM of the tools ended with {self._process.wait()}")
        code, out, err = line.rstrip("\n").split("\t")
        return ToolOutput(int(code), b64decode(out).decode(), b64decode(err).decode())


@contextmanager
def resident() -> Iterator[Resident]:
    """A JVM for the caller alone. Raises Missing."""
    folder = built(TOOLCHAIN)
    path = os.pathsep.join((str(folder / "classes"), str(folder / "jars" / "*")))
    with tempfile.TemporaryDirectory(prefix="tools-") as here:
        process = subprocess.Popen(
            [program("java"), *FLAGS, LOGGING, "-cp", path, "Resident", str(folder / "fresh")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            cwd=here,
        )
        with process:
            try:
                yield Resident(process, Path(here), os.pathsep.join((path, str(folder / "fresh" / "*"))))
            finally:
                process.kill()
