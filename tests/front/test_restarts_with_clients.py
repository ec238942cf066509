"""A producer survives kills of all nodes: its records are acknowledged again, on every partition.

Three nodes, each a broker and a controller, are killed together and started again on the same
ports. The producer is confluent-kafka's, not idempotent, with a message time-out that ends long
before the test's own.
"""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from tests.front.combined import live, of_combined
from tests.support.ports import free_ports
from tests.support.serving import beginning

PARTITIONS, PATIENCE_S = 6, 60


def acknowledged_everywhere(producer: Any) -> bool:
    """Whether one record is acknowledged on each partition; records that time out are sent
    again."""
    left, end = set(range(PARTITIONS)), time.monotonic() + PATIENCE_S

    def delivered(error: Any, message: Any) -> None:
        if error is None:
            left.discard(message.partition())

    while left and time.monotonic() < end:
        for partition in left:
            producer.produce("t", b"v", partition=partition, on_delivery=delivered)
        producer.flush(PATIENCE_S)
    return not left


def test_a_producer_that_outlives_kills_of_all_nodes(tmp_path: Path) -> None:
    ports, client_ports = dict(enumerate(free_ports(3), 1)), free_ports(3)
    files = [of_combined(tmp_path, id, ports, port) for id, port in zip(ports, client_ports, strict=True)]
    servers = ",".join(f"127.0.0.1:{port}" for port in client_ports)
    settings: Any = {"bootstrap.servers": servers, "log_level": 0}
    producer: Any = confluent_kafka.Producer({**settings, "acks": "all", "message.timeout.ms": 5000})
    for life in range(3):
        with ExitStack() as stack:
            nodes = [stack.enter_context(beginning("--config", str(file))) for file in files]
            if not life:
                end = time.monotonic() + PATIENCE_S
                while any(live(node) != set(ports) for node in nodes):
                    assert time.monotonic() < end
                admin = AdminClient(settings)
                admin.create_topics([NewTopic("t", PARTITIONS, 3)])["t"].result(PATIENCE_S)
            assert acknowledged_everywhere(producer), f"life {life}"
            for node in nodes:
                node.process.send_signal(signal.SIGKILL)
