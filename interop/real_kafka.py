"""One Apache Kafka node at full speed, for measurements and experiments by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .local import VERSION, Missing, cluster, jars
from .local.java import FULL

__all__ = ["VERSION", "Missing", "RealKafka", "jars", "real_kafka"]


class RealKafka(NamedTuple):
    """A running node: its address, and its process id."""

    bootstrap: str
    pid: int


@contextmanager
def real_kafka(folder: Path, version: str = VERSION, **overrides: object) -> Iterator[RealKafka]:
    """One combined node with its data in `folder`; settings by their Kafka names with `_` for `.`.
    Raises Missing."""
    given = {key.replace("_", "."): value for key, value in overrides.items()}
    with cluster(folder, version, flags=FULL, overrides=given) as running:
        yield RealKafka(running.bootstrap, running.nodes[0].pid)
