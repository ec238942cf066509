"""Requests to capture, and the wait for the file."""

from __future__ import annotations

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask

PATIENCE_S = 60


def metadata(kafka: KafkaDouble, client_id: str = "test") -> None:
    for server in kafka.bootstrap_servers.split(","):
        ask(server, MetadataRequest(topics=[]), 12, client_id)
