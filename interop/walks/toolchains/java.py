"""The Java programs: Kafka's own client, one source for every release, and a word count with Kafka
Streams.

The client's program is compiled against the oldest release, and runs with the jars of each;
Streams' is compiled against its own.
"""

from __future__ import annotations

import os
from pathlib import Path

from .building import CLASSIC, CONSUMER, SOURCES, Program, Toolchain, fetch, program, run

FOLDER = SOURCES / "java"

CLIENTS = ("4.4.0", "3.9.2", "2.1.1")
"""The newest release; the last one of Kafka 3; the oldest one that has all five codecs, and that
Kafka 4 still serves (KIP-896)."""

STREAMS = "4.3.1"
"""The newest release in Maven: Streams was not published with 4.4.0."""

QUICK = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xshare:auto")
JAVA = "11"
"""The lowest Java version that the newest client supports."""
CLASSES = "classes"


def build(folder: Path) -> None:
    javac, maven = program("javac"), program("mvn")
    program("java")
    for artifact, version in [*(("kafka-clients", version) for version in CLIENTS), ("kafka-streams", STREAMS)]:
        words = [f"-Dartifact={artifact}", f"-Dkafka.version={version}", f"-DoutputDirectory={folder / version}"]
        fetch([maven, "-q", "-B", "-f", FOLDER / "pom.xml", "dependency:copy-dependencies", *words], folder)
    classes = folder / CLASSES
    for part, version in (("clients", CLIENTS[-1]), ("streams", STREAMS)):
        sources = sorted((FOLDER / part).glob("*.java"))
        run([javac, "--release", JAVA, "-cp", _path(folder, version), "-d", classes, *sources], folder)


def _path(folder: Path, version: str) -> str:
    return os.pathsep.join((str(folder / CLASSES), str(folder / version / "*")))


def java(folder: Path, version: str, main: str) -> list[str]:
    """The command line before the name of a main class, with the jars of one release."""
    return [program("java"), *QUICK, "-cp", _path(folder, version), main]


TOOLCHAIN = Toolchain("Java", FOLDER, build)


def _row(version: str) -> Program:
    return Program(
        f"kafka-clients {version}",
        "kafka-clients",
        version,
        TOOLCHAIN,
        lambda folder: java(folder, version, "interop.Program"),
        group_protocols=(CLASSIC, CONSUMER) if version == CLIENTS[0] else (CLASSIC,),
    )


PROGRAMS = tuple(_row(version) for version in CLIENTS)


def word_count(folder: Path) -> list[str]:
    """The command line of the Streams program, before GUARANTEE PROTOCOL BOOTSTRAP TOPIC
    APPLICATION; its output has a format of its own."""
    return java(folder, STREAMS, "interop.WordCount")


def endless_word_count(folder: Path) -> list[str]:
    """The command line of the Streams program that runs until its input ends, before GUARANTEE
    PROTOCOL BOOTSTRAP TOPIC APPLICATION FOLDER COMMIT_INTERVAL_MS."""
    return java(folder, STREAMS, "interop.EndlessWordCount")
