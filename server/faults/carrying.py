"""Applies the armed rules to one request on its way through dispatch.

Rules. Rules are applied in the order in which they were armed. All delays add up. The first rule
that fails a part of a request decides about that part, and parts that no rule fails are processed
as usual. The first rule that disconnects ends the search. Neither the request nor its body is
changed. A request of another node meets only rules with `peers`.
"""

from __future__ import annotations

from copy import copy
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError

from ..apis.served import CONTROLLER_TABLE, TABLE
from ..requests.answer import DISCONNECT
from ..requests.origin import NODE_APIS, is_from_node
from ..requests.request import Request
from ..requests.waiting import Until, Wait
from . import whole
from .armed import Armed
from .parts import Scope, depth_of_answer, depth_of_scope, divide, kinds_of, mirrored, overlay, path_of
from .rule import AFTER, BEFORE, DELAY, EVERY_API, FAIL, Rule

if TYPE_CHECKING:
    from .host import FaultHost
    from .plane import Faults, Handle, Refuse


class Carrying:
    """One request under the rules.

    `meaning` is its body with everything that it is about; `left` is the part of it that no rule
    failed yet, None if nothing is left; `refusals` are the rules that fail something, each with
    what it fails; `drop` is when the connection is closed, if it is.
    """

    def __init__(self, node: FaultHost, faults: Faults, request: Request[Any], handle: Handle, refuse: Refuse) -> None:
        self._node, self._faults, self._request, self._handle, self._refuse = node, faults, request, handle, refuse
        self.api = request.peer.apis[request.api_key].name
        self.meaning = whole.meant(self.api, node, request)
        self.left: Any | None = self.meaning
        self.delays = {BEFORE: 0, AFTER: 0}
        self.refusals: list[tuple[Rule, Any]] = []
        self.drop: str | None = None

    def begin(self) -> Any:
        """The answer, or a generator on its way to it."""
        for armed in list(self._faults.rules):
            if self.drop is None and self._concerns(armed.rule):
                self._apply(armed)
        if self.refusals or self.drop or any(self.delays.values()):
            return self._steps()
        return self._handle(self._request)

    def _concerns(self, rule: Rule) -> bool:
        return (
            rule.api in (self.api, EVERY_API)
            and rule.client_id in (None, self._request.client_id)
            and rule.broker in (None, self._node.id)
            and (rule.peers or not is_from_node(self._request))
        )

    def _apply(self, armed: Armed) -> None:
        rule = armed.rule
        among = self.left if rule.action == FAIL else self.meaning
        hit, left = (None, None) if among is None else self._divide(among, rule)
        if hit is None or not armed.applies():
            return
        if self._request.trace is not None:
            self._request.trace.fault_hit(rule)
        if rule.action == FAIL:
            self.refusals.append((rule, hit))
            self.left = left
        elif rule.action == DELAY:
            self.delays[rule.when] += round((rule.seconds or 0) * 1000)
        else:
            self.drop = rule.when
        if armed.spent:
            self._faults.disarm(armed)

    def _divide(self, body: Any, rule: Rule) -> tuple[Any | None, Any | None]:
        return divide(self.api, body, _parts_of(rule), self._topic_name)

    def _topic_name(self, topic_id: Any) -> str | None:
        topic = self._node.image.topic(topic_id)
        return None if topic is None else topic.name

    def _steps(self) -> Wait[Any]:
        yield from self._pass(self.delays[BEFORE])
        if self.drop == BEFORE:
            return DISCONNECT
        answer = yield from self._answer()
        yield from self._pass(self.delays[AFTER])
        return DISCONNECT if self.drop == AFTER else answer

    def _pass(self, milliseconds: int) -> Wait[None]:
        if milliseconds:
            yield Until(self._node.now + milliseconds)

    def _answer(self) -> Wait[Any]:
        if not self.refusals:
            return (yield from _finished(self._handle(self._request)))
        answer = None
        body = self._processed()
        if body is not None:
            answer = yield from _finished(self._handle(_with_body(self._request, body)))
        if self.left is None and self.api not in whole.ALWAYS_PROCESSED:
            answer = None  # everything fails, also what was processed
        elif answer is DISCONNECT:
            return answer
        for rule, hit in self.refusals:
            answer = self._covered(answer, self._refused(rule, _with_body(self._request, hit)))
        return answer

    def _processed(self) -> Any | None:
        """The body without the parts that fail before they are processed."""
        early = [rule for rule, _ in self.refusals if rule.when == BEFORE]
        left: Any | None = self.meaning if early else self._request.body
        for rule in early:
            if left is not None:
                left = self._divide(left, rule)[1]
        return whole.processed(self.api, self._request.body, left)

    def _refused(self, rule: Rule, request: Request[Any]) -> Any:
        refused = self._refuse(request, rule.code, rule.message)
        path = path_of(self.api, request.body)
        too_high = isinstance(refused, Message) and depth_of_answer(path, refused) < depth_of_scope(
            path, _parts_of(rule)
        )
        if too_high:
            return mirrored(request.peer.apis[request.api_key].api.response, request.body, path, rule.code)
        return refused

    def _covered(self, answer: Any, refused: Any) -> Any:
        path = path_of(self.api, self.meaning)
        if whole.is_whole(answer):
            return answer
        if whole.is_whole(refused) or not (path and isinstance(answer, Message) and isinstance(refused, Message)):
            return refused
        overlay(answer, refused, path, self._topic_name)
        return answer


def _parts_of(rule: Rule) -> Scope:
    return {name: value for name, value in rule.scope().items() if name not in ("client_id", "broker")}


def _with_body(request: Request[Any], body: Any) -> Request[Any]:
    made = copy(request)
    made.body = body
    return made


def _finished(answer: Any) -> Wait[Any]:
    if isinstance(answer, GeneratorType):
        answer = yield from answer
    return answer


def check_reach(rule: Rule) -> None:
    """UsageError for a rule that no request can ever match."""
    if rule.api == EVERY_API:
        return
    served = next((served for served in (*TABLE, *CONTROLLER_TABLE) if served.name == rule.api), None)
    if served is None:
        raise UsageError(f"{rule.api} is not served here, so that no rule can apply to it")
    if served.api.key in NODE_APIS and not rule.peers:
        raise UsageError(f"only nodes send {rule.api}, and a rule applies to clients: give peers=True")
    for kind in _parts_of(rule):
        if kind not in kinds_of(rule.api, served.api.request):
            raise UsageError(f"requests of {rule.api} name no {kind.replace('_', ' ')}")
