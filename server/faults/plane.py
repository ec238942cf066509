"""The rules in force at one node, and what they do to a request on its way through dispatch.

Rules. Rules are asked in the order in which they were armed. All delays that apply add up; the first that fails a part of a request owns that
part, and what no rule fails is processed as if nothing were the matter; the first that disconnects ends the search. A spent rule is taken
away, so that the next in the queue has its turn and a node without rules pays nothing. This file changes no request, and no state but counts.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError

from ..dispatch import DISCONNECT
from ..handlers import SERVED, TABLE
from ..request import Request
from ..waiting import Until, Wait
from . import whole
from .armed import Armed
from .parts import Scope, divide, kinds_of, mirrored, overlay, path_of
from .rule import AFTER, BEFORE, DELAY, EVERY_API, FAIL, Rule, checked

if TYPE_CHECKING:
    from ..node import Node

Handle = Callable[[Request[Any]], Any]
"""Processes a request: an answer, or a generator that will return one."""

Refuse = Callable[[Request[Any], int, str | None], Any]
"""The answer in which everything that a request asks for failed."""


class Plan:
    """What is to happen to one request, whose meaning is `body`. `left` is what no rule failed yet, None when nothing is."""

    __slots__ = ("api", "body", "delays", "drop", "left", "refusals")

    def __init__(self, api: str, body: Any) -> None:
        self.api, self.body = api, body
        self.left: Any | None = body
        self.delays = {BEFORE: 0, AFTER: 0}
        self.refusals: list[tuple[Rule, Any]] = []
        self.drop: str | None = None

    def __bool__(self) -> bool:
        return bool(self.refusals or self.drop or any(self.delays.values()))


class Faults:
    """The rules of one node. `rules` holds those in force, oldest first."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.rules: list[Armed] = []

    def arm(self, rule: Rule) -> Armed:
        """Put a rule in force; UsageError when it could never apply."""
        rule = checked(rule)
        _check_reach(rule)
        armed = Armed(rule, self._node.random.getrandbits(32))
        self.rules.append(armed)
        return armed

    def disarm(self, armed: Armed) -> None:
        """Take a rule out of force; one that is spent or was taken out is no error."""
        if armed in self.rules:
            self.rules.remove(armed)

    def clear(self) -> None:
        """Take all rules out of force."""
        self.rules.clear()

    def around(self, request: Request[Any], handle: Handle, refuse: Refuse) -> Any:
        """The answer to a request as the rules have it."""
        plan = self._plan(request)
        return self._carry_out(plan, request, handle, refuse) if plan else handle(request)

    def _plan(self, request: Request[Any]) -> Plan:
        api = SERVED[request.api_key].name
        plan = Plan(api, whole.meant(api, self._node, request))
        for armed in list(self.rules):
            if plan.drop is None and self._concerns(armed.rule, api, request):
                self._apply(armed, plan)
        return plan

    def _concerns(self, rule: Rule, api: str, request: Request[Any]) -> bool:
        return (
            rule.api in (api, EVERY_API)
            and rule.client_id in (None, request.client_id)
            and rule.broker in (None, self._node.id)
        )

    def _apply(self, armed: Armed, plan: Plan) -> None:
        rule = armed.rule
        among = plan.left if rule.action == FAIL else plan.body
        hit, left = (None, None) if among is None else self._divide(plan, among, rule)
        if hit is None or not armed.applies():
            return
        if rule.action == FAIL:
            plan.refusals.append((rule, hit))
            plan.left = left
        elif rule.action == DELAY:
            plan.delays[rule.when] += round((rule.seconds or 0) * 1000)
        else:
            plan.drop = rule.when
        if armed.spent:
            self.disarm(armed)

    def _divide(self, plan: Plan, body: Any, rule: Rule) -> tuple[Any | None, Any | None]:
        return divide(plan.api, body, _parts_of(rule), self._topic_name)

    def _topic_name(self, topic_id: Any) -> str | None:
        topic = self._node.controller.image.topic(topic_id)
        return None if topic is None else topic.name

    def _carry_out(self, plan: Plan, request: Request[Any], handle: Handle, refuse: Refuse) -> Wait[Any]:
        yield from self._pass(plan.delays[BEFORE])
        if plan.drop == BEFORE:
            return DISCONNECT
        answer = yield from self._answered(plan, request, handle, refuse)
        yield from self._pass(plan.delays[AFTER])
        return DISCONNECT if plan.drop == AFTER else answer

    def _pass(self, milliseconds: int) -> Wait[None]:
        if milliseconds:
            yield Until(self._node.now + milliseconds)

    def _answered(self, plan: Plan, request: Request[Any], handle: Handle, refuse: Refuse) -> Wait[Any]:
        if not plan.refusals:
            return (yield from _finished(handle(request)))
        answer = None
        body = self._processed(plan, request.body)
        if body is not None:
            answer = yield from _finished(handle(_with_body(request, body)))
        if plan.left is None and plan.api not in whole.ALWAYS_PROCESSED:
            answer = None  # whatever was processed is to fail all the same
        elif not isinstance(answer, Message):
            return answer
        for rule, hit in plan.refusals:
            answer = self._covered(plan, answer, self._refused(plan, rule, _with_body(request, hit), refuse))
        return answer

    def _processed(self, plan: Plan, body: Any) -> Any | None:
        """The request without the parts that fail before they are processed."""
        left: Any | None = plan.body if any(rule.when == BEFORE for rule, _ in plan.refusals) else body
        for rule, _ in plan.refusals:
            if rule.when == BEFORE and left is not None:
                left = self._divide(plan, left, rule)[1]
        return whole.processed(plan.api, body, left)

    def _refused(self, plan: Plan, rule: Rule, request: Request[Any], refuse: Refuse) -> Any:
        path = path_of(plan.api, request.body)
        if len(path) > 2 and not _parts_of(rule).keys() <= {path[0].kind}:
            return mirrored(SERVED[request.api_key].api.response, request.body, path, rule.code)
        return refuse(request, rule.code, rule.message)

    def _covered(self, plan: Plan, answer: Any, refused: Any) -> Any:
        path = path_of(plan.api, plan.body)
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


def _check_reach(rule: Rule) -> None:
    if rule.api == EVERY_API:
        return
    served = next((served for served in TABLE if served.name == rule.api), None)
    if served is None:
        raise UsageError(f"{rule.api} is not served here, so that no rule can apply to it")
    for kind in _parts_of(rule):
        if kind not in kinds_of(rule.api, served.api.request):
            raise UsageError(f"a {rule.api} request names no {kind.replace('_', ' ')}")
