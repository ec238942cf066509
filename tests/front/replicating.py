"""Two brokers that replicate: what is written to one of them is in the other, too."""

from __future__ import annotations

import time
from typing import Any

import confluent_kafka.admin

ck: Any = confluent_kafka
PATIENCE_S = 30


def assert_replicated(config: dict[str, Any]) -> None:
    """Writes records that both brokers must have before they are acknowledged."""
    admin = ck.admin.AdminClient(config)
    _until_there_are(admin, 2)
    topic = ck.admin.NewTopic("t", 2, 2, config={"min.insync.replicas": "2"})
    admin.create_topics([topic])["t"].result(PATIENCE_S)
    producer = ck.Producer({**config, "acks": "all"})
    failures: list[Any] = []
    for number in range(50):
        producer.produce("t", b"%d" % number, callback=lambda error, _: failures.append(error) if error else None)
    assert producer.flush(PATIENCE_S) == 0
    assert failures == []


def _until_there_are(admin: Any, brokers: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if len(admin.list_topics(timeout=PATIENCE_S).brokers) == brokers:
            return
    raise AssertionError(f"there are not {brokers} brokers")
