"""Asks the leaders of partitions for their end offsets, for the lag of share groups (KIP-1226;
Kafka: `NetworkPartitionMetadataClient`).

A partition without a leader has LEADER_NOT_AVAILABLE. A request that is lost is sent again, after
pauses that double, MAX_ATTEMPTS times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.message import Message

from ..coordinator.inter_broker_sender import BrokerRequest, InterBrokerSender
from ..raft.request_manager import RequestFailure
from .persister_state_manager import MAX_ATTEMPTS, backoff_ms

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost

LATEST = -1
"""The timestamp that means the end offset."""

NO_OFFSET = -1
CONSUMER = -1
VERSION, LOWEST = 11, 1


class OffsetResponse(NamedTuple):
    """The end offset of a partition, or an error code."""

    offset: int
    error_code: int


class PendingOffset(NamedTuple):
    """A partition whose end offset is not known yet. It is asked at the broker that led it when the
    request came."""

    topic: str
    partition: int
    then: Callable[[OffsetResponse], None]
    attempts: int = 0


class PartitionMetadataClient(InterBrokerSender):
    """The end offsets to ask for, by broker."""

    def __init__(self, node: CoordinatorHost) -> None:
        super().__init__(node)
        self._by_broker: dict[int, list[PendingOffset]] = {}

    def latest_offset(self, topic: str, partition: int, then: Callable[[OffsetResponse], None]) -> None:
        """Calls `then` once with the end offset that consumers may read to."""
        found = self.node.image.topic_named(topic)
        image = None if found is None else found.partitions.get(partition)
        if image is None or self.endpoint(image.leader) is None:
            then(OffsetResponse(NO_OFFSET, error_codes.LEADER_NOT_AVAILABLE))
        else:
            self._enqueue(image.leader, PendingOffset(topic, partition, then))

    def _enqueue(self, broker: int, pending: PendingOffset) -> None:
        self._by_broker.setdefault(broker, []).append(pending)
        if broker == self.node.id:
            self.send_to_self_soon()

    def destinations(self) -> Iterable[int]:
        return self._by_broker.keys()

    def next_request(self, broker: int) -> BrokerRequest:
        pending = self._by_broker.pop(broker)
        topics: dict[str, set[int]] = {}
        for each in pending:
            topics.setdefault(each.topic, set()).add(each.partition)
        of = ListOffsetsRequest
        body = of(
            replica_id=CONSUMER,
            topics=[
                of.ListOffsetsTopic(
                    name=name,
                    partitions=[
                        of.ListOffsetsPartition(partition_index=each, timestamp=LATEST) for each in sorted(topic)
                    ],
                )
                for name, topic in topics.items()
            ],
        )
        return BrokerRequest(body, VERSION, LOWEST, pending)

    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        sent = cast("list[PendingOffset]", items)
        if isinstance(response, RequestFailure):
            for pending in sent:
                self._on_failure(broker, pending, response)
            return
        found = {
            (topic.name, partition.partition_index): OffsetResponse(partition.offset, partition.error_code)
            for topic in cast("ListOffsetsResponse", response).topics
            for partition in topic.partitions
        }
        missing = OffsetResponse(NO_OFFSET, error_codes.UNKNOWN_TOPIC_OR_PARTITION)
        for pending in sent:
            pending.then(found.get((pending.topic, pending.partition), missing))

    def _on_failure(self, broker: int, pending: PendingOffset, failure: RequestFailure) -> None:
        if failure is not RequestFailure.LOST:
            pending.then(OffsetResponse(NO_OFFSET, error_codes.UNKNOWN_SERVER_ERROR))
        elif pending.attempts >= MAX_ATTEMPTS:
            pending.then(OffsetResponse(NO_OFFSET, error_codes.NETWORK_EXCEPTION))
        else:
            again = pending._replace(attempts=pending.attempts + 1)
            due = self.node.now + backoff_ms(again.attempts, self.node.random.random())
            self.node.waiting.timers.at(due, lambda now: self._enqueue(broker, again))

    def __repr__(self) -> str:
        return f"end offsets: {super().__repr__()}"
