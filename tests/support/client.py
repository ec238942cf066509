"""The smallest of clients: one request at a time on a connection of its own, and what clients do
not show, such as the batches of a partition byte for byte."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import Record, encode_batch, iter_batches
from kafkadouble.wire.frame import Frames

Address = tuple[str, int] | str
"""A host and its port, or the `HOST:PORT,...` of `bootstrap.servers`, of which the first counts."""

TIMEOUT_S = 30.0

MOST = 64 << 20
"""The largest response in bytes."""


class Connection:
    """A connection to a broker, for one request at a time."""

    def __init__(self, address: Address, client_id: str = "test") -> None:
        if isinstance(address, str):
            host, _, port = address.split(",")[0].rpartition(":")
            address = host, int(port)
        self._sock, self._reader = socket.create_connection(address, TIMEOUT_S), Frames()
        self._client_id = client_id

    def ask(self, body: Message, version: int) -> Any:
        """The broker's response."""
        assert body.api_key is not None
        for part in headers.write_request(body, 1, self._client_id, version):
            self._sock.sendall(part)
        frames: list[bytes] = []
        while not frames:
            data = self._sock.recv(1 << 20)
            if not data:
                raise ConnectionError("the broker closed the connection")
            frames = self._reader.feed(data)
        return headers.read_response(bytes(frames[0]), body.api_key, version)[1]

    def close(self) -> None:
        self._sock.close()


def ask(address: Address, body: Message, version: int, client_id: str = "test") -> Any:
    """The broker's response, on a connection of its own."""
    with closing(Connection(address, client_id)) as connection:
        return connection.ask(body, version)


def produce(address: Address, topic: str, value: bytes, acks: int = -1) -> tuple[int, int]:
    """Appends a record to partition 0: the error code, and the record's offset."""
    of, batch = ProduceRequest, encode_batch([Record(0, 1_700_000_000_000, None, value)])
    data = of.PartitionProduceData(index=0, records=bytes(batch))
    topics = [of.TopicProduceData(name=topic, partition_data=[data])]
    answer = ask(address, of(acks=acks, timeout_ms=1000, topic_data=topics), 9).responses[0].partition_responses[0]
    return answer.error_code, answer.base_offset


def topic_id(address: Address, topic: str) -> Uuid:
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)])
    return Uuid(ask(address, request, 12).topics[0].topic_id)


def batches_of(address: Address, topic: str, partition: int = 0, offset: int = 0) -> bytes:
    batches = b""
    while True:
        partition_data = FetchRequest.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=MOST)
        topic_data = FetchRequest.FetchTopic(topic=topic, partitions=[partition_data])
        response = ask(address, FetchRequest(max_wait_ms=0, max_bytes=MOST, topics=[topic_data]), 12)
        answered = response.responses[0].partitions[0]
        assert answered.error_code == 0, answered
        if not answered.records:
            return batches
        batches += bytes(answered.records)
        offset = max(header.next_offset for _, header in iter_batches(bytes(answered.records)))
