"""A leader makes itself known: BeginQuorumEpoch to the voters that do not fetch (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse

from . import learning, sending
from .leader import Leader
from .links import Failure, Send
from .messages import ask_as_leader, sole_answer
from .replica_key import ReplicaKey

if TYPE_CHECKING:
    from .replica import Replica

VERSION = 1


def make_known(replica: Replica, leader: Leader) -> int | None:
    """BeginQuorumEpoch to the voters that have not fetched yet, every now and then; when it is time again."""
    unaware = [each for each in leader.voters.values() if not each.acknowledged]
    if replica.now >= leader.begin_at:
        for progress in leader.voters.values():
            if progress.key.id != replica.key.id and _is_silent(replica, progress.last_fetch):
                sending.to_voter(replica, progress.key.id, _begin_request(replica, progress.key), VERSION)
        leader.begin_at = replica.now + replica.settings.fetch_timeout_ms // 2
    return leader.begin_at if unaware or len(leader.voters) > 1 else None


def _is_silent(replica: Replica, last_fetch: int) -> bool:
    """Whether a voter has not been heard of for so long that it may have lost its leader."""
    return last_fetch < 0 or replica.now - last_fetch >= replica.settings.fetch_timeout_ms // 2


def _begin_request(replica: Replica, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    body: BeginQuorumEpochRequest = ask_as_leader(
        replica, ApiKeys.BEGIN_QUORUM_EPOCH, voter_directory_id=voter.directory_id
    )
    body.voter_id = voter.id
    return body


def begin_answered(replica: Replica, send: Send, response: BeginQuorumEpochResponse | Failure) -> bool:
    """A voter knows us, or knows better."""
    if not isinstance(response, BeginQuorumEpochResponse):
        return False
    settled = learning.settled(replica, response, sole_answer(response))
    if settled is not None:
        return settled
    if isinstance(replica.state, Leader) and send.to.id in replica.state.voters:
        replica.state.voters[send.to.id].acknowledged = True
    return True
