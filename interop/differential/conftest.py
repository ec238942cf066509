"""A kafkadouble and an Apache Kafka with listeners of SASL, for each file that compares them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.local import Missing, jars
from interop.sasl_servers import Pair, sasl_pair


@pytest.fixture(scope="session")
def kafka_jars() -> None:
    """Skips the test if there is no Apache Kafka to compare with."""
    try:
        jars()
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with sasl_pair(tmp_path_factory.mktemp("pair")) as found:
        yield found
