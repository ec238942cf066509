"""Fetch at the leader: replicates the log to followers, and learns how far they are (KIP-595,
KIP-630, KIP-853, KIP-1166).

The checks are in Kafka's order, and each error names the leader. A request in the current epoch
with a valid position confirms that the follower has everything before that position; a diverging
position confirms nothing. Records are sent up to the end of the log, committed or not. Without
records the request waits for them, or for a high watermark that the follower does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..log.files.errors import DiskFailure
from ..log.offset_and_epoch import OffsetAndEpoch
from ..requests.waiting import Until, Wait
from . import leader_actions, transitions
from .leader_state import LeaderState
from .messages import NO_LEADER_ID, PARTITION, REPLICA_STATE_FROM, TOPIC, InboundRequest, error_response_of
from .raft_log import FollowerPosition
from .replica_key import ReplicaKey

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

LOWEST_VERSION = 13
"""Earlier versions have no topic id in the response, so a follower could not check the topic."""

ENDPOINTS_FROM, HIGH_WATERMARK_FROM = 17, 18
NOT_REPORTED = 2**63 - 1
"""The high watermark of a follower that does not report one (KIP-1166)."""


class QuorumFetch(NamedTuple):
    """The fields of a fetch that the quorum uses."""

    version: int
    key: ReplicaKey
    epoch: int
    at: OffsetAndEpoch
    max_bytes: int
    max_wait: int
    high_watermark: int


def handle_fetch_request(replica: RaftReplica, request: InboundRequest) -> Message | Wait[Message]:
    """The response, or a wait for it."""
    body: FetchRequest = request.body
    code = _check_whole(replica, request)
    if code:
        return FetchResponse(error_code=code)
    fetch = _quorum_fetch(body, request.version)
    code = _check(replica, fetch)
    if code:
        return _answer(replica, fetch, code)
    found = _try_answer(replica, fetch)
    return _wait(replica, fetch) if found is None else found


def _check_whole(replica: RaftReplica, request: InboundRequest) -> int:
    body: FetchRequest = request.body
    if body.cluster_id is not None and body.cluster_id != replica.cluster_id:
        return error_codes.INCONSISTENT_CLUSTER_ID
    topics = body.topics
    if request.version < LOWEST_VERSION or len(topics) != 1 or topics[0].topic_id != Uuid.METADATA_TOPIC_ID:
        return error_codes.INVALID_REQUEST
    if len(topics[0].partitions) != 1 or topics[0].partitions[0].partition != PARTITION:
        return error_codes.INVALID_REQUEST
    return error_codes.NONE


def _quorum_fetch(body: FetchRequest, version: int) -> QuorumFetch:
    partition = body.topics[0].partitions[0]
    id = body.replica_state.replica_id if version >= REPLICA_STATE_FROM and body.replica_state else body.replica_id
    return QuorumFetch(
        version,
        ReplicaKey(id, partition.replica_directory_id),
        partition.current_leader_epoch,
        OffsetAndEpoch(partition.fetch_offset, partition.last_fetched_epoch),
        body.max_bytes,
        body.max_wait_ms,
        partition.high_watermark if version >= HIGH_WATERMARK_FROM else NOT_REPORTED,
    )


def _check(replica: RaftReplica, fetch: QuorumFetch) -> int:
    at = fetch.at
    if fetch.max_wait < 0 or at.offset < 0 or at.epoch < 0 or fetch.epoch < 0 or at.epoch > fetch.epoch:
        return error_codes.INVALID_REQUEST
    code = leader_code(replica, fetch.epoch)
    if code == error_codes.NONE and fetch.key.id == replica.key.id:
        return error_codes.UNKNOWN_SERVER_ERROR  # as in Kafka: a replica does not follow itself
    return code


def leader_code(replica: RaftReplica, epoch: int) -> int:
    """The error if this replica does not lead in `epoch`."""
    if epoch < replica.epoch:
        return error_codes.FENCED_LEADER_EPOCH
    if epoch > replica.epoch:
        return error_codes.UNKNOWN_LEADER_EPOCH
    if not isinstance(replica.state, LeaderState):
        return error_codes.NOT_LEADER_OR_FOLLOWER
    if replica.shutdown_until is not None or replica.failure is not None:
        return error_codes.BROKER_NOT_AVAILABLE
    return error_codes.NONE


def record_fetch(replica: RaftReplica, key: ReplicaKey) -> None:
    """A replica fetches records or a snapshot: a voter's fetch counts for the leader's check of its
    quorum.
    """
    if isinstance(replica.state, LeaderState):
        replica.state.on_voter_fetch(key, replica.now, transitions.check_quorum_timeout(replica))


def _try_answer(replica: RaftReplica, fetch: QuorumFetch) -> Message | None:
    """The response, or None if the follower may wait for more. Only at the leader."""
    leader = replica.state
    if not isinstance(leader, LeaderState):
        return _answer(replica, fetch, error_codes.NOT_LEADER_OR_FOLLOWER)
    validity = replica.log.validate(fetch.at.offset, fetch.at.epoch)
    if validity.position is FollowerPosition.DIVERGING:
        end = FetchResponse.EpochEndOffset(epoch=validity.at.epoch, end_offset=validity.at.offset)
        return _answer(replica, fetch, 0, diverging_epoch=end)
    if validity.position is FollowerPosition.SNAPSHOT:
        id = FetchResponse.SnapshotId(end_offset=validity.at.offset, epoch=validity.at.epoch)
        return _answer(replica, fetch, 0, snapshot_id=id)
    record_fetch(replica, fetch.key)
    if fetch.key.id >= 0 and leader.fetched(fetch.key, fetch.at.offset, replica.log.end_offset, replica.now):
        leader_actions.advance_high_watermark(replica, leader)
    if fetch.at.offset < replica.log.end_offset:
        records = replica.log.read(fetch.at.offset, fetch.max_bytes).records
        return _answer(replica, fetch, 0, records=records)
    # The follower does not know the current high watermark (KIP-1166).
    if fetch.max_wait == 0 or (leader.high_watermark is not None and fetch.high_watermark < leader.high_watermark):
        return _answer(replica, fetch, 0)
    return None


def _wait(replica: RaftReplica, fetch: QuorumFetch) -> Wait[Message]:
    """Waits for records, a new high watermark, another leader, or the deadline."""
    deadline = replica.now + fetch.max_wait
    while (yield Until(deadline, [replica.parked])):
        if leader_code(replica, fetch.epoch) != error_codes.NONE:
            return _answer(replica, fetch, error_codes.NOT_LEADER_OR_FOLLOWER)
        try:
            found = _try_answer(replica, fetch)
        except DiskFailure as problem:
            replica.fail(problem)
            return error_response_of(ApiKeys.FETCH, error_codes.BROKER_NOT_AVAILABLE)
        replica.proceed()
        if found is not None:
            return found
    return _answer(replica, fetch, error_codes.NONE)


def _answer(
    replica: RaftReplica,
    fetch: QuorumFetch,
    code: int,
    *,
    records: bytes | memoryview = b"",
    diverging_epoch: FetchResponse.EpochEndOffset | None = None,
    snapshot_id: FetchResponse.SnapshotId | None = None,
) -> FetchResponse:
    of, state = FetchResponse, replica.state
    known = state.high_watermark if isinstance(state, LeaderState) and not code else None
    partition = of.PartitionData(
        partition_index=PARTITION,
        error_code=code,
        high_watermark=-1 if known is None else known,
        log_start_offset=replica.log.start_offset,
        current_leader=of.LeaderIdAndEpoch(
            leader_id=NO_LEADER_ID if state.leader_id is None else state.leader_id, leader_epoch=state.epoch
        ),
        diverging_epoch=diverging_epoch,
        snapshot_id=snapshot_id,
        records=records,
    )
    topic = of.FetchableTopicResponse(topic=TOPIC, topic_id=Uuid.METADATA_TOPIC_ID, partitions=[partition])
    return FetchResponse(responses=[topic], node_endpoints=_endpoints(replica, fetch.version))


def _endpoints(replica: RaftReplica, version: int) -> list[FetchResponse.NodeEndpoint]:
    at = replica.endpoint_of_leader() if version >= ENDPOINTS_FROM else None
    id = replica.state.leader_id
    if at is None or id is None:
        return []
    return [FetchResponse.NodeEndpoint(node_id=id, host=at.host, port=at.port)]
