"""A partition's batches as a broker serves them, byte for byte. The requests are written here,
since clients return records and not batches."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import Any

from interop.clients.shape import Partition
from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import iter_batches
from kafkadouble.wire.frame import Frames

MOST = 64 << 20
"""The largest response in bytes."""


class Connection:
    """A connection to a broker, for one request at a time."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.split(",")[0].rpartition(":")
        self._sock, self._reader = socket.create_connection((host, int(port)), 30), Frames()

    def ask(self, body: Message, version: int) -> Any:
        """The broker's response."""
        assert body.api_key is not None
        frames: list[bytes] = []
        for part in headers.write_request(body, 1, "interop", version):
            self._sock.sendall(part)
        while not frames:
            data = self._sock.recv(1 << 20)
            assert data, "the broker closed the connection"
            frames = self._reader.feed(data)
        return headers.read_response(bytes(frames[0]), body.api_key, version)[1]

    def close(self) -> None:
        self._sock.close()


def ask(bootstrap: str, body: Message, version: int) -> Any:
    """The broker's response, on a connection of its own."""
    with closing(Connection(bootstrap)) as connection:
        return connection.ask(body, version)


def topic_id(bootstrap: str, topic: str) -> Uuid:
    """The id of a topic that exists."""
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)])
    return Uuid(ask(bootstrap, request, 12).topics[0].topic_id)


def batches_of(bootstrap: str, topic: str, partition: int = 0, offset: int = 0) -> bytes:
    """All batches of the partition from this offset on, as they are stored."""
    found = b""
    while True:
        partition_data = FetchRequest.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=MOST)
        topic_data = FetchRequest.FetchTopic(topic=topic, partitions=[partition_data])
        response = ask(bootstrap, FetchRequest(max_wait_ms=0, max_bytes=MOST, topics=[topic_data]), 12)
        answered = response.responses[0].partitions[0]
        assert answered.error_code == 0, answered
        if not answered.records:
            return found
        found += bytes(answered.records)
        offset = _next_offset(bytes(answered.records))


def _next_offset(batches: bytes) -> int:
    return max(header.next_offset for _, header in iter_batches(batches))


def committed_offset(bootstrap: str, group: str, partition: Partition, *, require_stable: bool) -> tuple[int, int]:
    """The error code and the committed offset of a partition, as the group's coordinator answers
    once."""
    topics = [
        OffsetFetchRequest.OffsetFetchRequestTopics(name=partition.topic, partition_indexes=[partition.partition])
    ]
    groups = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=topics)]
    answer = ask(bootstrap, OffsetFetchRequest(groups=groups, require_stable=require_stable), 8).groups[0]
    assert answer.error_code == 0, answer
    found = answer.topics[0].partitions[0]
    return found.error_code, found.committed_offset
