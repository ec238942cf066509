"""The witness that the comparisons with Kafka ask, and the broker of the other tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.configs.witness import Witness, running
from tests.server.transactions.broker import Broker


@pytest.fixture(scope="session")
def coordinator() -> Iterator[Witness]:
    """The transaction coordinator of Apache Kafka 4.4.0, to compare with."""
    yield from running(Path(__file__).with_name("TransactionWitness.java"))


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture(params=[1, 2], ids=["version 1", "version 2"])
def version(request: pytest.FixtureRequest) -> int:
    """The producer's transactions version."""
    return int(request.param)


@pytest.fixture(params=["shut down", "killed"])
def how(request: pytest.FixtureRequest) -> str:
    """How a broker ends before its restart."""
    return str(request.param)
