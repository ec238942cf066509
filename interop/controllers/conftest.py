"""What the tests of controllers share: Apache Kafka, or a skip that says that it is missing; and
whose the controllers are."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from interop.support import local_kafka
from interop.tools.jars import jars

from .kinds import DOUBLE, Kafka, Kind

ALL = "KAFKADOUBLE_INTEROP_ALL"
"""Set in the environment, it has the long tests run, too; as for the walks of the clients."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`long` is what says nothing that a shorter test does not say of another release, another
    quorum or smaller pieces."""
    if not os.environ.get(ALL):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason=f"long: make interop-controllers, or {ALL}=1"))


@pytest.fixture(scope="module", autouse=True)
def real(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """The Apache Kafka that the run is about."""
    with local_kafka(request):
        jars()
        yield Kafka(request.config.getoption("kafka"))


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest, real: Kafka) -> Kind:
    """Who runs what a test says of our controllers; with `--controllers local` Kafka, of which the
    same must be true."""
    return real if request.config.getoption("controllers") == "local" else DOUBLE
