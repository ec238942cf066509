"""Applies the armed rules to one request on its way through dispatch.

Rules. Rules are applied in the order in which they were armed. All delays, pauses and changes of
the answer add up. The first rule that fails a part of a request decides about that part, and parts
that no rule fails are processed as usual. The first rule that ends the request without an answer is
the last rule that is applied. The first rule that gives a response decides the response. Neither
the request nor its body is changed. Only rules with `peers` apply to the requests of other nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.wire.errors import UsageError

from ..apis.member_names import members_named
from ..requests.answer import DISCONNECT
from ..requests.origin import is_from_node
from ..requests.principal import mechanism_of, principal_of
from ..requests.request import Request
from ..requests.waiting import Until, Wait
from ..tracing.history import SeenRequest
from .action_form import exact_bytes
from .actions import TYPES, Call, Delay, Disconnect, DropAnswer, Fail, Ignore, Pause, Respond
from .alterations import ALTERATIONS, altered, response_of
from .armed import Armed
from .field_kinds import AFTER, BEFORE, EVERY_API
from .reach import check_reach
from .refusing import Refusing, finished
from .stale import StaleNode

if TYPE_CHECKING:
    from .host import FaultHost, Handle, Refuse

BYTES = bytes | bytearray | memoryview

NEVER = Until(None)
"""A wait without an end: the request is dropped with its connection."""


class FaultedRequest:
    """Applies the rules to one request, in their order.

    `waits` are the delays (ms) and the pauses before the request is processed, and after it. `end`
    is the action that ends the request without an answer, or None. `process` gives the answer in
    place of the handler, if it is set. `alterations` change the answer.
    """

    def __init__(
        self, node: FaultHost, rules: Sequence[Armed], request: Request[Any], handle: Handle, refuse: Refuse
    ) -> None:
        self._node, self._rules, self._request, self._handle, self._refuse = node, rules, request, handle, refuse
        self.refusing = Refusing(node, request)
        self.waits: dict[str, list[int | Armed]] = {BEFORE: [], AFTER: []}
        self.end: Disconnect | Ignore | DropAnswer | None = None
        self.process: Callable[[], Any] | None = None
        self.alterations: list[Any] = []

    def begin(self) -> Any:
        """Returns the answer, or a generator that waits and then returns it."""
        for armed in self._rules:
            if self.end is None and self._concerns(armed):
                self._apply_if_matched(armed)
        if self.refusing.parts or self.end or self.process or self.alterations or any(self.waits.values()):
            return self._steps()
        return self._handle(self._node, self._request)

    def _concerns(self, armed: Armed) -> bool:
        match, request = armed.rule.match, self._request
        return (
            match.api in (self.refusing.api, EVERY_API)
            and match.client_id in (None, request.client_id)
            and (match.member_id is None or match.member_id in members_named(request.body))
            and match.version in (None, request.version)
            and match.broker in (None, self._node.id)
            and match.listener in (None, request.peer.listener.name)
            and (match.peers or not is_from_node(request))
            and not armed.spent
            and (match.principal is None or match.principal == principal_of(request))
            and (match.mechanism is None or match.mechanism == mechanism_of(request))
            and (match.predicate is None or self._is_accepted(match.predicate, armed))
        )

    def _is_accepted(self, predicate: Callable[[Any], bool], armed: Armed) -> bool:
        with armed.keeping_errors():
            return bool(predicate(self._seen()))

    def _seen(self) -> SeenRequest:
        """The request as functions of a rule see it."""
        return SeenRequest(self._request, self._request.body, self._node.id)

    def _apply_if_matched(self, armed: Armed) -> None:
        """Applies the rule if it matches a part of the request, and if `Armed.applies` allows it
        now."""
        action, refusing, scope = armed.action, self.refusing, armed.rule.match.scope()
        parts = refusing.left if isinstance(action, Fail) else refusing.meaning
        if parts is None or refusing.divide(parts, scope)[0] is None or not armed.applies(self._node.now):
            return
        if action is None:  # this step of the rule leaves the request to the handler
            return
        if self._request.trace is not None:
            self._request.trace.fault_hit(TYPES[type(action)])
        self._apply(action, armed)

    def _apply(self, action: Any, armed: Armed) -> None:
        kind = type(action)
        if kind is Fail:
            self.refusing.fail(action, armed.rule.match.scope())
        elif kind in ALTERATIONS:
            self.alterations.append(action)
        elif kind is Delay:
            self.waits[action.when].append(round(action.seconds * 1000))
        elif kind is Pause:
            self.waits[action.when].append(armed)
        elif kind in (Disconnect, Ignore, DropAnswer):
            self.end = action
        elif kind is Call:
            self._call(action, armed)
        elif self.process is None:
            self.process = self._scripted(action) if kind is Respond else self._from_stale_metadata(armed)

    def _call(self, action: Call, armed: Armed) -> None:
        """Calls the function of the rule. Its result is None, another action or a response."""
        with armed.keeping_errors():
            result = action.function(self._seen())
            if type(result) in TYPES and not isinstance(result, Call):
                made = replace(armed.rule, match=replace(armed.rule.match, api=self.refusing.api), action=result)
                check_reach(made)
                self._apply(made.action, armed)
            elif result is not None:
                response = self._response(result, armed)
                self.process = self.process or (lambda: response)

    def _response(self, result: Any, armed: Armed) -> Any:
        """The response of a function, which returned it or its fields. UsageError for any other
        result, and for a response that the version of the request cannot carry."""
        if isinstance(result, Mapping | BYTES):
            return response_of(Respond(exact_bytes(result)), self._request)
        if not isinstance(result, self._request.peer.apis[self._request.api_key].api.response):
            raise UsageError(
                f"{armed.rule!r}: the function returned {result!r}, not None, an action, a response or bytes"
            )
        result.encode(self._request.version)
        return result

    def _scripted(self, action: Respond) -> Callable[[], Any]:
        return lambda: response_of(action, self._request)

    def _from_stale_metadata(self, armed: Armed) -> Callable[[], Any]:
        node = self._node if armed.image is None else StaleNode(self._node, armed.image)
        return lambda: self._handle(node, self._request)

    def _steps(self) -> Wait[Any]:
        yield from self._pass(BEFORE)
        if self.end == Disconnect(BEFORE):
            return DISCONNECT
        if self.end == Ignore():
            yield NEVER
        answer = yield from self._answer()
        yield from self._pass(AFTER)
        if self.end == Disconnect(AFTER):
            return DISCONNECT
        if self.end == DropAnswer():
            yield NEVER
        return altered(answer, self._request, self.alterations) if self.alterations else answer

    def _pass(self, when: str) -> Wait[None]:
        until = self._node.now
        for wait in self.waits[when]:
            if isinstance(wait, Armed):
                while not wait.is_released:
                    yield Until(None, [wait.paused])
                until = self._node.now
            elif wait:
                until += wait
                yield Until(until)

    def _answer(self) -> Wait[Any]:
        if self.process is not None:
            answer = yield from finished(self.process())
            # With acks=0 the client would read this answer as the answer to its next request.
            return None if self._request.api_key == ApiKeys.PRODUCE and self._request.body.acks == 0 else answer
        if self.refusing.parts:
            return (yield from self.refusing.answer(self._handle, self._refuse))
        return (yield from finished(self._handle(self._node, self._request)))
