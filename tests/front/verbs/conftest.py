"""A double in each form: one broker or three, in memory or in files, with a stepped clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble

FORMS = {"one": (1, False), "three": (3, False), "one, in files": (1, True), "three, in files": (3, True)}


@pytest.fixture(params=[*FORMS.values()], ids=[*FORMS])
def kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KafkaDouble]:
    """Each form. The topic `t` has two partitions, with a replica on each broker."""
    brokers, in_files = request.param
    with KafkaDouble(brokers=brokers, stepped=True, seed=7, data_dir=tmp_path if in_files else None) as kafka:
        kafka.create_topic("t", 2, replication_factor=brokers)
        yield kafka
