"""Sends the requests of a persister to the share coordinators, until each has its result (KIP-932;
Kafka: `PersisterStateManager`).

Rules. There is one sender for each kind of request, so a slow write delays no read. A request to a
broker carries the share partitions of one group that came together meanwhile, each once, and at
most MOST_AT_ONCE of them, so that its response is a short step. After an error that another
coordinator or a later moment may cure, a share partition is sent again, to the coordinator of that
time, after a pause that doubles. After MAX_ATTEMPTS it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..coordinator.coordinator_lookup import SHARE, coordinator_of
from ..coordinator.inter_broker_sender import BrokerRequest, InterBrokerSender
from ..raft.request_manager import RequestFailure
from ..requests.request import Refusal
from ..requests.waiting import SLICE
from .persister import SharePartitionKey
from .persister_rpcs import PersisterRpc

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost

MOST_AT_ONCE = 4 * SLICE
MAX_ATTEMPTS = 5
REQUEST_BACKOFF_MS, REQUEST_BACKOFF_MAX_MS = 1000, 30_000
BACKOFF_JITTER = 0.2

RETRIABLE = frozenset(
    {
        error_codes.COORDINATOR_NOT_AVAILABLE,
        error_codes.COORDINATOR_LOAD_IN_PROGRESS,
        error_codes.NOT_COORDINATOR,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""The errors of a share partition after which it is sent again."""

FAILURES = {
    RequestFailure.LOST: error_codes.NETWORK_EXCEPTION,
    RequestFailure.UNSUPPORTED_VERSION: error_codes.UNSUPPORTED_VERSION,
    RequestFailure.NOT_AUTHENTICATED: error_codes.UNKNOWN_SERVER_ERROR,
}
"""Why there is no response -> the error code of the share partitions."""

FIND_COORDINATOR = "find coordinator"


class PendingState(NamedTuple):
    """One share partition whose request is not answered; `data` is its part of the request."""

    key: SharePartitionKey
    data: Any
    done: Callable[[Any], None]
    """Called with its part of the response."""
    failed: Callable[[int, str], None]
    attempts: int = 0
    lookups: int = 0
    """The attempts to find the coordinator in a row."""


class PersisterStateManager(InterBrokerSender):
    """The requests of one kind, by coordinator and group."""

    def __init__(self, node: CoordinatorHost, rpc: PersisterRpc) -> None:
        super().__init__(node)
        self.rpc = rpc
        self._by_broker: dict[int, dict[str, list[PendingState]]] = {}

    def enqueue(self, pending: PendingState) -> None:
        """Sends the share partition to its coordinator; one of its functions is called. It is
        called before this returns only if the request can never succeed."""
        try:
            broker = coordinator_of(self.node.controller, SHARE, pending.key.as_coordinator_key, self._listener).id
        except Refusal as refusal:
            again = pending._replace(lookups=pending.lookups + 1)
            self._fail_or_retry(again, again.lookups, refusal.code, FIND_COORDINATOR, refusal.message)
            return
        groups = self._by_broker.setdefault(broker, {})
        groups.setdefault(pending.key.group_id, []).append(pending._replace(lookups=0))
        if broker == self.node.id:
            self.send_to_self_soon()

    def destinations(self) -> Iterable[int]:
        return self._by_broker.keys()

    def next_request(self, broker: int) -> BrokerRequest:
        groups = self._by_broker[broker]
        group_id = next(iter(groups))
        waiting = groups.pop(group_id)
        sent: dict[SharePartitionKey, PendingState] = {}
        later = waiting[MOST_AT_ONCE:]
        for pending in waiting[:MOST_AT_ONCE]:
            if pending.key in sent:  # the response has one result for each share partition
                later.append(pending)
            else:
                sent[pending.key] = pending
        if later:
            groups[group_id] = later
        if not groups:
            del self._by_broker[broker]
        topics: dict[Uuid, list[Any]] = {}
        for key, pending in sent.items():
            topics.setdefault(key.topic_id, []).append(pending.data)
        rpc = self.rpc
        body = rpc.body(group_id, [rpc.topic(topic_id=id, partitions=data) for id, data in topics.items()])
        return BrokerRequest(body, rpc.version, rpc.lowest, sent)

    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        sent = cast("dict[SharePartitionKey, PendingState]", items)
        if isinstance(response, RequestFailure):
            code = FAILURES[response]
            for pending in sent.values():
                self._on_error(pending, code, code == error_codes.NETWORK_EXCEPTION, None)
            return
        results = {
            (topic.topic_id, result.partition): result
            for topic in cast("Any", response).results
            for result in topic.partitions
        }
        for key, pending in sent.items():
            self._on_result(pending, results.get((key.topic_id, key.partition)))

    def _on_result(self, pending: PendingState, result: Any) -> None:
        if result is None:
            message = f"Failed to {self.rpc.name} for share partition: {pending.key}"
            self._on_error(pending, error_codes.UNKNOWN_SERVER_ERROR, False, message)
        elif result.error_code:
            is_retriable = result.error_code in RETRIABLE
            self._on_error(pending, result.error_code, is_retriable, result.error_message)
        else:
            pending.done(result)

    def _on_error(self, pending: PendingState, code: int, is_retriable: bool, message: str | None) -> None:
        again, name = pending._replace(attempts=pending.attempts + 1), f"{self.rpc.name} RPC"
        if is_retriable:
            self._fail_or_retry(again, again.attempts, code, name, None)
        else:
            pending.failed(code, f"Error in {name}. {message or error_codes.meaning(code)}")

    def _fail_or_retry(self, again: PendingState, attempts: int, code: int, name: str, message: str | None) -> None:
        if code not in (*RETRIABLE, error_codes.NETWORK_EXCEPTION):
            again.failed(code, f"Error in {name}. {message or error_codes.meaning(code)}")
        elif attempts >= MAX_ATTEMPTS:
            verb = name if name == FIND_COORDINATOR else f"complete {name}"
            again.failed(code, f"Error in {name}. Exhausted max retries to {verb} without success.")
        else:
            due = self.node.now + backoff_ms(attempts, self.node.random.random())
            self.node.waiting.timers.at(due, lambda now: self.enqueue(again))

    def __repr__(self) -> str:
        return f"{self.rpc!r}: {super().__repr__()}"


def backoff_ms(attempts: int, chance: float) -> int:
    """Returns the pause after this number of attempts; `chance` from 0 to 1 makes it vary by a
    fifth."""
    pause = min(REQUEST_BACKOFF_MS << attempts, REQUEST_BACKOFF_MAX_MS)
    return min(int(pause * (1 - BACKOFF_JITTER + 2 * BACKOFF_JITTER * chance)), REQUEST_BACKOFF_MAX_MS)
