"""One replica of the metadata log: its log, its state, and its links to other nodes.

It decides nothing. `transitions` moves it from state to state; voting, following, leading, fetching
and reconfiguration are in their own files, as functions of a replica.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog

from ..log.offset_and_epoch import OffsetAndEpoch
from ..requests.waiting import Waiters
from .leader_state import LeaderState
from .listener_context import ListenerContext
from .quorum_state import LAST_EPOCH, ElectionState, QuorumStateStore
from .raft_listener import NullListener, RaftListener
from .raft_log import RaftLog
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RaftPeer, RequestFailure, RequestManager
from .settings import QuorumSettings
from .voters import VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from .candidate_state import CandidateState
    from .follower_state import FollowerState
    from .messages import InboundRequest
    from .prospective_state import ProspectiveState
    from .resigned_state import ResignedState
    from .unattached_state import UnattachedState

    State: TypeAlias = UnattachedState | ProspectiveState | CandidateState | LeaderState | FollowerState | ResignedState

logger = ClientLog("kafkadouble.server.raft")

MAX_NOTES = 100


class SnapshotService(Protocol):
    """Both sides of FetchSnapshot, as a replica sees them (KIP-630).

    Serving: `handle` answers; `fetch_handler.leader_code` checks the epoch, and
    `fetch_handler.record_fetch` records a voter's fetch. Fetching: `begin` when the leader names a
    snapshot, `request` for each part, `answered` with each part; once the snapshot is complete in
    the store, `follower_actions.snapshot_fetched` moves the log. `drop` on every change of state.
    """

    def handle(self, replica: RaftReplica, request: InboundRequest) -> Message:
        """A part of a snapshot, or an error."""
        ...

    def begin(self, replica: RaftReplica, id: OffsetAndEpoch) -> None:
        """The leader named this snapshot: starts to fetch it."""
        ...

    def request(self, replica: RaftReplica, id: OffsetAndEpoch) -> Message:
        """The request for the next part."""
        ...

    def answered(self, replica: RaftReplica, send: OutboundRequest, response: Any | RequestFailure) -> bool:
        """Handles a part, or an error, after which the log is fetched again. Returns whether the
        response was usable.
        """
        ...

    def drop(self) -> None:
        """Forgets the fetched parts."""
        ...


class RaftReplica(ABC):
    """`endpoints` are this node's own, by listener name; `listener_name` is the quorum's listener;
    `bootstrap` servers are used while no leader is known. `cluster_id` is None for an observer of
    any cluster.
    """

    def __init__(
        self,
        settings: QuorumSettings,
        key: ReplicaKey,
        log: RaftLog,
        store: QuorumStateStore,
        random: Random,
        listener: RaftListener | None = None,
        *,
        cluster_id: str | None,
        endpoints: Mapping[str, VoterEndpoint] | None = None,
        listener_name: str = "CONTROLLER",
        bootstrap: Sequence[VoterEndpoint] = (),
        kraft_versions: tuple[int, int] = (0, 1),
        can_vote: bool = True,
        snapshots: SnapshotService | None = None,
        now: int = 0,
    ) -> None:
        self.settings, self.key, self.log, self.random = settings, key, log, random
        self.cluster_id, self.listener_name, self.kraft_versions = cluster_id, listener_name, kraft_versions
        self.endpoints = dict(endpoints or {})
        # other nodes only
        servers = [endpoint for endpoint in bootstrap if endpoint not in self.endpoints.values()]
        self.bootstrap = [RaftPeer(-2 - at, endpoint) for at, endpoint in enumerate(servers)]
        self.can_vote = can_vote  # a broker never becomes a voter (KIP-1186)
        self.snapshots = snapshots
        self.now = now
        self.outgoing: list[OutboundRequest] = []
        self.links = RequestManager(settings.request_timeout_ms, settings.retry_backoff_ms)
        self.parked = Waiters()  # fetches that wait for records or the high watermark
        # the leader's last reported log start offset
        self.leader_log_start_offset: int | None = None
        self.shutdown_until: int | None = None  # the end of a controlled shutdown (ms)
        self.failure: Exception | None = None  # why this replica has stopped
        self._store = store
        self._persisted: ElectionState | None = None  # the last persisted state
        self._listener_context = ListenerContext(listener or NullListener(), log)
        self._deadline: int | None = now  # when the next tick is due
        self._noted: set[str] = set()
        self.state: State = self._starting_state(store.load())

    @abstractmethod
    def _starting_state(self, election: ElectionState) -> State:
        """Returns the state in which it starts."""

    @property
    def voters(self) -> VoterSet:
        """The current voters: the newest set in the log, committed or not."""
        return self.log.history.voters

    @property
    def kraft_version(self) -> int:
        return self.log.history.kraft_version

    @property
    def is_voter(self) -> bool:
        return self.voters.contains(self.key)

    @property
    def is_needed(self) -> bool:
        """Whether this replica votes now, or in the last committed set: only its log may have the
        newer set.
        """
        return self.is_voter or self.log.history.voters_at(self.log.high_watermark).contains(self.key)

    @property
    def may_stand(self) -> bool:
        """Whether it may become a candidate: it is needed, and LAST_EPOCH is not reached."""
        return self.is_needed and self.epoch < LAST_EPOCH

    @property
    def epoch(self) -> int:
        return self.state.epoch

    @property
    def leader_id(self) -> int | None:
        return self.state.leader_id

    def endpoint_of_leader(self) -> VoterEndpoint | None:
        """The leader's endpoint, if it is known."""
        endpoint = self.state.leader_endpoints.get(self.listener_name)
        if endpoint is None and self.state.leader_id is not None:
            return self.voters.endpoint(self.state.leader_id, self.listener_name)
        return endpoint

    def send(self, peer: RaftPeer, body: Message, version: int, lowest: int = 0) -> None:
        """Sends a request to a peer that is ready."""
        self.outgoing.append(self.links.begin(peer, body, version, lowest, self.now))

    def take_outgoing(self) -> list[OutboundRequest]:
        """The requests to send; the caller owns them."""
        taken, self.outgoing = self.outgoing, []
        return taken

    def persist(self, election: ElectionState) -> None:
        """Persists the election state before it takes effect."""
        if election != self._persisted:
            self._store.save(election, self.voters.ids, self.kraft_version)
            self._persisted = election

    def fail(self, problem: Exception) -> None:
        """Stops this replica: it cannot continue without breaking a promise."""
        logger.error("%r has failed: %s", self, problem)
        self.failure = problem
        self.outgoing.clear()
        self.parked.wake_all()
        if isinstance(self.state, LeaderState) and self.state.change is not None:
            self.state.change.give_up()
        self._listener_context.fire_resigned()

    def note(self, what: str) -> None:
        """Logs a warning."""
        logger.warning("%r: %s", self, what)

    def note_once(self, what: str) -> None:
        """Logs a warning once."""
        if what not in self._noted and len(self._noted) < MAX_NOTES:
            self._noted.add(what)
            self.note(what)

    @abstractmethod
    def proceed(self) -> None:
        """Continues after a waiting request was resumed outside any other call."""

    def __repr__(self) -> str:
        return f"{self.key!r}, {self.state!r}"
