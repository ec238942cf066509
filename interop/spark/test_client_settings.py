"""Compares the table of the client's settings with the settings of Kafka's own consumer and
producer."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.local import Missing
from interop.local.cluster import Kafka
from tests.support.kafka_client_settings import NAMES

PROGRAM = Path(__file__).with_name("ClientSettings.java")


def test_the_names_are_those_of_kafka(request: pytest.FixtureRequest) -> None:
    try:
        output = Kafka().call(str(PROGRAM))
    except Missing as reason:
        if request.config.getoption("must"):
            raise
        pytest.skip(f"NO SETTINGS WERE COMPARED: {reason}")
    rows = [line.split() for line in output.splitlines() if line.endswith((" client", " consumer", " producer"))]
    assert dict(rows) == NAMES
