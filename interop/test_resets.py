"""What users rely on: a Java consumer that polls and commits outlives every `reset` of a double.
Three of them in every run, twenty with KAFKADOUBLE_INTEROP_ALL=1.

An Apache Kafka cannot be reset, so there is nothing to run on it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.local.cluster import Kafka
from interop.support import local_kafka
from kafkadouble import KafkaDouble

PROGRAM = Path(__file__).with_name("PollAndCommit.java")
RESETS = 20 if os.environ.get("KAFKADOUBLE_INTEROP_ALL") else 3
TOLD = ("record ", "died ")


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    """What the program tells; it ends after an exception."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(TOLD):
            yield line.strip()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_loop_of_poll_and_commit_sync_outlives_resets(request: pytest.FixtureRequest, protocol: str) -> None:
    with local_kafka(request):
        command = Kafka().java(str(PROGRAM))
    with KafkaDouble() as kafka:
        words = [*command, kafka.bootstrap_servers, protocol, "earliest"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            told = lines_of(process)
            for number in range(RESETS + 1):
                kafka.create_topic("orders")
                kafka.produce("orders", f"{number}")
                assert next(told) == f"record {number}"
                kafka.reset()
            process.kill()
