"""kcat, as the system has it, walked by a script."""

from __future__ import annotations

from pathlib import Path

from .building import SOURCES, Program, Toolchain, program

FOLDER = SOURCES / "c"


def build(folder: Path) -> None:
    """It is there, or Missing."""
    program("kcat")


TOOLCHAIN = Toolchain("C", FOLDER, build)
PROGRAMS: tuple[Program, ...] = ()
