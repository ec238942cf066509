"""A double with a control plane, shared by the tests of one module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.server import ControlServer


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[KafkaDouble, ControlServer]]:
    with KafkaDouble(seed=1) as kafka, ControlServer(kafka) as control:
        yield kafka, control


@pytest.fixture
def kafka(served: tuple[KafkaDouble, ControlServer]) -> KafkaDouble:
    served[0].reset()
    return served[0]


@pytest.fixture
def url(served: tuple[KafkaDouble, ControlServer], kafka: KafkaDouble) -> str:
    return served[1].url
