"""The small values between callers and the client. They are plain tuples: they compare, hash and
pickle."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.uuid import ZERO, Uuid
from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch

__all__ = [
    "EARLIEST",
    "LATEST",
    "UNDEFINED",
    "BrokerEndpoint",
    "Fetched",
    "OffsetAndEpoch",
    "PartitionLeader",
    "TopicPartition",
    "address",
]

EARLIEST, LATEST = -2, -1
"""Special timestamps of `Client.offsets`."""


class TopicPartition(NamedTuple):
    """One partition of a topic, by its name."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class BrokerEndpoint(NamedTuple):
    """The address of a broker."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class PartitionLeader(NamedTuple):
    """The leader of a partition from metadata, in a form that one process can send to another.

    `topic_id` is zero in a cluster without ids. `endpoint` is None, and `node` is -1, while the
    partition has no leader.
    """

    topic_id: Uuid = ZERO
    node: int = -1
    epoch: int = -1
    endpoint: BrokerEndpoint | None = None


class Fetched(NamedTuple):
    """The result of one Fetch.

    `buffer` holds record batches as they were stored: the first may begin before `position`, the
    last may be cut off. It is valid as long as it is referenced. `next_offset` follows the complete
    batches, and is the start of the next response. `aborted` has the producer id and first offset
    of aborted transactions, with `read_committed` only. Offsets that the broker did not send are
    -1.
    """

    buffer: memoryview
    position: int
    next_offset: int
    high_watermark: int
    log_start_offset: int
    last_stable_offset: int
    aborted: tuple[tuple[int, int], ...]


def address(text: str) -> BrokerEndpoint | None:
    """Parses HOST:PORT or [HOST]:PORT, with or without the name of a listener before it; None for
    any other text."""
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    host = host[1:-1] if host[:1] == "[" and host[-1:] == "]" else host
    digits = port.isascii() and port.isdecimal() and len(port) < 6
    if not colon or not host or not digits or not 0 < int(port) < 65536:
        return None
    return BrokerEndpoint(host, int(port))
