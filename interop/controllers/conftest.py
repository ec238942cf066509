"""Fixtures of the controller tests: Apache Kafka, or a skip that says that it is missing; and the
program that runs the controllers."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from interop.support import local_kafka
from interop.tools.jars import jars

from .kinds import DOUBLE, Kafka, Kind

ALL = "KAFKADOUBLE_INTEROP_ALL"
"""If it is set in the environment, the long tests run too, as do the long walks of the clients."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the `long` tests: they repeat a shorter test with another release, another quorum or
    smaller pieces."""
    if not os.environ.get(ALL):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason=f"long: make interop-controllers, or {ALL}=1"))


@pytest.fixture(scope="module", autouse=True)
def real(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """The Apache Kafka of the run."""
    with local_kafka(request):
        jars()
        yield Kafka(request.config.getoption("kafka"))


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest, real: Kafka) -> Kind:
    """The program that runs our controllers; with `--controllers local` it is Kafka, which must
    pass the same tests."""
    return real if request.config.getoption("controllers") == "local" else DOUBLE
