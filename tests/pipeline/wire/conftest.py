"""A double with a topic `t` of two partitions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble

from .making import stop


@pytest.fixture
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        double.create_topic("t", partitions=2)
        yield double
        stop()
