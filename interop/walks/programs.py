"""The table of programs: the rows of every toolchain. Another language is one more file in `toolchains/` and one line here."""

from __future__ import annotations

from .toolchains import c, go, java, js, python, rust
from .toolchains.building import Program

PROGRAMS: tuple[Program, ...] = (
    *go.PROGRAMS,
    *c.PROGRAMS,
    *java.PROGRAMS,
    *js.PROGRAMS,
    *python.PROGRAMS,
    *rust.PROGRAMS,
)


def by_name(name: str) -> Program:
    return next(each for each in PROGRAMS if each.name == name)
