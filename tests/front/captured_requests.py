"""Requests to capture, and the wait for the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.front.client import ask

PATIENCE_S = 60


def wait_for(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def metadata(kafka: KafkaDouble, client_id: str = "test") -> None:
    for server in kafka.bootstrap_servers.split(","):
        host, _, port = server.rpartition(":")
        ask((host, int(port)), MetadataRequest(topics=[]), 12, client_id)
