"""One request as the request history keeps it: decoded, with its outcome and its answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ..requests.answer_errors import codes_in
from ..requests.principal import principal_of
from ..requests.request import Request
from .trace import ABANDONED, WAITING

if TYPE_CHECKING:
    from kafkadouble.messages.uuid import Uuid

    from .seen_parts import SeenPart

log = ClientLog("kafkadouble.requests")

NO_ANSWER: list[Any] = [None]


class SeenRequest:
    """One request, and its outcome.

    - `api`, `version`, `client_id`, `correlation_id`: the header of the request.
    - `principal`: that of the client, such as `User:alice`; of a SaslAuthenticate the one that the
      client says it is. `User:ANONYMOUS` before a login.
    - `body`: the decoded request, without record batches and secrets. `size`: its size in bytes.
    - `answer`: the decoded answer, without record batches. None if there is none (yet), if it may
      hold secrets, if a rule gave bytes that cannot be read, or if it is not kept any more: the
      latest answers are, within 8 MiB. `answer_size`: its size in bytes, also if it is not kept;
      None if it passed no socket.
    - `time`: when the request arrived, in ms since the epoch. `took`: how long the answer took, in
      ms; None while the request waits, or if it was abandoned.
    - `outcome`: `waiting`, `answered`, `disconnected` by the broker, `abandoned` if the client left
      before the answer, or `unanswered` if the protocol has no answer.
    - `parts`: the topics, partitions, groups and transactional ids that the request or its answer
      names, each with its error; see `SeenPart`.
    - `errors`: the names of the errors in the answer, each once. `error`: the first of them, or
      None.
    - `rules`: the actions of the fault rules that were applied to it, such as `fail`.
    - `arrived_throttled`: None, or the time at which the request arrived on a connection that was
      throttled (KIP-219), in ms since the epoch; `time` is then when the throttling ended.
    - `number`: counts the requests that the history received, from 1.
    - `broker`: the id of the node that received it. `peer`: the other end of the connection.
    - `forwarded`: the request that the active controller received for this one, if a broker
      forwarded it and requests between nodes are kept. There, `forwarded_from` is this one.
    """

    __slots__ = (
        "_answer",
        "_topic_name",
        "answer_size",
        "api",
        "arrived_throttled",
        "body",
        "broker",
        "client_id",
        "correlation_id",
        "errors",
        "forwarded",
        "forwarded_from",
        "number",
        "outcome",
        "peer",
        "principal",
        "rules",
        "size",
        "time",
        "took",
        "version",
    )

    def __init__(
        self,
        request: Request[Any],
        body: Any,
        broker: int = -1,
        topic_name: Callable[[Uuid], str | None] | None = None,
    ) -> None:
        self.api, self.broker = request.peer.apis[request.api_key].name, broker
        self.version, self.client_id, self.correlation_id = request.version, request.client_id, request.correlation_id
        self.peer, self.time, self.size, self.body = repr(request.peer), request.received, request.size, body
        peer = request.peer
        self.principal = peer.principal if peer.authenticator is None else principal_of(request)
        self.took: int | None = None
        self.errors: tuple[str, ...] = ()
        self.rules: tuple[str, ...] = ()
        self.arrived_throttled: int | None = None
        self.outcome, self.number = WAITING, 0
        # A list of one, which the history empties when it needs the memory.
        self._answer = NO_ANSWER
        self.answer_size: int | None = None
        self._topic_name = topic_name
        self.forwarded: SeenRequest | None = None
        self.forwarded_from: SeenRequest | None = None

    @property
    def answer(self) -> Any:
        """The decoded answer, or None."""
        return self._answer[0]

    @property
    def error(self) -> str | None:
        """The name of the first error in the answer, or None."""
        return self.errors[0] if self.errors else None

    @property
    def parts(self) -> tuple[SeenPart, ...]:
        """The parts of the request, each with its error."""
        from .seen_parts import parts_of

        return parts_of(self.api, self.body, self.answer, self._topic_name or _no_name)

    def name_of(self, topic: Any) -> str | None:
        """The name of a topic in a Produce request or in the answer to a Fetch: newer versions have
        its id. None if the name is not known."""
        known: str = getattr(topic, "name", "") or getattr(topic, "topic", "")
        return known or (self._topic_name or _no_name)(topic.topic_id)

    def ended(self, outcome: str, answer: Any, now: int) -> None:
        """Records the outcome; the time of an abandoned request means nothing."""
        self.outcome = outcome
        if outcome == ABANDONED:
            return
        self.took = now - self.time
        if answer is not None:
            self.errors = errors_in(answer)
        log.debug("%s: %r", self.peer, self)

    def to_json(self) -> dict[str, Any]:
        """The request as an object of JSON; see `Requests.to_json`."""
        from .seen_json import json_of

        return json_of(self)

    def __repr__(self) -> str:
        from .seen_line import line_of

        return line_of(self)


def errors_in(answer: Any) -> tuple[str, ...]:
    """The names of all errors in a response, each once, outermost first."""
    return tuple(map(error_codes.name, codes_in(answer)))


def _no_name(topic_id: Uuid) -> None:
    return None
