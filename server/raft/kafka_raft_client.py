"""One replica of the metadata log (Kafka's KafkaRaftClient): requests and responses in, responses
and requests out, committed records to the listener (KIP-595).

    handle(request, now)           a response, or a generator that returns one (see `waiting`)
    answered(token, response, now) the result of a request from `take_outgoing`
    tick(now), next_deadline()     time passes
    append(values, now)            the leader's own records

No clock, socket or thread is used; random numbers come from outside. A vote or an epoch is
persisted before any other node sees it. Every call does everything that can be done at `now`. This
file only delegates: `raft_replica` holds the parts; voting, following, leading, fetching,
reconfiguration and describing are in their own files; `transitions` has the state machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message

from ..log.files.errors import DiskFailure
from ..log.offset_and_epoch import OffsetAndEpoch
from ..requests.waiting import Wait
from . import leader_actions, state_polls
from .lazy_import import LazyImport
from .leader_state import LeaderState
from .quorum_state import ElectionState
from .raft_log import DivergedLog
from .raft_replica import RaftReplica
from .request_manager import RequestFailure
from .transitions import starting_state

if TYPE_CHECKING:
    from .messages import InboundRequest
    from .raft_replica import State

_handle, _unable = LazyImport("request_handlers", "handle"), LazyImport("request_handlers", "unavailable")
_answered = LazyImport("response_handlers", "handle_response")
_upgrade = LazyImport("reconfiguration", "upgrade_kraft_version")


class NotLeader(Exception):
    """Only the leader can append."""


class KafkaRaftClient(RaftReplica):
    """The replica that its node calls."""

    _polling = False

    def _starting_state(self, election: ElectionState) -> State:
        return starting_state(self, election)

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
