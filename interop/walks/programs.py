"""The table of programs: the rows of every toolchain. A new language is a file in `toolchains/` and
a line here."""

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

CORE = frozenset(
    {"kafka-python", "aiokafka", "confluent-kafka", "kafka-clients 4.4.0", "franz-go", "kafkajs", "librdkafka"}
)
"""One program of each implementation, of those that compile quickly: for tests that take long with
each."""


def by_name(name: str) -> Program:
    return next(program for program in PROGRAMS if program.name == name)
