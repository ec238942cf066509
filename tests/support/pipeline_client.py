"""What the tests of the client share: batches to send, clients with short time-outs, and the values
that a read returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.pipeline.client import Client, TopicPartition
from kafkadouble.wire.batch import encode_batch, iter_batches, records_of
from kafkadouble.wire.record import Record

PATIENT = 60_000
"""The time limit, in milliseconds, for calls that must succeed on a slow machine."""


def client_of(bootstrap: str, **settings: object) -> Client:
    """A client that retries at once. Settings have underscores where Kafka has dots."""
    given: dict[str, object] = {"retry.backoff.ms": 5, "retry.backoff.max.ms": 20, "default.api.timeout.ms": PATIENT}
    given |= {name.replace("_", "."): value for name, value in settings.items()}
    return Client({"bootstrap.servers": bootstrap, **given})


def batch(*values: bytes, **fields: Any) -> bytes:
    """A record batch as a producer encodes it."""
    return bytes(encode_batch([Record(at, 1000 + at, None, value) for at, value in enumerate(values)], **fields))


def values(buffers: Iterable[memoryview], start: int = 0) -> list[bytes]:
    """The values of all records from offset `start` on."""
    return [
        bytes(record.value or b"")
        for buffer in buffers
        for position, header in iter_batches(buffer, partial=True)
        for record in records_of(buffer, position, header)
        if record.offset >= start
    ]


def read(client: Client, partition: TopicPartition, start: int, end: int, **options: Any) -> list[bytes]:
    """The values that a read returns."""
    return [value for each in client.read(partition, start, end, **options) for value in values([each.buffer], start)]


def works(client: Client) -> bool:
    with client:
        return client.topics() == ["t"]
