"""The response to FetchSnapshot: a range of a snapshot's bytes, independent of batches (KIP-595,
KIP-630, KIP-853).

The checks are in the table below, in Kafka's order. Errors of the whole request are top-level
errors without partitions. An error of the partition comes with the known leader and epoch, and with
empty bytes, not null: Kafka 4.4 leaves them null, fails to write its response, and answers
UNKNOWN_SERVER_ERROR. A negative MaxBytes, and a replica with the leader's own id, are
INVALID_REQUEST: they stop the process of Apache Kafka. The bootstrap snapshot (0, 0) is never
served.

A request has one partition, as in Apache Kafka: no other topic has snapshots. KIP-630 would share
MaxBytes among several. It would also bound a response by `replica.fetch.response.max.bytes`, where
Kafka only uses MaxBytes: here the setting applies if it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse

from ...log.offset_and_epoch import OffsetAndEpoch
from ..messages import NO_LEADER_ID, PARTITION, TOPIC
from ..raft_log import BOOTSTRAP
from ..voters import VoterEndpoint
from .snapshot_reader import RecordsSnapshotReader
from .store import SnapshotStore

PartitionRequest = FetchSnapshotRequest.PartitionSnapshot
PartitionResponse = FetchSnapshotResponse.PartitionSnapshot

ENDPOINTS_FROM = 1
"""The first version with the leader's endpoint in the response."""


class QuorumView(NamedTuple):
    """The node's view of the quorum. `endpoint` is the leader's, on the listener of the request."""

    id: int
    cluster_id: str | None
    epoch: int
    leader_id: int | None
    leads: bool
    endpoint: VoterEndpoint | None = None
    stopping: bool = False


class FetchSnapshotResult(NamedTuple):
    """The response, and whether it holds bytes: then the leader records the fetch."""

    response: FetchSnapshotResponse
    gave: bool


def serve(
    request: FetchSnapshotRequest, version: int, seat: QuorumView, store: SnapshotStore, most: int | None = None
) -> FetchSnapshotResult:
    """The response. `most` is `replica.fetch.response.max.bytes`, if it applies (KIP-630)."""
    code = _whole(request, seat)
    if code:
        return FetchSnapshotResult(FetchSnapshotResponse(error_code=code), False)
    [topic] = request.topics
    partition = _answer(topic, seat, store, request.max_bytes if most is None else min(most, request.max_bytes))
    of = FetchSnapshotResponse
    response = of(topics=[of.TopicSnapshot(name=topic.name, partitions=[partition])])
    if version >= ENDPOINTS_FROM and seat.endpoint is not None and seat.leader_id is not None:
        at = seat.endpoint
        response.node_endpoints = [of.NodeEndpoint(node_id=seat.leader_id, host=at.host, port=at.port)]
    return FetchSnapshotResult(response, not partition.error_code)


def _whole(request: FetchSnapshotRequest, seat: QuorumView) -> int:
    """The top-level error; 0 without one."""
    if request.cluster_id is not None and request.cluster_id != seat.cluster_id:
        return error_codes.INCONSISTENT_CLUSTER_ID
    if [len(topic.partitions) for topic in request.topics] != [1]:
        return error_codes.INVALID_REQUEST
    if request.max_bytes < 0 or request.replica_id == seat.id:
        return error_codes.INVALID_REQUEST
    return error_codes.NONE


CHECKS: list[tuple[Callable[[bool, PartitionRequest, QuorumView], bool], int]] = [
    (lambda known, requested, _: not known or requested.partition != PARTITION, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
    (lambda _, requested, seat: requested.current_leader_epoch < seat.epoch, error_codes.FENCED_LEADER_EPOCH),
    (lambda _, requested, seat: requested.current_leader_epoch > seat.epoch, error_codes.UNKNOWN_LEADER_EPOCH),
    (lambda _, __, seat: not seat.leads, error_codes.NOT_LEADER_OR_FOLLOWER),
    (lambda _, __, seat: seat.stopping, error_codes.BROKER_NOT_AVAILABLE),
]
"""A problem of the partition -> its error; the first match counts. The snapshot and the position
are checked after these.
"""


def _answer(
    topic: FetchSnapshotRequest.TopicSnapshot, seat: QuorumView, store: SnapshotStore, most: int
) -> PartitionResponse:
    """An error, or at most `most` bytes."""
    [requested] = topic.partitions
    found = _find(topic.name, requested, seat, store)
    if isinstance(found, int):
        answer = PartitionResponse(index=requested.partition, error_code=found, unaligned_records=b"")
    else:
        with found:
            answer = PartitionResponse(
                index=requested.partition,
                snapshot_id=FetchSnapshotResponse.SnapshotId(end_offset=found.id.offset, epoch=found.id.epoch),
                size=found.size,
                position=requested.position,
                unaligned_records=cast(bytes, found.slice(requested.position, most)),
            )
    leader = NO_LEADER_ID if seat.leader_id is None else seat.leader_id
    answer.current_leader = FetchSnapshotResponse.LeaderIdAndEpoch(leader_id=leader, leader_epoch=seat.epoch)
    return answer


def _find(
    topic: str, requested: PartitionRequest, seat: QuorumView, store: SnapshotStore
) -> RecordsSnapshotReader | int:
    """A reader, or the error of the partition."""
    code = next((code for wrong, code in CHECKS if wrong(topic == TOPIC, requested, seat)), error_codes.NONE)
    if code:
        return code
    id = OffsetAndEpoch(requested.snapshot_id.end_offset, requested.snapshot_id.epoch)
    reader = None if id == BOOTSTRAP else store.open(id)
    if reader is None:
        return error_codes.SNAPSHOT_NOT_FOUND
    if not 0 <= requested.position < reader.size:
        reader.close()
        return error_codes.POSITION_OUT_OF_RANGE
    return reader
