"""Votes (KIP-595) and pre-votes (KIP-996): granted and requested.

The longer log wins: the later epoch of the last record, and then the larger end offset. A request
that is not for this replica changes nothing, not even the epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.vote import VoteRequest, VoteResponse
from kafkadouble.messages.message import Message

from ..log.offset_and_epoch import OffsetAndEpoch
from . import leader_discovery, routing, transitions
from .candidate_state import CandidateState
from .elections import check_votes
from .messages import InboundRequest, request_of, response_of, sole_partition, sole_response_partition
from .prospective_state import ProspectiveState
from .quorum_state import LAST_EPOCH
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RequestFailure

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

VERSION, PRE_VOTE_FROM = 2, 2


def handle_vote_request(replica: RaftReplica, request: InboundRequest) -> Message:
    """RequestRefused is raised for errors of the whole request."""
    partition = sole_partition(request.body)
    code = _check(replica, request, partition)
    granted = code == error_codes.NONE and _decide_vote(replica, partition)
    return response_of(replica, ApiKeys.VOTE, request.version, code, vote_granted=granted)


def _check(replica: RaftReplica, request: InboundRequest, partition: VoteRequest.PartitionData) -> int:
    epoch, last = partition.replica_epoch, partition.last_offset_epoch
    impossible = last > epoch if partition.pre_vote else last >= epoch
    if impossible or last < 0 or partition.last_offset < 0:
        return error_codes.INVALID_REQUEST
    if epoch < replica.epoch:
        return error_codes.FENCED_LEADER_EPOCH
    if epoch > LAST_EPOCH or partition.replica_id < 0:
        return error_codes.INVALID_REQUEST
    if request.version >= 1 and not is_addressed_to(replica, request.body.voter_id, partition.voter_directory_id):
        return error_codes.INVALID_VOTER_KEY
    return error_codes.NONE


def is_addressed_to(replica: RaftReplica, voter_id: int, directory_id: bytes) -> bool:
    """Whether a request with a voter id is for this replica; -1 and the zero uuid mean any."""
    if voter_id < 0:
        return True
    return voter_id == replica.key.id and (not any(directory_id) or directory_id == replica.key.directory_id)


def _decide_vote(replica: RaftReplica, partition: VoteRequest.PartitionData) -> bool:
    if partition.replica_epoch > replica.epoch:
        transitions.to_unattached(replica, partition.replica_epoch)
    candidate = ReplicaKey(partition.replica_id, partition.replica_directory_id)
    theirs = OffsetAndEpoch(partition.last_offset, partition.last_offset_epoch)
    granted = replica.state.would_grant(candidate, theirs >= replica.log.end, partition.pre_vote)
    if granted and not partition.pre_vote:
        transitions.vote_for(replica, candidate)
    if partition.pre_vote and not granted and isinstance(replica.state, ProspectiveState):
        # The candidate has also lost the leader, and its log is shorter: it may grant now the
        # pre-vote that it refused as a follower. Otherwise both would wait for an election timeout.
        replica.state.epoch_election.forget_refusal(candidate.id)
    return granted


def send_vote_requests(replica: RaftReplica, state: ProspectiveState | CandidateState) -> None:
    """To every voter that has not answered."""
    for voter in state.epoch_election.unasked:
        end, own = replica.log.end, replica.key
        body: VoteRequest = request_of(
            ApiKeys.VOTE,
            replica.cluster_id,
            replica_epoch=state.epoch,
            replica_id=own.id,
            replica_directory_id=own.directory_id,
            voter_directory_id=voter.directory_id,
            last_offset_epoch=end.epoch,
            last_offset=end.offset,
            pre_vote=isinstance(state, ProspectiveState),
        )
        body.voter_id = voter.id
        routing.send_to_voter(replica, voter.id, body, VERSION, _lowest_version(state))


def _lowest_version(state: ProspectiveState | CandidateState) -> int:
    return PRE_VOTE_FROM if isinstance(state, ProspectiveState) else 0


def handle_vote_response(replica: RaftReplica, send: OutboundRequest, response: VoteResponse | RequestFailure) -> bool:
    """Returns whether the response was usable."""
    if response is RequestFailure.UNSUPPORTED_VERSION or (
        isinstance(response, VoteResponse) and response.error_code == error_codes.UNSUPPORTED_VERSION
    ):
        # A voter does not support pre-votes: requests votes at once.
        if not isinstance(replica.state, ProspectiveState):
            return False
        transitions.to_candidate(replica)
        check_votes(replica)
        return True
    if not isinstance(response, VoteResponse):
        return False
    partition = sole_response_partition(response)
    settled = leader_discovery.handle_top_level(replica, response, partition)
    if settled is not None or partition is None:
        return bool(settled)
    state = replica.state
    if isinstance(state, ProspectiveState | CandidateState):
        state.epoch_election.record(send.to.id, partition.vote_granted)
        if isinstance(state, CandidateState) and not partition.vote_granted and send.to.id in state.consenting:
            state.contested(replica.now + transitions.contested_backoff(replica))
        check_votes(replica)
    return True
