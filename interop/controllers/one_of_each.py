"""The fixture `cluster` of many tests: a broker of ours and one of Apache Kafka's on one
controller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest

from .broker_lives import KEPT
from .kinds import DOUBLE, Kafka
from .mixed import Mixed, mixed
from .plan import broker, controller

BOTH = [1, 2]
"""Broker 1 is ours, broker 2 is Kafka's."""


def one_of_each(under: str, overrides: Mapping[str, str], scope: Literal["function", "module"] = "function") -> Any:
    """A fixture. `under` is whose controller the brokers have in each run, "ours" or "theirs"; the
    long runs have the other, too."""
    other = "theirs" if under == "ours" else "ours"

    @pytest.fixture(scope=scope, params=[f"under-{under}", pytest.param(f"under-{other}", marks=pytest.mark.long)])
    def cluster(
        request: pytest.FixtureRequest, real: Kafka, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[Mixed]:
        chief = controller(0, DOUBLE if request.param == "under-ours" else real)
        nodes = chief, broker(0, DOUBLE), broker(1, real)
        with mixed(tmp_path_factory.mktemp("both"), *nodes, overrides=KEPT | dict(overrides)) as running:
            yield running

    return cluster
