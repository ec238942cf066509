"""One replica of the metadata log (Kafka's KafkaRaftClient): requests and responses in, responses
and requests out, committed records to the listener (KIP-595).

    handle(request, now)           a response, or a generator that returns one (see `waiting`)
    answered(token, response, now) the result of a request from `take_outgoing`
    tick(now), next_deadline()     time passes
    append(values, now)            the leader's own records

No clock, socket or thread is used; random numbers come from outside. A vote or an epoch is
persisted before any other node sees it. Every call does everything that can be done at `now`. This
file only holds the parts and delegates: voting, following, leading, fetching, reconfiguration and
describing are in their own files; `transitions` has the state machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..log.offset_and_epoch import OffsetAndEpoch
from ..requests.waiting import Wait, Waiters
from . import leader_actions, state_polls
from .lazy_import import LazyImport
from .leader_state import LeaderState
from .listener_context import ListenerContext
from .quorum_state import LAST_EPOCH, ElectionState, QuorumStateStore
from .raft_listener import NullListener, RaftListener
from .raft_log import DivergedLog, RaftLog
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RaftPeer, RequestFailure, RequestManager
from .settings import QuorumSettings
from .transitions import starting_state
from .voters import VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from .candidate_state import CandidateState
    from .follower_state import FollowerState
    from .messages import InboundRequest
    from .prospective_state import ProspectiveState
    from .resigned_state import ResignedState
    from .snapshot_service import SnapshotService
    from .unattached_state import UnattachedState

    State: TypeAlias = UnattachedState | ProspectiveState | CandidateState | LeaderState | FollowerState | ResignedState

logger = ClientLog("kafkadouble.server.raft")

_handle, _unable = LazyImport("request_handlers", "handle"), LazyImport("request_handlers", "unavailable")
_answered = LazyImport("response_handlers", "handle_response")
_upgrade = LazyImport("reconfiguration", "upgrade_kraft_version")


MAX_NOTES = 100


class NotLeader(Exception):
    """Only the leader can append."""


class KafkaRaftClient:
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
        self._deadline: int | None = now
        self._noted: set[str] = set()
        self._polling = False
        self.state: State = starting_state(self, store.load())

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
        found = self.state.leader_endpoints.get(self.listener_name)
        if found is None and self.state.leader_id is not None:
            return self.voters.endpoint(self.state.leader_id, self.listener_name)
        return found

    def handle(self, request: InboundRequest, now: int) -> Message | Wait[Message]:
        """Handles any request of the quorum. UsageError only for an API that is not the
        quorum's.
        """
        self._at(now)
        response: Message | Wait[Message] = _handle(self, request)
        self._poll()
        return _unable(request) if self.failure is not None else response

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """Handles the response to an OutboundRequest, or its failure (None: lost)."""
        self._at(now)
        failed = response is None or isinstance(response, RequestFailure)
        send = self.links.end(token, self.now, failed=failed)
        if send is not None and self.failure is None:
            _answered(self, send, RequestFailure.LOST if response is None else response)
        self._poll()

    def tick(self, now: int) -> None:
        """Time has passed."""
        self._at(now)
        self._poll()

    def next_deadline(self) -> int | None:
        """When the next tick is due (ms); None: never."""
        return None if self.failure is not None else self._deadline

    def append(self, values: Sequence[bytes], now: int) -> OffsetAndEpoch:
        """Appends records as one batch; returns the offset and epoch of the last. The listener is
        notified when they are committed. NotLeader, AppendRefused.
        """
        self._at(now)
        if not isinstance(self.state, LeaderState) or self.state.resigning or self.failure is not None:
            raise NotLeader(f"{self!r} does not lead")
        try:
            placed = leader_actions.append(self, self.state, values)
        except DiskFailure as problem:
            self.fail(problem)
            raise NotLeader(f"{self!r} can lead no more: {problem}") from problem
        self._poll()
        return placed

    def raise_kraft_version(self, version: int, now: int) -> bool:
        """Moves the voters from the configuration into the log, permanently. False if they are
        there. VoterChangeRefused.
        """
        self._at(now)
        changed: bool = _upgrade(self, version)
        self._poll()
        return changed

    def resign(self, now: int) -> None:
        """Resigns if it leads, and names a preferred successor."""
        self._at(now)
        leader_actions.resign(self)
        self._poll()

    def shutdown(self, now: int, timeout_ms: int = 5000) -> None:
        """Starts a controlled shutdown: a leader resigns and notifies the voters. `is_stopped`
        tells when that is done.
        """
        self._at(now)
        self.shutdown_until = self.now + timeout_ms
        leader_actions.resign(self)
        self._poll()

    @property
    def is_stopped(self) -> bool:
        """Whether the shutdown is complete."""
        if self.failure is not None:
            return True
        if self.shutdown_until is None:
            return False
        from .resigned_state import ResignedState

        waits = isinstance(self.state, ResignedState) and bool(self.state.unaware) and len(self.voters) > 1
        return not waits or self.now >= self.shutdown_until

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

    def proceed(self) -> None:
        """Continues after a waiting request was resumed outside any other call."""
        self._poll()

    def _at(self, now: int) -> None:
        self.now = max(self.now, now)

    def _poll(self) -> None:
        """Does everything that is due, and notifies the listener, including for what the listener
        causes.
        """
        if self._polling or self.failure is not None:
            return
        self._polling = True
        try:
            self._deadline = state_polls.poll_state(self)
            while self._fire_events():
                self._deadline = state_polls.poll_state(self)
        except (DiskFailure, DivergedLog) as problem:
            self.fail(problem)
        finally:
            self._polling = False

    def _fire_events(self) -> bool:
        """Notifies the listener; returns whether it may have changed something."""
        before = (self.state, self.log.end_offset, self._listener_context.next_offset)
        self._listener_context.fire_events(self.state)
        return before != (self.state, self.log.end_offset, self._listener_context.next_offset)

    def __repr__(self) -> str:
        return f"{self.key!r}, {self.state!r}"
