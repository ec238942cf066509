"""WriteTxnMarkers: the transaction coordinator writes the end of transactions into partitions that
this broker leads (KIP-98, KIP-1228).

A marker for a partition of `__consumer_offsets` goes through the group coordinator, which makes the
offsets of the transaction visible, or drops them. The answer is sent when every in-sync replica has
the markers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse

from ..log.log import AppendRefused
from ..log.marker import encode_marker
from ..metadata.internal_topics import CONSUMER_OFFSETS
from ..replica.appended_batch import AppendedBatch
from ..replica.partition_replicas import find_replica
from ..requests.request import Refusal, Request
from ..requests.slices import in_one_step
from ..requests.waiting import OTHERS_FIRST, Slices, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Marker = WriteTxnMarkersRequest.WritableTxnMarker
MarkerResult = WriteTxnMarkersResponse.WritableTxnMarkerResult
TopicResult = WriteTxnMarkersResponse.WritableTxnMarkerTopicResult
PartitionResult = WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult


NONE = -1
"""No producer id or no epoch."""


class WrittenMarker(NamedTuple):
    """The marker of one transaction in one partition: what was appended, or an error code."""

    topic: str
    partition_index: int
    outcome: AppendedBatch | int


def answer(node: HandlerContext, request: Request[WriteTxnMarkersRequest]) -> Wait[WriteTxnMarkersResponse]:
    slices, written = Slices(), []
    for marker in request.body.markers:
        of_marker = []
        for topic, index in _partitions(marker):
            of_marker.append(WrittenMarker(topic, index, _write(node, marker, topic, index)))
            if slices.end():
                yield OTHERS_FIRST
        if slices.end():
            yield OTHERS_FIRST
        if of_marker:
            # As in Kafka the answer does not have a producer without partitions.
            written.append((marker.producer_id, of_marker))
    deadline = node.now + node.settings.int("request.timeout.ms")
    codes: dict[int, dict[tuple[str, int], int]] = {}
    for producer_id, of_marker in written:
        of_producer = codes.setdefault(producer_id, {})
        for each in of_marker:
            outcome = each.outcome
            code = outcome if isinstance(outcome, int) else (yield from outcome.committed(deadline))
            of_producer[each.topic, each.partition_index] = code
            if slices.end():
                yield OTHERS_FIRST
    markers = []
    for producer_id, found in codes.items():
        markers.append((yield from _result(producer_id, found, slices)))
    return WriteTxnMarkersResponse(markers=markers)


def _partitions(marker: Marker) -> Iterator[tuple[str, int]]:
    return ((topic.name, index) for topic in marker.topics for index in topic.partition_indexes)


def _write(node: HandlerContext, marker: Marker, topic: str, index: int) -> AppendedBatch | int:
    """Appends the marker to one partition, or returns an error code. Raises Refusal without a
    producer."""
    partition = node.partitions.get(topic, index)
    if partition is None:
        has_replica = find_replica(node, topic, index) is not None
        return error_codes.NOT_LEADER_OR_FOLLOWER if has_replica else error_codes.UNKNOWN_TOPIC_OR_PARTITION
    if NONE in (marker.producer_id, marker.producer_epoch):
        # Kafka fails while it makes the batch: the group coordinator alone, or the whole request.
        if topic == CONSUMER_OFFSETS:
            return error_codes.UNKNOWN_SERVER_ERROR
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    if partition.lacks_replicas:
        is_own = topic == CONSUMER_OFFSETS
        return error_codes.NOT_LEADER_OR_FOLLOWER if is_own else error_codes.NOT_ENOUGH_REPLICAS
    batch = encode_marker(
        marker.producer_id,
        marker.producer_epoch,
        committed=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        timestamp=node.now,
    )
    version = marker.transaction_version
    try:
        if topic == CONSUMER_OFFSETS:
            shard = node.groups.runtime.shard_at(index)
            if shard is None:
                return error_codes.NOT_LEADER_OR_FOLLOWER
            shard.end_transaction(marker.producer_id, marker.transaction_result, batch, version)
        else:
            partition.append_own(batch, node.now, transaction_version=version)
    except (AppendRefused, Refusal) as refused:
        return refused.code
    return AppendedBatch(node.partitions, partition)


def _result(producer_id: int, codes: dict[tuple[str, int], int], slices: Slices) -> Wait[MarkerResult]:
    topics: dict[str, list[PartitionResult]] = {}
    for (topic, index), code in codes.items():
        if slices.end():
            yield OTHERS_FIRST
        topics.setdefault(topic, []).append(PartitionResult(partition_index=index, error_code=code))
    return MarkerResult(
        producer_id=producer_id, topics=[TopicResult(name=name, partitions=topic) for name, topic in topics.items()]
    )


def refuse(request: Request[WriteTxnMarkersRequest], code: int, message: str | None) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            in_one_step(_result(marker.producer_id, dict.fromkeys(_partitions(marker), code), Slices()))
            for marker in request.body.markers
        ]
    )
