"""A double with a topic `t` of one partition, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import Client
from tests.support.pipeline_client import client_of


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        double.create_topic("t")
        yield double


@pytest.fixture
def ten(double: KafkaDouble) -> KafkaDouble:
    """The double with ten records, each a batch of its own: the digits."""
    for number in range(10):
        double.produce("t", f"{number}")
    return double


@pytest.fixture
def client(double: KafkaDouble) -> Iterator[Client]:
    with client_of(double.bootstrap_servers) as client:
        yield client
