"""The trace of one node: every request passes here, and subscribers learn what becomes of it.

    begun -> [fault_hit] -> [waiting] -> ended

Rules. A request comes from a client, from another node over a socket, or from another node of the
same process. The request inside an Envelope is a request of its own; `forwarded_from` links it to
the request of the client, if the broker runs in the same process. The place where a request
arrives (a connection, a link between nodes, the handler of Envelope) begins and ends it, because
only that place knows the bytes. Bytes that are not a request are `rejected`. A subscriber changes
nothing and never raises. Without a subscriber `is_on` is False, and that is all that a request
looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..requests.origin import is_from_node

if TYPE_CHECKING:
    from kafkadouble.messages.headers import RequestHead

    from ..requests.request import Peer, Request

WAITING, ANSWERED, UNANSWERED, DISCONNECTED, ABANDONED = (
    "waiting",
    "answered",
    "unanswered",
    "disconnected",
    "abandoned",
)
"""The outcomes: none yet; an answer; none, because the protocol has none; the server closed the
connection; the sender left before it had the answer."""


class Subscriber:
    """The base class of subscribers. A subscriber overrides the methods that it needs."""

    wants_frames = False
    """Whether it needs the bytes of requests and answers."""

    def connected(self, node_id: int, peer: Peer) -> None:
        """A connection was accepted."""

    def disconnected(self, peer: Peer) -> None:
        """The socket of a connection is gone."""

    def begun(self, traced: TracedRequest) -> None:
        """A request is handed to the node."""

    def fault_hit(self, traced: TracedRequest, action: str) -> None:
        """A fault rule with an action of this type was applied to the request."""

    def waiting(self, traced: TracedRequest) -> None:
        """The request cannot be answered at once."""

    def ended(self, traced: TracedRequest) -> None:
        """`traced` has an outcome, and what belongs to it."""

    def arrived_throttled(self, peer: Peer, ahead: int, count: int, now: int) -> None:
        """`count` frames arrived at `now` (ms) on a connection that is throttled and has no request
        under way. They are begun later, after `ahead` others."""

    def rejected(self, peer: Peer, frame: bytes, began_ns: int) -> None:
        """The connection ends because of this frame, which is not a request that is served."""

    def version_refused(self, peer: Peer, head: RequestHead, refusal: RefusedVersion) -> None:
        """An ApiVersions request in a version that is not served was answered (KIP-511)."""


class RefusedVersion:
    """The frames of the request (without its size) and of its answer (with its size), the error
    code, and when it came (ns)."""

    __slots__ = ("began_ns", "error_code", "request_frame", "response_frame")

    def __init__(self, request_frame: bytes, response_frame: bytes, error_code: int, began_ns: int) -> None:
        self.request_frame, self.response_frame = request_frame, response_frame
        self.error_code, self.began_ns = error_code, began_ns


class TracedRequest:
    """One request on its way.

    `from_node`: another node of the cluster sent it. `forwarded_from`: what this request is inside
    an Envelope of; `cause`: for the Envelope itself, the request that is in it. `began_ns` and the
    time of the end are of the clock of the subscribers, `ended_ms` is of the node's clock.
    `response_bytes` is None if there is no answer, or if it was passed on as an object. `seen` is
    the entry of the request history, if that keeps this request. `request_frame` (without its
    size) and `response_frame` (with it) are the bytes on the socket, if the trace keeps frames.
    """

    __slots__ = (
        "_trace",
        "answer",
        "began_ns",
        "cause",
        "ended_ms",
        "forwarded_from",
        "from_node",
        "node_id",
        "outcome",
        "request",
        "request_frame",
        "response_bytes",
        "response_frame",
        "seen",
    )

    def __init__(
        self,
        trace: Trace,
        request: Request[Any],
        began_ns: int = 0,
        cause: TracedRequest | None = None,
        forwarded_from: TracedRequest | None = None,
    ) -> None:
        self._trace, self.node_id, self.request, self.began_ns = trace, trace.node_id, request, began_ns
        self.cause, self.forwarded_from = cause, forwarded_from
        self.from_node = is_from_node(request)
        self.outcome = WAITING
        self.answer: Any = None
        self.seen: Any = None
        self.response_bytes: int | None = None
        self.request_frame: bytes | None = None
        self.response_frame: bytes | None = None
        self.ended_ms = 0

    def fault_hit(self, action: str) -> None:
        for subscriber in self._trace.subscribers:
            subscriber.fault_hit(self, action)

    def waits(self) -> None:
        """It cannot be answered at once."""
        for subscriber in self._trace.subscribers:
            subscriber.waiting(self)

    def end(self, outcome: str, now: int, answer: Any = None, response_bytes: int | None = None) -> None:
        """It has an outcome. To be called once."""
        self.outcome, self.ended_ms = outcome, now
        self.answer, self.response_bytes = answer, response_bytes
        for subscriber in self._trace.subscribers:
            subscriber.ended(self)
        self.request.trace = None  # the two referred to each other

    def __repr__(self) -> str:
        return f"{self.request!r}, {self.outcome}"


class Trace:
    """The trace of one node. `nanos` is the clock of the subscribers, 0 without one that has a
    clock. `keeps_frames`: a subscriber wants the bytes of requests and answers, too."""

    def __init__(self, node_id: int) -> None:
        self.node_id, self.is_on, self.keeps_frames = node_id, False, False
        self.subscribers: tuple[Subscriber, ...] = ()
        self.nanos: Callable[[], int] = _no_clock

    def subscribe(self, subscriber: Subscriber, nanos: Callable[[], int] | None = None) -> None:
        """Calls the subscriber from now on. `nanos` replaces the clock."""
        self.subscribers, self.is_on = (*self.subscribers, subscriber), True
        self.nanos = nanos or self.nanos
        self.keeps_frames = self.keeps_frames or subscriber.wants_frames

    def subscribe_all(self, *subscribers: Subscriber | None) -> None:
        """Calls these subscribers from now on, if there are any."""
        for subscriber in subscribers:
            if subscriber is not None:
                self.subscribe(subscriber)

    def connected(self, peer: Peer) -> None:
        for subscriber in self.subscribers:
            subscriber.connected(self.node_id, peer)

    def disconnected(self, peer: Peer) -> None:
        for subscriber in self.subscribers:
            subscriber.disconnected(peer)

    def begin(
        self,
        request: Request[Any],
        began_ns: int = 0,
        *,
        cause: TracedRequest | None = None,
        forwarded_from: TracedRequest | None = None,
    ) -> TracedRequest:
        """A request is handed to the node; `request.trace` is what is returned."""
        request.trace = traced = TracedRequest(self, request, began_ns, cause, forwarded_from)
        for subscriber in self.subscribers:
            subscriber.begun(traced)
        return traced

    def arrived_throttled(self, peer: Peer, ahead: int, count: int, now: int) -> None:
        for subscriber in self.subscribers:
            subscriber.arrived_throttled(peer, ahead, count, now)

    def rejected(self, peer: Peer, frame: bytes, began_ns: int) -> None:
        for subscriber in self.subscribers:
            subscriber.rejected(peer, frame, began_ns)

    def version_refused(self, peer: Peer, head: RequestHead, refusal: RefusedVersion) -> None:
        for subscriber in self.subscribers:
            subscriber.version_refused(peer, head, refusal)

    def __repr__(self) -> str:
        return f"trace of node {self.node_id} with {len(self.subscribers)} subscribers"


def _no_clock() -> int:
    return 0
