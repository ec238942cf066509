"""The Go programs: franz-go, Sarama, segmentio's kafka-go; one module, a binary for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .building import CLASSIC, CONSUMER, NOTHING, SOURCES, Program, Toolchain, fetch, program, run

FOLDER = SOURCES / "go"


def build(folder: Path) -> None:
    go = program("go")
    fetch([go, "mod", "download"], FOLDER)
    run([go, "build", "-mod=readonly", "-trimpath", "-o", f"{folder}/", "./..."], FOLDER)


TOOLCHAIN = Toolchain("Go", FOLDER, build)


def _row(
    name: str,
    package: str,
    version: str,
    binary: str,
    not_offered: Mapping[str, str] = NOTHING,
    at_fail_over: str = "",
    group_protocols: tuple[str, ...] = (CLASSIC,),
) -> Program:
    def command(folder: Path) -> list[str]:
        return [str(folder / binary)]

    return Program(
        name,
        "Go",
        package,
        version,
        TOOLCHAIN,
        command,
        not_offered,
        at_fail_over=at_fail_over,
        group_protocols=group_protocols,
    )


PROGRAMS = (
    _row("franz-go", "github.com/twmb/franz-go", "v1.22.2", "franz", group_protocols=(CLASSIC, CONSUMER)),
    _row(
        "sarama",
        "github.com/IBM/sarama",
        "v1.61.1",
        "sarama",
        at_fail_over="reports an error for a record after three retries of 100 ms each, unless more retries are set",
    ),
    _row(
        "kafka-go",
        "github.com/segmentio/kafka-go",
        "v0.4.51",
        "segmentio",
        {"transactions": "has no transactional producer"},
        "has no idempotent producer, so a record may be written twice; it reports an error for a record after ten attempts",
    ),
)
