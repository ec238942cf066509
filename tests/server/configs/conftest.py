"""The witness that several tests ask."""

from collections.abc import Iterator

import pytest

from tests.server.configs.witness import Witness, missing


@pytest.fixture(scope="session")
def kafka() -> Iterator[Witness]:
    """Apache Kafka 4.4.0's own classes, to compare with."""
    lack = missing()
    if lack:
        pytest.skip(f"NOT COMPARED WITH KAFKA: {lack}. What is committed was last compared with Kafka 4.4.0.")
    witness = Witness()
    yield witness
    witness.close()
