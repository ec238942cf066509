"""The table of programs: the rows of every toolchain. Another language is one more file in
`toolchains/` and one line here."""

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
"""One of each implementation there is, of those that compile soon: for what takes long with
each."""


def by_name(name: str) -> Program:
    return next(each for each in PROGRAMS if each.name == name)
