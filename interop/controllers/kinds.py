"""The programs that can run a node: Apache Kafka of some release, or kafkadouble. Both use the same
server.properties and the same data directory.

Rules. A kind is command lines, and the line of the log that says that the node serves: it starts no
process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from interop.local.cluster import Kafka
from interop.local.node import Kind


class Double(NamedTuple):
    """kafkadouble, as it is installed here."""

    words: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "kafkadouble"

    @property
    def ready(self) -> bytes:
        return b"\npid="

    def format(self, config: Path, cluster_id: str, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "kafkadouble", "format", "-t", cluster_id, "-c", str(config), *words]

    def run(self, config: Path) -> list[str]:
        return [sys.executable, "-m", "kafkadouble", "serve", "--config", str(config), *self.words]


__all__ = ["DOUBLE", "KAFKA", "Double", "Kafka", "Kind"]

DOUBLE = Double()
KAFKA = Kafka()
