"""One request of a client under quotas: what it costs, and how its answer is throttled (KIP-219).

Rules. The answer is sent at once with the throttle time in it, and then the connection begins no
request for that time. If several quotas throttle, the longest time counts.

    Produce          the size of the request, when it is answered; with acks=0 it does not count as
                     time of a request, but the connection is muted
    Fetch, ShareFetch
                     the size of the response; if anything throttles it, the response is empty, its
                     size is not counted, and the fetch session stays as it is
    CreateTopics, DeleteTopics, CreatePartitions
                     partitions, on the active controller
    every request    the time that it takes on the thread of the node

Requests of other nodes are exempt, except those of clients that they forward. The answer to a
forwarded request has the controller's throttle time; the broker mutes the connection for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import copy
from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message

from ..requests.answer import Altered, Answer
from ..requests.request import Request
from ..requests.waiting import Wait
from .controller_mutation_quota import ApplyQuota, ControllerMutationQuota, without_quota
from .quota_managers import NANOS_TO_PERCENT, QuotaManagers

MAX_INT = 2**31 - 1

EXEMPT = frozenset({ApiKeys.WRITE_TXN_MARKERS})
"""APIs of the cluster itself whose time does not count, although they do not say which node sends
them."""


class RequestThrottle:
    """The throttling of one request; `request.throttle` while the request is under way."""

    def __init__(self, quotas: QuotaManagers, request: Request[Any]) -> None:
        self._quotas, self._request = quotas, request
        self._user = request.peer.principal.partition(":")[2]
        self._began = self._spent_ns = 0
        self._is_running = self._is_recorded = False
        self._mutation: ControllerMutationQuota | None = None
        self._throttle_time_ms = 0

    # The time of the request.

    def run(self, step: Callable[..., Any], *args: Any) -> Any:
        """Does one step of the request, and count its time."""
        self._began, self._is_running = self._quotas.nanos(), True
        try:
            return step(*args)
        finally:
            self._spent_ns, self._is_running = self._spent(), False

    def _spent(self) -> int:
        return self._spent_ns + (self._quotas.nanos() - self._began if self._is_running else 0)

    def steps(self, steps: Generator[Any, Any, Answer], now: Callable[[], int]) -> Wait[Answer]:
        """The answer of a request that waits, throttled; each of its steps is counted."""
        moved = None
        try:
            while True:
                moved = yield self.run(steps.send, moved)
        except StopIteration as end:
            return self.throttled(end.value, now())
        finally:
            steps.close()

    # What handlers use.

    def mutation_quota(self, strict_since: int, now: int) -> ApplyQuota:
        """The quota of controller mutations; it is strict from the version `strict_since` on.
        Another call gives back what the quota of the last one has taken."""
        if self._mutation is not None:
            self._mutation.give_back()
        request, manager = self._request, self._quotas.controller_mutation
        strict = request.version >= strict_since
        self._mutation = manager.quota_for(self._user, request.client_id, strict=strict, now=now)
        return without_quota if self._mutation is None else self._mutation.record

    def max_fetch_bytes(self) -> int:
        """The most bytes that a fetch may return without a certain throttle time."""
        most = self._quotas.fetch.max_value_in_quota_window(self._user, self._request.client_id)
        return int(min(most, MAX_INT))

    def throttles_fetch(self, size_bytes: int, now: int) -> bool:
        """Records the size of a response to Fetch. Returns whether it is throttled: then its size
        is not recorded, and it has to be empty."""
        client_id, fetch = self._request.client_id, self._quotas.fetch
        self._record_time(now)
        self._note(fetch.record(self._user, client_id, size_bytes, now))
        if not self._throttle_time_ms:
            return False
        fetch.unrecord(self._user, client_id, size_bytes, now)
        return True

    # The answer.

    def throttled(self, answer: Answer, now: int) -> Answer:
        """The answer as it is sent: with the throttle time, and a mute, if a quota is exceeded."""
        request = self._request
        if request.api_key == ApiKeys.PRODUCE:
            self._note(self._quotas.produce.record(self._user, request.client_id, request.size, now))
        if not self._has_no_answer() and request.api_key not in EXEMPT:
            self._record_time(now)
        if self._mutation is not None:
            self._note(self._mutation.throttle_time_ms(now))
        message = answer.message if isinstance(answer, Altered) else answer
        if request.peer.apis[request.api_key].row.forwarded:
            self._note(getattr(message, "throttle_time_ms", 0))
        if not self._throttle_time_ms or not (message is None or isinstance(message, Message)):
            return answer
        made: Any = copy(message)  # an answer may be shared
        if hasattr(made, "throttle_time_ms"):
            made.throttle_time_ms = max(made.throttle_time_ms, self._throttle_time_ms)
        if not isinstance(answer, Altered):
            return Altered(made, mute_ms=self._throttle_time_ms)
        return Altered(made, answer.framing, max(answer.mute_ms, self._throttle_time_ms))

    def _has_no_answer(self) -> bool:
        return self._request.api_key == ApiKeys.PRODUCE and self._request.body.acks == 0

    def _record_time(self, now: int) -> None:
        """Counts the time of the request, once."""
        if not self._is_recorded:
            self._is_recorded = True
            percent = self._spent() * NANOS_TO_PERCENT
            self._note(self._quotas.request.record(self._user, self._request.client_id, percent, now))

    def _note(self, throttle_time_ms: int) -> None:
        self._throttle_time_ms = max(self._throttle_time_ms, throttle_time_ms)


def mutation_quota(request: Request[Any], strict_since: int, now: int) -> ApplyQuota:
    """The quota of controller mutations for a request; it is strict from the version `strict_since`
    on."""
    throttle: RequestThrottle | None = request.throttle
    return without_quota if throttle is None else throttle.mutation_quota(strict_since, now)
