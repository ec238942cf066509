"""The Go programs: franz-go, Sarama, segmentio's kafka-go; one module, a binary for each."""

from __future__ import annotations

from pathlib import Path

from .building import CLASSIC, CONSUMER, SOURCES, Program, Toolchain, binary, fetch, program, run

FOLDER = SOURCES / "go"


def build(folder: Path) -> None:
    go = program("go")
    fetch([go, "mod", "download"], FOLDER)
    run([go, "build", "-mod=readonly", "-trimpath", "-o", f"{folder}/", "./..."], FOLDER)


TOOLCHAIN = Toolchain("Go", FOLDER, build)


PROGRAMS = (
    Program(
        "franz-go",
        "github.com/twmb/franz-go",
        "v1.22.2",
        TOOLCHAIN,
        binary("franz"),
        group_protocols=(CLASSIC, CONSUMER),
    ),
    Program(
        "sarama",
        "github.com/IBM/sarama",
        "v1.61.1",
        TOOLCHAIN,
        binary("sarama"),
        at_fail_over="reports an error for a record after three retries of 100 ms each, unless more retries are set",
    ),
    Program(
        "kafka-go",
        "github.com/segmentio/kafka-go",
        "v0.4.51",
        TOOLCHAIN,
        binary("segmentio"),
        {"transactions": "has no transactional producer"},
        at_fail_over="has no idempotent producer, so a record may be written twice; it reports an error for a record after ten attempts",
    ),
)
