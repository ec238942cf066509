"""Fixtures: one Spark session with its own Kafka connector beside `kafka-wire`, to compare both in
one process on the same topics. And two nodes of Apache Kafka: one that requires authentication, and
one with every kind of content in its directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interop.local import Missing
from interop.local.cluster import Cluster
from interop.support import local_kafka
from interop.tools.jars import copied
from tests.support.spark_session import session

from .filled_node import filled_node
from .secure_node import secure_node

POM = Path(__file__).with_name("connector.pom.xml")


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A local session on two cores, or a skip that says what is missing."""
    pytest.importorskip("pyspark.sql", reason="NOTHING WAS HELD AGAINST SPARK'S CONNECTOR: there is no pyspark")
    try:
        jars = copied(POM, "spark-connector", "Spark's Kafka connector")
    except Missing as reason:
        if request.config.getoption("must"):
            raise
        pytest.skip(f"NOTHING WAS HELD AGAINST SPARK'S CONNECTOR: {reason}")
    with session("interop", spark_jars=",".join(map(str, jars))) as found:
        yield found


@pytest.fixture(scope="session")
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The addresses of the node with authentication, by listener."""
    with local_kafka(request), secure_node(tmp_path_factory.mktemp("secure")) as addresses:
        yield addresses


@pytest.fixture(scope="session")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The node with every kind of content. Tests stop and restart it, and leave it running."""
    with local_kafka(request), filled_node(tmp_path_factory.mktemp("filled")) as running:
        yield running
