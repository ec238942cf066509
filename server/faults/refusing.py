"""The parts of one request that rules fail, and the answer in which they failed."""

from __future__ import annotations

from copy import copy
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages.message import Message

from ..apis.part_lists import path_of
from ..requests.answer import DISCONNECT
from ..requests.request import Request
from ..requests.waiting import Wait
from . import whole
from .actions import Fail
from .field_kinds import BEFORE
from .parts import Scope, depth_of_answer, depth_of_scope, divide, mirrored, overlay

if TYPE_CHECKING:
    from .host import FaultHost, Handle, Refuse


class FailedPart(NamedTuple):
    """The action of a rule, the scope of its match, and the request with the parts that fail."""

    action: Fail
    scope: Scope
    body: Any


class Refusing:
    """The failed parts of one request. `meaning` is its body with everything that it is about;
    `left` is the part of it that no rule failed yet, None if nothing is left."""

    def __init__(self, node: FaultHost, request: Request[Any]) -> None:
        self._node, self._request = node, request
        self.api = request.peer.apis[request.api_key].name
        self.meaning = whole.meant(self.api, node, request)
        self.left: Any | None = self.meaning
        self.parts: list[FailedPart] = []

    def divide(self, body: Any, scope: Scope) -> tuple[Any | None, Any | None]:
        """The parts of a request in the scope, and the others."""
        return divide(self.api, body, scope, self._topic_name)

    def _topic_name(self, topic_id: Any) -> str | None:
        topic = self._node.image.topic(topic_id)
        return None if topic is None else topic.name

    def fail(self, action: Fail, scope: Scope) -> None:
        """Fails the parts in the scope that are left."""
        hit, self.left = self.divide(self.left, scope)
        self.parts.append(FailedPart(action, scope, hit))

    def answer(self, handle: Handle, refuse: Refuse) -> Wait[Any]:
        """Process what is left, and put the errors over the answer."""
        answer = None
        body = self._processed()
        if body is not None:
            answer = yield from finished(handle(self._node, with_body(self._request, body)))
        if self.left is None and self.api not in whole.ALWAYS_PROCESSED:
            answer = None  # everything fails, also what was processed
        elif answer is DISCONNECT:
            return answer
        for part in self.parts:
            answer = self._covered(answer, self._refused(part, refuse))
        return answer

    def _processed(self) -> Any | None:
        """The body without the parts that fail before they are processed."""
        early = [part.scope for part in self.parts if part.action.when == BEFORE]
        left: Any | None = self.meaning if early else self._request.body
        for scope in early:
            if left is not None:
                left = self.divide(left, scope)[1]
        return whole.processed(self.api, self._request.body, left)

    def _refused(self, part: FailedPart, refuse: Refuse) -> Any:
        request = with_body(self._request, part.body)
        refused = refuse(request, part.action.code, part.action.message)
        path = path_of(self.api, request.body)
        too_high = isinstance(refused, Message) and depth_of_answer(path, refused) < depth_of_scope(path, part.scope)
        if too_high:
            return mirrored(request.peer.apis[request.api_key].api.response, request.body, path, part.action.code)
        return refused

    def _covered(self, answer: Any, refused: Any) -> Any:
        path = path_of(self.api, self.meaning)
        if whole.is_whole(answer):
            return answer
        if whole.is_whole(refused) or not (path and isinstance(answer, Message) and isinstance(refused, Message)):
            return refused
        overlay(answer, refused, path, self._topic_name)
        return answer


def with_body(request: Request[Any], body: Any) -> Request[Any]:
    """The same request with another body."""
    made = copy(request)
    made.body = body
    return made


def finished(answer: Any) -> Wait[Any]:
    """The result of a handler, whether it waits or not."""
    if isinstance(answer, GeneratorType):
        answer = yield from answer
    return answer
