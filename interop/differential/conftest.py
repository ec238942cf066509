"""A kafkadouble and an Apache Kafka with listeners of SASL, for each file that compares them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.local import Missing, jars
from interop.sasl_servers import sasl_double, sasl_kafka

from .sasl_pair import Pair


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    try:
        jars()
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")
    folders = tmp_path_factory.mktemp("double"), tmp_path_factory.mktemp("kafka")
    with sasl_double(folders[0]) as double, sasl_kafka(folders[1]) as kafka:
        yield Pair(double, kafka)
