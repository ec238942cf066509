"""A cluster in which one broker lies: its answers are rewritten on their way.

    cluster = three()
    cluster.lie = lambda asked, answer: ...        # what the leader answers its followers
    cluster.step(1000)
    cluster.lie = None                             # from now on it is honest

A lie changes only requests between brokers, and only those of replication. An answer that it
changes is a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.server.replica.replication.replica_fetcher_manager import ReplicaFetcherManager
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.controllers import Controllers

BROKERS = (11, 12, 13)

Lie = Callable[[Message, Any], Any]
"""Takes the request and a copy of its answer, and returns the answer that is delivered."""


class LyingChannel:
    """A conversation whose answers may be replaced."""

    def __init__(self, channel: Any, send: OutboundRequest, lie: Callable[[], Lie | None]) -> None:
        self._channel, self._send, self._lie = channel, send, lie

    def answered(self, token: int, response: Message | RequestFailure, now: int) -> None:
        lie = self._lie()
        if lie is not None and isinstance(response, Message):
            version = self._send.version
            api = registry.api(self._send.body.api_key or 0)
            copied = api.response.decode(response.encode(version), version)
            changed = lie(self._send.body, copied)
            response = (
                api.response.decode(changed.encode(version), version) if isinstance(changed, Message) else changed
            )
        self._channel.answered(token, response, now)


class Liars(Controllers):
    """One controller, and brokers."""

    lie: Lie | None = None
    """Changes answers of leaders to followers."""
    lie_of_controller: Lie | None = None
    """Changes answers to AlterPartition."""

    def _deliver(self, node: Any, channel: Any, send: OutboundRequest) -> None:
        if isinstance(channel, ReplicaFetcherManager):
            channel = LyingChannel(channel, send, lambda: self.lie)
        elif isinstance(send.body, AlterPartitionRequest):
            channel = LyingChannel(channel, send, lambda: self.lie_of_controller)
        super()._deliver(node, channel, send)


def to_fetches(change: Callable[[FetchResponse.PartitionData], None]) -> Lie:
    """The lie that changes every partition of every answer to a fetch."""

    def lie(request: Message, answer: Any) -> Any:
        if isinstance(request, FetchRequest):
            for topic in answer.responses:
                for data in topic.partitions:
                    change(data)
        return answer

    return lie


def whole_fetches(change: Callable[[FetchRequest, FetchResponse], Any]) -> Lie:
    return lambda request, answer: change(request, answer) if isinstance(request, FetchRequest) else answer


def out_of_range(start: int, end: int) -> Lie:
    """The lie that the follower's offset is out of range, and that the log spans these offsets."""

    def lie(request: Message, answer: Any) -> Any:
        if isinstance(request, ListOffsetsRequest):
            for topic in answer.topics:
                for listed in topic.partitions:
                    listed.offset = start if request.topics[0].partitions[0].timestamp == -2 else end
            return answer
        for topic in answer.responses:
            for data in topic.partitions:
                data.error_code, data.records = 1, b""
        return answer

    return lie


def batch(base_offset: int, *values: bytes, epoch: int = 0, **fields: Any) -> bytes:
    """A batch as a leader of this epoch has it."""
    records = [Record(base_offset + at, 1000, None, value) for at, value in enumerate(values)]
    return bytes(encode_batch(records, base_offset=base_offset, partition_leader_epoch=epoch, **fields))
