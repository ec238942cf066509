"""Apache Kafka on this machine, where Java and Maven are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..local import Missing, cluster
from .broker import Broker, BrokerRequirements, Unavailable, met


@contextmanager
def local(requirements: BrokerRequirements) -> Iterator[Broker]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-")))
        try:
            running = stack.enter_context(cluster(folder, requirements.version, brokers=requirements.brokers))
        except Missing as reason:
            raise Unavailable(f"no Kafka of this machine: {reason}") from reason
        own = {"durable", "kill", "own", "restart"}
        yield met(f"local {requirements.version}", running.bootstrap, own, running.brokers)
