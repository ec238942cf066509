"""The Go programs: franz-go, Sarama, segmentio's kafka-go; one module, a binary for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .building import NOTHING, SOURCES, Program, Toolchain, fetch, program, run

FOLDER = SOURCES / "go"


def build(folder: Path) -> None:
    go = program("go")
    fetch([go, "mod", "download"], FOLDER)
    run([go, "build", "-mod=readonly", "-trimpath", "-o", f"{folder}/", "./..."], FOLDER)


TOOLCHAIN = Toolchain("Go", FOLDER, build)


def _row(name: str, package: str, version: str, binary: str, not_offered: Mapping[str, str] = NOTHING) -> Program:
    return Program(name, "Go", package, version, TOOLCHAIN, lambda folder: [str(folder / binary)], not_offered)


PROGRAMS = (
    _row("franz-go", "github.com/twmb/franz-go", "v1.22.2", "franz"),
    _row("sarama", "github.com/IBM/sarama", "v1.61.1", "sarama"),
    _row(
        "kafka-go",
        "github.com/segmentio/kafka-go",
        "v0.4.51",
        "segmentio",
        {"transactions": "has no transactional producer"},
    ),
)
