"""The latest requests: decoded, without record batches and secrets, and bounded in number and in
memory. The answers have a bound of their own, so that large answers displace no requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.api_keys import ApiKeys

from . import payload
from .seen_request import SeenRequest, errors_in
from .topic_names import TopicNames
from .trace import ANSWERED, Subscriber, TracedRequest

if TYPE_CHECKING:
    from ..requests.request import Peer
    from .request_counts import RequestCounts

__all__ = ["MAX_BYTES", "MAX_REQUESTS", "OVERHEAD", "History", "SeenRequest", "errors_in"]

MAX_REQUESTS = 10_000
MAX_BYTES = 8 * 1024 * 1024
"""The bound of the requests, and that of the answers."""

OVERHEAD = 512
"""About what a request weighs besides the bytes of its frame."""

LARGE, WORST = 8192, 40
"""A large request is weighed as if it consisted of empty names, which take forty times their
bytes."""

ANSWER_OVERHEAD, ANSWER_FACTOR = 256, 8
"""About what an answer weighs: as objects, the partitions of a Metadata answer take eight times
their bytes. The broker makes the answers, so none is much worse."""

UNKNOWN_SIZE = 1024
"""In place of the size of an answer that passed no socket, in bytes."""


class _Kept:
    """The latest requests, or the latest answers, bounded by a count and by bytes."""

    def __init__(self, max_count: int, max_bytes: int) -> None:
        self._max_count, self._max_bytes = max_count, max_bytes
        self.kept: deque[tuple[Any, int]] = deque()
        self.bytes = 0

    def add(self, kept: Any, weight: int) -> None:
        self.kept.append((kept, weight))
        self.bytes += weight
        while len(self.kept) > self._max_count or self.bytes > self._max_bytes:
            oldest, freed = self.kept.popleft()
            self.bytes -= freed
            if oldest.__class__ is list:
                oldest[0] = None

    def clear(self) -> None:
        self.kept.clear()
        self.bytes = 0


class History(Subscriber):
    """The latest requests of clients to one node, or to all nodes that it is subscribed to. With
    `peers` also the requests between nodes, in a separate list."""

    def __init__(self, max_requests: int = MAX_REQUESTS, max_bytes: int = MAX_BYTES, *, peers: bool = False) -> None:
        self.keeps_peers = peers
        self.topic_names = TopicNames()
        self._clients, self._peers = _Kept(max_requests, max_bytes), _Kept(max_requests, max_bytes)
        self._answers = _Kept(max_requests, max_bytes)
        # For connections that are or were throttled: when each frame that waits arrived, None for
        # those that came before the throttling.
        self.received = 0
        """The requests of all time, also those that are not kept any more; the last one has this
        number."""
        self.counts: RequestCounts | None = None
        """Counts the requests of clients, if a program wants that."""
        self._early: dict[Peer, deque[int | None]] = {}

    def begun(self, traced: TracedRequest) -> None:
        if traced.from_node and not self.keeps_peers:
            return
        request = traced.request
        strip = payload.OF_REQUEST.get(request.api_key)
        body, saved = (request.body, 0) if strip is None else strip(request.body)
        traced.seen = seen = SeenRequest(request, body, traced.node_id, self.topic_names)
        self.received = seen.number = self.received + 1
        if traced.forwarded_from is not None and (client := traced.forwarded_from.seen) is not None:
            seen.forwarded_from, client.forwarded = client, seen
        if self._early:
            seen.arrived_throttled = self._arrived_throttled(request.peer)
        weight = request.size - saved + OVERHEAD
        if weight > LARGE:
            weight *= WORST
        (self._peers if traced.from_node else self._clients).add(seen, weight)

    def arrived_throttled(self, peer: Peer, ahead: int, count: int, now: int) -> None:
        arrivals = self._early.setdefault(peer, deque())
        arrivals.extend([None] * (ahead - len(arrivals)))
        arrivals.extend([now] * count)

    def _arrived_throttled(self, peer: Peer) -> int | None:
        """When the next request of this connection arrived, if that was during a throttling."""
        arrivals = self._early.get(peer)
        if arrivals is None:
            return None
        arrived = arrivals.popleft()
        if not arrivals:
            del self._early[peer]
        return arrived

    def disconnected(self, peer: Peer) -> None:
        self._early.pop(peer, None)

    def fault_hit(self, traced: TracedRequest, action: str) -> None:
        if traced.seen is not None:
            traced.seen.rules += (action,)

    def ended(self, traced: TracedRequest) -> None:
        seen = traced.seen
        if seen is None:
            return
        if traced.outcome == ANSWERED:
            self._keep_answer(seen, traced)
        seen.ended(traced.outcome, traced.answer, traced.ended_ms)
        if self.counts is not None and not traced.from_node:
            self.counts.add(seen)

    def _keep_answer(self, seen: SeenRequest, traced: TracedRequest) -> None:
        key, size = traced.request.api_key, traced.response_bytes
        if traced.answer is None:  # bytes that are no answer
            seen.answer_size = size
            return
        strip = payload.OF_ANSWER.get(key)
        answer, saved = (traced.answer, 0) if strip is None else strip(traced.answer)
        seen.answer_size = size
        if key == ApiKeys.METADATA:
            self.topic_names.learn(answer)
        if answer is not None:
            seen._answer = box = [answer]
            self._answers.add(box, ((UNKNOWN_SIZE if size is None else size) - saved) * ANSWER_FACTOR + ANSWER_OVERHEAD)

    def of_peers(self) -> list[SeenRequest]:
        """The latest requests between nodes, oldest first."""
        return [seen for seen, _ in self._peers.kept]

    def goes_on_from(self, before: History) -> None:
        """Takes the numbers and the counts of another history, which it replaces."""
        self.received, self.counts = before.received, before.counts

    def after(self, number: int, most: int) -> list[SeenRequest]:
        """The requests of clients with higher numbers, at most so many of the first ones, oldest
        first."""
        requests: list[SeenRequest] = []
        for seen, _ in reversed(self._clients.kept):
            if seen.number <= number:
                break
            requests.append(seen)
        return requests[: -most - 1 : -1]

    def __iter__(self) -> Iterator[SeenRequest]:
        return (seen for seen, _ in self._clients.kept)

    def __len__(self) -> int:
        return len(self._clients.kept)

    def clear(self) -> None:
        """Removes the requests of clients."""
        self._clients.clear()

    def clear_peers(self) -> None:
        """Removes the requests between nodes."""
        self._peers.clear()

    def __repr__(self) -> str:
        return f"the latest {len(self)} requests, about {self._clients.bytes} bytes"
