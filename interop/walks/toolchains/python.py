"""The Python programs. They run on the interpreter of the tests, which has the clients of the group
`clients`: there is nothing to build."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from .building import CLASSIC, CONSUMER, NOTHING, SOURCES, Program, Toolchain

FOLDER = SOURCES / "python"


def build(folder: Path) -> None:
    """Does nothing."""


TOOLCHAIN = Toolchain("Python", FOLDER, build)


def command(module: str, *words: str) -> list[str]:
    """The command line of a module, on the interpreter of the tests."""
    return [sys.executable, "-m", module, *words]


def _row(
    package: str, not_offered: Mapping[str, str] = NOTHING, group_protocols: tuple[str, ...] = (CLASSIC,)
) -> Program:
    return Program(
        package,
        package,
        version(package),
        TOOLCHAIN,
        lambda folder: command("interop.programs.python", package),
        not_offered,
        group_protocols=group_protocols,
    )


PROGRAMS = (
    _row("kafka-python", {"null_header": "refuses to send a header without a value"}),
    _row("aiokafka"),
    _row("confluent-kafka", group_protocols=(CLASSIC, CONSUMER)),
)
