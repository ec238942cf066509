"""Makes random requests of an API, of values that mean something."""

from __future__ import annotations

from random import Random
from typing import Any

from kafkadouble.messages.uuid import Uuid
from tests.server.harness import Harness

NAMES = (
    "a",
    "b",
    "x.y",
    "x_y",
    "",
    "a b",
    "__consumer_offsets",
    "__cluster_metadata",
    "1",
    "2",
    "-1",
    "+1",
    "ü",
    "x" * 300,
)
CONFIGS = (
    "cleanup.policy",
    "consumer.session.timeout.ms",
    "interval.ms",
    "listeners",
    "log.cleanup.policy",
    "log.retention.ms",
    "match",
    "min.insync.replicas",
    "nope",
    "num.partitions",
    "remote.storage.enable",
    "retention.ms",
    "root",
    "segment.bytes",
)
VALUES = ("", "0", "1", "-1", "x", "compact", "compact,delete", ",", " 5 ", "9" * 30, "true", "a=b", "INFO", "1e3")
NUMBERS = {"int8": (-1, 0, 1, 2, 3, 4, 8, 16, 32, 99)}
OTHER_NUMBERS = (-2, -1, 0, 1, 1, 1, 2, 3, 5, 32767)


class Maker:
    """Makes requests; every choice is the seed's."""

    def __init__(self, random: Random, cluster: Harness) -> None:
        self.random, self.cluster = random, cluster

    def struct(self, cls: Any, version: int, outer: Any = None) -> Any:
        """A struct whose fields, as far as the version has them, are chosen at random."""
        arguments = {}
        for line in cls._fields.splitlines():
            name, _, kind, versions, *rest = line.split()
            if _within(version, versions):
                null = any(word.startswith("null=") and _within(version, word[5:]) for word in rest)
                arguments[name] = self.value(cls, name, kind, version, null, outer or cls)
        return cls(**arguments)

    def value(self, cls: Any, name: str, kind: str, version: int, null: bool, outer: Any) -> Any:
        choice = self.random.choice
        if null and self.random.random() < 0.15:
            return None
        if kind.startswith("[]"):
            count = choice((0, 1, 1, 2, 3))
            return [self.value(cls, name, kind[2:], version, False, outer) for _ in range(count)]
        if kind == "string":
            return choice(VALUES if name == "value" else CONFIGS if _is_config(cls, name) else NAMES)
        if kind == "bool":
            return self.random.random() < 0.3
        if kind == "uuid":
            return choice((Uuid.ZERO, Uuid(b"n" * 16), *list(self.cluster.image.topics)[:3]))
        if kind.startswith("int"):
            return 1000 if "timeout" in name else choice(NUMBERS.get(kind, OTHER_NUMBERS))
        return self.struct(getattr(cls, kind, None) or getattr(outer, kind), version, outer)


def _within(version: int, versions: str) -> bool:
    low, _, high = versions.partition("-")
    open_end = low.endswith("+")
    return int(low.rstrip("+")) <= version and (open_end or version <= int(high or low))


def _is_config(cls: Any, name: str) -> bool:
    return "Config" in cls.__name__ and name in ("name", "configuration_keys") and "Topics" not in cls.__name__
