"""Sends the transaction markers to the leaders of a transaction's partitions, until every partition
has its marker (KIP-98).

The markers for one leader travel together. A partition whose leader is unknown waits for one; a
partition that was deleted needs no marker. A marker that was lost, or whose leader has moved, is
sent again to the leader of that time. Markers of a coordinator that was replaced are dropped: its
successor sends its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog

from ..coordinator.inter_broker_sender import BrokerRequest, InterBrokerSender
from ..raft.request_manager import RequestFailure
from .pending_complete_txn import PendingCompleteTxn
from .transaction_metadata import TopicPartition, by_topic

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost
    from ..requests.timers import Timer

RETRY_MS = 50
"""The pause before a marker is sent again that a leader refused, or that has no leader."""

NO_LEADER = -1

RETRIABLE = frozenset(
    {
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        error_codes.NOT_LEADER_OR_FOLLOWER,
        error_codes.NOT_ENOUGH_REPLICAS,
        error_codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        error_codes.REQUEST_TIMED_OUT,
        error_codes.KAFKA_STORAGE_ERROR,
    }
)
"""The errors after which a marker is sent again."""

OUTDATED = frozenset({error_codes.INVALID_PRODUCER_EPOCH, error_codes.TRANSACTION_COORDINATOR_FENCED})
"""The errors after which the markers of a transaction are dropped: its producer or its coordinator
has a successor."""

NEEDLESS = frozenset({error_codes.NONE, error_codes.UNSUPPORTED_FOR_MESSAGE_FORMAT, error_codes.UNSUPPORTED_VERSION})
"""The answers after which a partition needs no further marker."""

Marker = WriteTxnMarkersRequest.WritableTxnMarker
MarkerTopic = WriteTxnMarkersRequest.WritableTxnMarkerTopic

VERSION, LOWEST = 2, 1

log = ClientLog("kafkadouble.server.transactions")


class TxnMarkers(NamedTuple):
    """The markers of one transaction for the partitions of one leader."""

    pending: PendingCompleteTxn
    partitions: frozenset[TopicPartition]


class TransactionMarkerChannelManager(InterBrokerSender):
    """All markers that are still to be written, by the broker that leads their partitions."""

    def __init__(self, node: CoordinatorHost) -> None:
        super().__init__(node)
        self._by_broker: dict[int, list[TxnMarkers]] = {}
        # Markers that are sent again after a pause, or that have no leader.
        self._delayed: list[TxnMarkers] = []
        self._timer: Timer | None = None

    def send(self, pending: PendingCompleteTxn) -> None:
        """Writes the markers of a transaction; `pending.shard` completes it when the last one
        is written."""
        self._add(pending, pending.entry.metadata.topic_partitions)
        self._complete(pending)
        self.send_to_self()

    def _add(self, pending: PendingCompleteTxn, partitions: Iterable[TopicPartition]) -> None:
        by_leader: dict[int, set[TopicPartition]] = {}
        deleted = []
        # Sorted: a set of strings has another order in each process.
        for partition in sorted(partitions):
            leader = self._leader(partition)
            if leader is None:
                deleted.append(partition)
            else:
                by_leader.setdefault(leader, set()).add(partition)
        pending.entry.marked(deleted)
        for leader, found in by_leader.items():
            markers = TxnMarkers(pending, frozenset(found))
            if leader == NO_LEADER:
                self._delay(markers)
            else:
                self._by_broker.setdefault(leader, []).append(markers)

    def _leader(self, partition: TopicPartition) -> int | None:
        """The broker that leads the partition, NO_LEADER, or None if the partition was deleted."""
        name, index = partition
        topic = self.node.image.topic_named(name)
        found = None if topic is None else topic.partitions.get(index)
        if found is None:
            return None
        return found.leader if self.endpoint(found.leader) is not None else NO_LEADER

    def _delay(self, markers: TxnMarkers) -> None:
        self._delayed.append(markers)
        if self._timer is None:
            self._timer = self.node.waiting.timers.at(self.node.now + RETRY_MS, self._retry)

    def _retry(self, now: int) -> None:
        self._timer = None
        delayed, self._delayed = self._delayed, []
        for pending, partitions in delayed:
            if not pending.is_over:
                self._add(pending, partitions)
                self._complete(pending)
        self.send_to_self()

    def _complete(self, pending: PendingCompleteTxn) -> None:
        if not pending.entry.metadata.topic_partitions and not pending.is_over:
            pending.shard.complete(pending)

    def destinations(self) -> Iterable[int]:
        return self._by_broker.keys()

    def next_request(self, broker: int) -> BrokerRequest:
        found = [each for each in self._by_broker.pop(broker) if not each.pending.is_over]
        return BrokerRequest(WriteTxnMarkersRequest(markers=[_marker(each) for each in found]), VERSION, LOWEST, found)

    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        sent = cast("Sequence[TxnMarkers]", items)
        if isinstance(response, RequestFailure):
            for each in sent:
                self._delay(each)
            return
        answers = _codes(cast("WriteTxnMarkersResponse", response))
        for each in sent:
            if not each.pending.is_over:
                self._on_answer(each, answers.get(each.pending.entry.metadata.producer_id, {}))

    def _on_answer(self, sent: TxnMarkers, codes: dict[TopicPartition, int]) -> None:
        pending, entry = sent.pending, sent.pending.entry
        by_code = {each: codes.get(each, error_codes.UNKNOWN_TOPIC_OR_PARTITION) for each in sent.partitions}
        entry.marked(each for each, code in by_code.items() if code in NEEDLESS)
        if any(code in OUTDATED for code in by_code.values()):
            log.info("%r: the markers are dropped, a leader knows a later coordinator or producer: %s", entry, by_code)
            return
        again = frozenset(each for each, code in by_code.items() if code in RETRIABLE)
        unexpected = {each: code for each, code in by_code.items() if code not in RETRIABLE | NEEDLESS}
        if unexpected:
            log.error("%r: leaders refused the markers for ever: %s", entry, unexpected)
        if again:
            self._delay(TxnMarkers(pending, again))
        self._complete(pending)


def _marker(markers: TxnMarkers) -> Marker:
    pending = markers.pending
    metadata = pending.entry.metadata
    topics = by_topic(sorted(markers.partitions))
    return Marker(
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        transaction_result=pending.committed,
        topics=[MarkerTopic(name=name, partition_indexes=indexes) for name, indexes in topics.items()],
        coordinator_epoch=pending.shard.coordinator_epoch,
        transaction_version=metadata.client_transaction_version,
    )


def _codes(response: WriteTxnMarkersResponse) -> dict[int, dict[TopicPartition, int]]:
    """Producer id -> partition -> error code."""
    return {
        marker.producer_id: {
            (topic.name, partition.partition_index): partition.error_code
            for topic in marker.topics
            for partition in topic.partitions
        }
        for marker in response.markers
    }
