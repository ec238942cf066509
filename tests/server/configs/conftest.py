"""The witness that several tests ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.configs.witness import Witness, running


@pytest.fixture(scope="session")
def kafka() -> Iterator[Witness]:
    """Apache Kafka 4.4.0's own classes, to compare with."""
    yield from running(Path(__file__).with_name("KafkaWitness.java"))
