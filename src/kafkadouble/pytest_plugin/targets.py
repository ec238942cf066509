"""Which Kafka the fixture kafka_double is: a double, or a real one.

pytest --kafka-broker=double          (the default)
pytest --kafka-broker=local           Apache Kafka from the folder KAFKA_HOME, started once
pytest --kafka-broker=container       Apache Kafka in Docker, by testcontainers, started once
pytest --kafka-broker=HOST:PORT       a Kafka that runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import options

if TYPE_CHECKING:
    from .external_kafka import ExternalKafka

Folder = Callable[[], Path]


@contextmanager
def external(config: pytest.Config, folders: pytest.TempPathFactory) -> Iterator[ExternalKafka]:
    """The real Kafka of this run."""
    from .external_kafka import ExternalKafka

    target = str(options.value(config, "kafka_broker"))
    if target not in STARTED and not _is_address(target):
        choices = ", ".join(["double", *STARTED])
        raise pytest.UsageError(f"kafka_broker is {choices} or HOST:PORT, not {target!r}")
    start = STARTED.get(target)
    if start is None:
        with ExternalKafka(target, target, is_own=False) as kafka:
            yield kafka
        return
    with start(lambda: folders.mktemp("kafka")) as address, ExternalKafka(target, address, is_own=True) as kafka:
        yield kafka


def _is_address(target: str) -> bool:
    return all(each.rpartition(":")[2].isdecimal() and each.rpartition(":")[0] for each in target.split(","))


def _local(folder: Folder) -> AbstractContextManager[str]:
    from .local_kafka import running

    return running(folder())


@contextmanager
def _container(folder: Folder) -> Iterator[str]:
    try:
        from testcontainers.kafka import KafkaContainer
    except ImportError:
        raise pytest.UsageError("--kafka-broker=container needs testcontainers: pip install testcontainers") from None
    with KafkaContainer().with_kraft() as container:
        yield str(container.get_bootstrap_server())


STARTED: dict[str, Callable[[Folder], AbstractContextManager[str]]] = {"local": _local, "container": _container}
"""The kinds of Kafka that the plugin starts: each yields the address."""
