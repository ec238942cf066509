"""Changes of the voters: added, removed and updated voters, and upgrades of `kraft.version`
(KIP-853, KIP-1186).

One change at a time, of a committed set, by a leader that has committed a record of its own epoch:
then every majority of the old set overlaps every majority of the new one. A new set applies once it
is in the log. A voter is added after it has reported its kraft.version levels and has caught up. A
leader that is removed continues until that is committed, and then resigns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kafkadouble.messages.message import Message

from ..requests.waiting import Until, Wait
from . import control_records, fetch_handler, leader_actions, voter_change_end
from .leader_state import LeaderState
from .messages import NO_LEADER_ID, InboundRequest
from .pending_voter_change import PendingVoterChange, VoterChangeStep
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RaftPeer, RequestFailure
from .voters import Voter, VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

API_VERSIONS_VERSION = 4
KRAFT_VERSION = "kraft.version"
CAUGHT_UP_WITHIN_MS = 3_600_000
"""The time (ms) since its last fetch within which a new voter must have caught up."""

MAX_VOTERS_SIZE_BYTES = 1 << 20
"""The most bytes of a set of voters: a request may name any number of listeners."""

_TIMED_OUT = error_codes.REQUEST_TIMED_OUT


class VoterChangeRefused(Exception):
    """The change is refused."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def handle_add_voter_request(replica: RaftReplica, request: InboundRequest) -> Message | Wait[Message]:
    """AddRaftVoter: answered when the new set is committed or, from version 1 on and if requested,
    once it is written.
    """
    body: AddRaftVoterRequest = request.body
    try:
        leader = _checked_leader(replica, body.cluster_id, replica.epoch)
        voter = _voter_of_request(replica, body, (0, 0))
        _check_no_pending_change(replica, leader)
        _check_committed(replica, leader)
        if voter.id in replica.voters:
            raise VoterChangeRefused(
                error_codes.DUPLICATE_VOTER, f"{replica.voters!r} have {voter.id} among them already"
            )
        peer = RaftPeer(voter.id, voter.endpoints[replica.listener_name])
        if not replica.links.is_ready(peer, replica.now):
            raise VoterChangeRefused(_TIMED_OUT, f"{peer!r} is not ready to be asked anything")
    except VoterChangeRefused as refused:
        return AddRaftVoterResponse(error_code=refused.code, error_message=refused.message)
    replica.send(
        peer, ApiVersionsRequest(client_software_name="kafkadouble", client_software_version="0"), API_VERSIONS_VERSION
    )
    committed = request.version < 1 or body.ack_when_committed
    expires = replica.now + replica.settings.request_timeout_ms
    leader.change = PendingVoterChange(voter, expires, VoterChangeStep.PROBING, committed)
    return _wait(leader.change, AddRaftVoterResponse)


def _wait(change: PendingVoterChange, of: Any) -> Wait[Message]:
    while change.step is not VoterChangeStep.DONE:
        yield Until(None, [change.waiters])
    message: Message = of(error_code=change.code, error_message=change.message)
    return message


def handle_api_versions_response(
    replica: RaftReplica, send: OutboundRequest, response: ApiVersionsResponse | RequestFailure
) -> bool:
    """The new voter's kraft.version levels: it is added if it has caught up."""
    leader = replica.state
    change = leader.change if isinstance(leader, LeaderState) else None
    if not isinstance(leader, LeaderState) or change is None or change.step is not VoterChangeStep.PROBING:
        return True
    if send.to.id != change.voter.id:
        return True
    if not isinstance(response, ApiVersionsResponse) or response.error_code:
        voter_change_end.finish(leader, _TIMED_OUT, f"{send.to!r} did not report its supported versions")
        return False
    try:
        _add(replica, leader, change, _kraft_versions(response))
    except VoterChangeRefused as refused:
        voter_change_end.finish(leader, refused.code, refused.message)
    return True


def _kraft_versions(response: ApiVersionsResponse) -> tuple[int, int]:
    for feature in response.supported_features:
        if feature.name == KRAFT_VERSION:
            return feature.min_version, feature.max_version
    return 0, 0


def _add(replica: RaftReplica, leader: LeaderState, change: PendingVoterChange, known: tuple[int, int]) -> None:
    voter = change.voter._replace(kraft_versions=known)
    if not known[0] <= replica.kraft_version <= known[1]:
        raise VoterChangeRefused(
            error_codes.INVALID_REQUEST,
            f"{voter.key!r} supports kraft.version {known[0]} to {known[1]}, and the quorum has {replica.kraft_version}",
        )
    if not _has_caught_up(leader, voter.key, replica.now):
        raise VoterChangeRefused(_TIMED_OUT, f"{voter.key!r} is lagging behind")
    voters = replica.voters.with_(voter)
    if voters is None:
        raise VoterChangeRefused(error_codes.DUPLICATE_VOTER, f"{replica.voters!r} have {voter.id} among them already")
    _write(replica, leader, change, voters)


def _has_caught_up(leader: LeaderState, key: ReplicaKey, now: int) -> bool:
    progress = leader.progress_of(key)
    if progress is None or progress.last_caught_up < 0:
        return False
    return now - progress.last_fetch < CAUGHT_UP_WITHIN_MS


def _write(replica: RaftReplica, leader: LeaderState, change: PendingVoterChange, voters: VoterSet) -> None:
    """Appends the new set. With a majority of one it is committed before this returns."""
    change.step, change.offset = VoterChangeStep.COMMITTING, replica.log.end_offset
    _append(replica, leader, [control_records.voters(voters)])
    if not change.ack_when_committed:
        change.finish()  # `leader.change` stays until it is committed


def handle_remove_voter_request(replica: RaftReplica, request: InboundRequest) -> Message | Wait[Message]:
    """RemoveRaftVoter: answered when the new set is committed."""
    body: RemoveRaftVoterRequest = request.body
    try:
        leader = _checked_leader(replica, body.cluster_id, replica.epoch)
        key = _checked_key(body)
        _check_no_pending_change(replica, leader)
        _check_committed(replica, leader)
        voter, voters = replica.voters.get(key.id), replica.voters.without(key)
        if voter is None or voters is None:
            raise VoterChangeRefused(error_codes.VOTER_NOT_FOUND, f"{key!r} cannot be taken from {replica.voters!r}")
    except VoterChangeRefused as refused:
        return RemoveRaftVoterResponse(error_code=refused.code, error_message=refused.message)
    leader.change = change = PendingVoterChange(
        voter, replica.now + replica.settings.request_timeout_ms, VoterChangeStep.COMMITTING
    )
    _write(replica, leader, change, voters)
    return _wait(change, RemoveRaftVoterResponse)


def handle_update_voter_request(replica: RaftReplica, request: InboundRequest) -> Message:
    """UpdateRaftVoter: a voter reports its endpoints and kraft.version levels. Under
    `kraft.version` 0 the leader only remembers them for an upgrade.
    """
    body: UpdateRaftVoterRequest = request.body
    code, feature = error_codes.NONE, body.kraft_version_feature
    try:
        leader = _checked_leader(replica, body.cluster_id, body.current_leader_epoch)
        voter = _voter_of_request(replica, body, (feature.min_supported_version, feature.max_supported_version))
        low, high = voter.kraft_versions
        if not 0 <= low <= high:
            raise VoterChangeRefused(error_codes.INVALID_REQUEST)
        _check_no_pending_change(replica, leader, versions=False)
        if replica.kraft_version > 0:
            _check_committed(replica, leader)
        if not low <= replica.kraft_version <= high:
            raise VoterChangeRefused(error_codes.INVALID_REQUEST)
        _update(replica, leader, voter)
    except VoterChangeRefused as refused:
        code = refused.code
    return _update_answer(replica, code)


def _update(replica: RaftReplica, leader: LeaderState, voter: Voter) -> None:
    if replica.kraft_version == 0:
        if voter.id not in replica.voters:
            raise VoterChangeRefused(error_codes.VOTER_NOT_FOUND)
        leader.reported_voters[voter.id] = voter
    else:
        voters = replica.voters.updated(voter)
        if voters is None:
            raise VoterChangeRefused(error_codes.VOTER_NOT_FOUND)
        if voters != replica.voters:
            _append(replica, leader, [control_records.voters(voters)])
    fetch_handler.record_fetch(replica, voter.key)


def _update_answer(replica: RaftReplica, code: int) -> UpdateRaftVoterResponse:
    of, at = UpdateRaftVoterResponse, replica.endpoint_of_leader()
    leader = of.CurrentLeader(
        leader_id=NO_LEADER_ID if replica.leader_id is None else replica.leader_id,
        leader_epoch=replica.epoch,
        host="" if at is None else at.host,
        port=0 if at is None else at.port,
    )
    return of(error_code=code, current_leader=leader)


def upgrade_kraft_version(replica: RaftReplica, version: int) -> bool:
    """Raises `kraft.version`: the voters move from the configuration into the log. False if it has
    that level already. VoterChangeRefused if a voter has not reported its levels, or does not
    support it.
    """
    leader = _checked_leader(replica, None, replica.epoch)
    if version == replica.kraft_version:
        return False
    if not replica.kraft_version < version <= control_records.NEWEST_KRAFT_VERSION:
        raise VoterChangeRefused(
            error_codes.INVALID_UPDATE_VERSION, f"kraft.version {version} after {replica.kraft_version}"
        )
    if leader.high_watermark is None:
        raise VoterChangeRefused(_TIMED_OUT, "nothing of this epoch is committed yet")
    own = Voter(replica.key, replica.endpoints, replica.kraft_versions)
    reported = {**leader.reported_voters, own.id: own}
    for id in replica.voters.ids:
        if id not in reported or not reported[id].kraft_versions[0] <= version <= reported[id].kraft_versions[1]:
            raise VoterChangeRefused(error_codes.INVALID_UPDATE_VERSION, f"voter {id} is not known to know {version}")
    voters = VoterSet(reported[id] for id in replica.voters.ids)
    _append(replica, leader, [control_records.kraft_version(version), control_records.voters(voters)])
    return True


def _append(replica: RaftReplica, leader: LeaderState, controls: Sequence[control_records.Control]) -> None:
    """VoterChangeRefused if the voters are too large for the first batch of an epoch and the header
    of a snapshot.
    """
    size = sum(len(value) for _, value in controls)
    if size > MAX_VOTERS_SIZE_BYTES:
        raise VoterChangeRefused(
            error_codes.INVALID_REQUEST, f"{size} bytes of voters, where {MAX_VOTERS_SIZE_BYTES} are the most"
        )
    leader_actions.append_voters(replica, leader, controls)


def _checked_leader(replica: RaftReplica, cluster_id: str | None, epoch: int) -> LeaderState:
    """VoterChangeRefused unless this node leads, in this cluster and epoch."""
    if cluster_id is not None and cluster_id != replica.cluster_id:
        raise VoterChangeRefused(
            error_codes.INCONSISTENT_CLUSTER_ID, f"{cluster_id!r} is not this cluster, {replica.cluster_id!r}"
        )
    code = fetch_handler.leader_code(replica, epoch)
    leader = replica.state
    if code or not isinstance(leader, LeaderState):
        raise VoterChangeRefused(code)
    return leader


def _checked_key(body: Any) -> ReplicaKey:
    if body.voter_id < 0 or not any(body.voter_directory_id):
        raise VoterChangeRefused(error_codes.INVALID_REQUEST, "a voter has an id and a directory id")
    return ReplicaKey(body.voter_id, body.voter_directory_id)


def _voter_of_request(replica: RaftReplica, body: Any, kraft_versions: tuple[int, int]) -> Voter:
    """The voter in the request. A listener without a name is refused, because every Apache Kafka
    that reads it fails.
    """
    key = _checked_key(body)
    endpoints = {listener.name.upper(): VoterEndpoint(listener.host, listener.port) for listener in body.listeners}
    if not all(name.strip() for name in endpoints):
        raise VoterChangeRefused(error_codes.INVALID_REQUEST, f"{key!r} has a listener without a name")
    if replica.listener_name not in endpoints:
        raise VoterChangeRefused(
            error_codes.INVALID_REQUEST, f"{key!r} has no endpoint on the listener {replica.listener_name}"
        )
    return Voter(key, endpoints, kraft_versions)


def _check_no_pending_change(replica: RaftReplica, leader: LeaderState, *, versions: bool = True) -> None:
    """No change may be pending, and earlier ones must be committed."""
    if leader.change is not None:
        raise VoterChangeRefused(_TIMED_OUT, f"{leader.change!r} is under way")
    if leader.high_watermark is None:
        raise VoterChangeRefused(_TIMED_OUT, "the leader has committed nothing in its epoch yet")
    if versions and replica.kraft_version == 0:
        raise VoterChangeRefused(error_codes.UNSUPPORTED_VERSION, "kraft.version is 0, and its voters are fixed")


def _check_committed(replica: RaftReplica, leader: LeaderState) -> None:
    at = replica.log.history.voters_offset
    if at < 0 or leader.high_watermark is None or at >= leader.high_watermark:
        raise VoterChangeRefused(_TIMED_OUT, f"the voters at offset {at} are not committed yet")
