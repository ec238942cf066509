"""A follower: it handles BeginQuorumEpoch and EndQuorumEpoch, fetches, and appends (KIP-595).

A voter without a successful fetch for the fetch timeout starts an election; an observer only looks
for the leader. Records are appended and flushed before the next fetch, because that fetch confirms
them to the leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import WireError

from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.refusals import LogRefused
from . import elections, leader_discovery, routing, vote, voter_updates
from .follower_state import FollowerState
from .messages import PARTITION, InboundRequest, response_of, sole_partition
from .quorum_state import LAST_EPOCH
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RequestFailure
from .voters import VoterEndpoint

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

FETCH_VERSION, FETCH_LOWEST = 18, 13  # below 13 an answer has no topic id
MAX_WAIT_MS = 500
SNAPSHOT_VERSION = 1


def handle_begin_quorum_epoch_request(replica: RaftReplica, request: InboundRequest) -> Message:
    """A leader announces its epoch. RequestRefused is raised for errors of the whole request."""
    body: BeginQuorumEpochRequest = request.body
    partition = sole_partition(body)
    code = _check(replica, partition.leader_id, partition.leader_epoch)
    is_for_another = request.version >= 1 and not vote.is_addressed_to(
        replica, body.voter_id, partition.voter_directory_id
    )
    if code == error_codes.NONE and is_for_another:
        code = error_codes.INVALID_VOTER_KEY
    if code == error_codes.NONE:
        _accept_leader(replica, body, partition.leader_id, partition.leader_epoch)
    return response_of(replica, ApiKeys.BEGIN_QUORUM_EPOCH, request.version, code)


def _check(replica: RaftReplica, leader_id: int, epoch: int) -> int:
    if epoch < replica.epoch:
        return error_codes.FENCED_LEADER_EPOCH
    if epoch > LAST_EPOCH or leader_id < 0 or not leader_discovery.is_consistent(replica, epoch, leader_id):
        return error_codes.INVALID_REQUEST
    return error_codes.NONE


def _accept_leader(
    replica: RaftReplica, body: BeginQuorumEpochRequest | EndQuorumEpochRequest, leader_id: int, epoch: int
) -> None:
    endpoints = {endpoint.name: VoterEndpoint(endpoint.host, endpoint.port) for endpoint in body.leader_endpoints}
    leader_discovery.accept_leader(replica, epoch, leader_id, endpoints or replica.voters.endpoints_of(leader_id))


def handle_end_quorum_epoch_request(replica: RaftReplica, request: InboundRequest) -> Message:
    """The leader resigns: the first preferred successor starts an election at once, the others a
    little later.
    """
    body: EndQuorumEpochRequest = request.body
    partition = sole_partition(body)
    code = _check(replica, partition.leader_id, partition.leader_epoch)
    if code == error_codes.NONE:
        _accept_leader(replica, body, partition.leader_id, partition.leader_epoch)
        state = replica.state
        if isinstance(state, FollowerState) and state.leader_id == partition.leader_id:
            state.left(replica.now + election_backoff_ms(replica, successors_in(partition, request.version)))
    return response_of(replica, ApiKeys.END_QUORUM_EPOCH, request.version, code)


def successors_in(partition: EndQuorumEpochRequest.PartitionData, version: int) -> list[ReplicaKey]:
    if version < 1:
        return [ReplicaKey(id) for id in partition.preferred_successors]
    preferred_candidates = partition.preferred_candidates
    return [ReplicaKey(candidate.candidate_id, candidate.candidate_directory_id) for candidate in preferred_candidates]


def election_backoff_ms(replica: RaftReplica, successors: list[ReplicaKey]) -> int:
    """0 for the first successor; each later one waits twice as long as the one before, up to half
    of the maximum. A voter that is not named waits the maximum.
    """
    at = next((at for at, key in enumerate(successors) if replica.key.fits(key)), len(successors))
    maximum = replica.settings.election_backoff_max_ms
    if at == 0:
        return 0
    if at >= len(successors):
        return maximum
    return (maximum >> (len(successors) - 1)) << (at - 1)


def poll_follower(replica: RaftReplica, state: FollowerState) -> int | None:
    """Fetches, and checks whether the leader is lost."""
    if replica.shutdown_until is not None:
        return None
    if replica.may_stand and replica.now >= state.deadline:
        return elections.start_election(replica)
    if not voter_updates.maybe_send_voter_update(replica, state):
        # From any node while the leader cannot be reached: it may have moved, or changed.
        leader = routing.leader_peer(replica)
        if leader is None or replica.links.is_paused(leader, replica.now):
            fetch_from_any(replica)
        elif replica.links.is_ready(leader, replica.now):
            if state.fetching_snapshot is not None and replica.snapshots is not None:
                replica.send(leader, replica.snapshots.request(replica, state.fetching_snapshot), SNAPSHOT_VERSION)
            else:
                replica.send(leader, fetch_request(replica), FETCH_VERSION, FETCH_LOWEST)
    due = [_next_turn(replica), state.update_at, *([state.deadline] if replica.may_stand else [])]
    return min(at for at in due if at > replica.now)


def _next_turn(replica: RaftReplica) -> int:
    leader = routing.leader_peer(replica)
    if leader is None or replica.links.is_paused(leader, replica.now):
        return routing.next_request_at(replica, routing.known_peers(replica))
    return routing.next_request_at(replica, [leader])


def fetch_from_any(replica: RaftReplica) -> int:
    """Fetches from any node: a node that does not lead names the leader. Returns the time of the
    next try.
    """
    peer = routing.random_peer(replica)
    if peer is not None:
        replica.send(peer, fetch_request(replica), FETCH_VERSION, FETCH_LOWEST)
    return routing.next_request_at(replica, routing.known_peers(replica))


def fetch_request(replica: RaftReplica) -> FetchRequest:
    """A fetch from the end of this log on."""
    end, of = replica.log.end, FetchRequest
    partition = of.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=replica.epoch,
        fetch_offset=end.offset,
        last_fetched_epoch=end.epoch,
        replica_directory_id=replica.key.directory_id,
        high_watermark=replica.log.known_high_watermark,
    )
    return FetchRequest(
        cluster_id=replica.cluster_id,
        replica_state=of.ReplicaState(replica_id=replica.key.id),
        max_wait_ms=MAX_WAIT_MS,
        max_bytes=replica.settings.fetch_max_bytes,
        session_epoch=-1,
        topics=[of.FetchTopic(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[partition])],
    )


def handle_fetch_response(
    replica: RaftReplica, send: OutboundRequest, response: FetchResponse | RequestFailure
) -> bool:
    """Handles records, a diverging epoch, a snapshot id, or an error. DivergedLog if committed
    records would have to go.
    """
    if not isinstance(response, FetchResponse):
        return False
    leader_discovery.check_top_level_error(response.error_code)
    partition = _sole_partition(response)
    if partition is None or response.error_code:
        return False
    leader = partition.current_leader or FetchResponse.LeaderIdAndEpoch()
    handled = leader_discovery.handle_leader_and_epoch(replica, leader, partition.error_code, response.node_endpoints)
    if handled is not None:
        return handled
    state = replica.state
    if partition.error_code or not isinstance(state, FollowerState):
        return False  # also from a leader that is not accepted: it backs off
    sent = send.body
    if not isinstance(sent, FetchRequest) or not _is_current(replica, sent):
        return True
    diverging, snapshot = partition.diverging_epoch, partition.snapshot_id
    if diverging is not None and (diverging.epoch >= 0 or diverging.end_offset >= 0):
        return _truncate(replica, state, OffsetAndEpoch(diverging.end_offset, diverging.epoch))
    if snapshot is not None and (snapshot.end_offset >= 0 or snapshot.epoch >= 0):
        return _start_snapshot_fetch(replica, state, OffsetAndEpoch(snapshot.end_offset, snapshot.epoch))
    return _append(replica, state, partition)


def _sole_partition(response: FetchResponse) -> FetchResponse.PartitionData | None:
    topics = response.responses
    if len(topics) != 1 or topics[0].topic_id != Uuid.METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition_index == PARTITION else None


def _is_current(replica: RaftReplica, sent: FetchRequest) -> bool:
    """Whether the request is of this epoch, and the log has not changed since."""
    partition = sent.topics[0].partitions[0]
    end = replica.log.end
    return (
        partition.current_leader_epoch == replica.epoch
        and partition.fetch_offset == end.offset
        and partition.last_fetched_epoch == end.epoch
    )


def _truncate(replica: RaftReplica, state: FollowerState, end: OffsetAndEpoch) -> bool:
    if end.epoch < 0 or end.offset < 0:
        return False
    replica.log.truncate_to_end_of(end)
    state.fetched(replica.now)
    return True


def _start_snapshot_fetch(replica: RaftReplica, state: FollowerState, id: OffsetAndEpoch) -> bool:
    if id.epoch < 0 or id.offset < 0 or replica.snapshots is None:
        return False
    replica.snapshots.begin(replica, id)
    state.fetching_snapshot = id
    state.fetched(replica.now)
    return True


def snapshot_fetched(replica: RaftReplica, id: OffsetAndEpoch) -> None:
    """The snapshot is complete in the store: the log continues from its end. DivergedLog if the log
    is ahead of it.
    """
    if isinstance(replica.state, FollowerState):
        replica.state.fetching_snapshot = None
    replica.log.start_from_snapshot(id)
    replica.log.commit(id.offset)


def _append(replica: RaftReplica, state: FollowerState, partition: FetchResponse.PartitionData) -> bool:
    """Bytes that do not continue the log change nothing, and are fetched again."""
    if partition.records:
        try:
            replica.log.append_as_follower(partition.records, replica.epoch, replica.now)
        except (LogRefused, WireError) as problem:
            replica.note(f"records of leader {state.leader_id} were not appended: {problem}")
            return False
        replica.log.flush()
    state.fetched(replica.now)
    replica.log.commit(min(partition.high_watermark, replica.log.end_offset))
    replica.leader_log_start_offset = partition.log_start_offset
    return True
