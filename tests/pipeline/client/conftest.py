"""A double with a topic `t` of one partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        double.create_topic("t")
        yield double
