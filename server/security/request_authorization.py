"""Authorizes requests on a controller: each API needs a right on the cluster, or a right on each of
its parts (KIP-11, KIP-590).

A broker authorizes its own requests, and leaves forwarded ones to the controller. So this module
checks the client's principal, from the Envelope. Parts of a request without the right are refused;
the other parts are handled. Brokers of kafkadouble do not authorize anything yet.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from copy import copy
from functools import cache
from types import GeneratorType
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages import error_codes

from ..apis.row import ApiRow
from ..configs.alter import Resource
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from .acls import CLUSTER, CLUSTER_NAME, OPERATIONS, RESOURCE_TYPES
from .authorizer import DELETE, Authorizer

if TYPE_CHECKING:
    from ..requests.answer import Answer
    from .host import AuthorizerHost

TOPIC, GROUP, USER = map(RESOURCE_TYPES.index, ("TOPIC", "GROUP", "USER"))

Right = tuple[int, int, str]
"""An operation, a resource type and a resource name."""


class Parts(NamedTuple):
    """An API with parts that can be refused: the field of the request that lists them, the right
    for each part, and the field of the response that lists their results."""

    requested: str
    right: Callable[[Any], Right]
    answered: str


def _of_resource(operation: int) -> Callable[[Any], Right]:
    def right(resource: Any) -> Right:
        if resource.resource_type == Resource.TOPIC:
            return operation, TOPIC, resource.resource_name
        if resource.resource_type == Resource.GROUP:
            return operation, GROUP, resource.resource_name
        return operation, CLUSTER, CLUSTER_NAME

    return right


def _of_topic(operation: int) -> Callable[[Any], Right]:
    return lambda topic: (operation, TOPIC, topic.name)


RIGHT_OF = {"topic": _of_topic, "resource": _of_resource}
"""The right for a part, by the resource in the API's row."""


@cache
def _cluster_operation(row: ApiRow) -> int | None:
    """The operation on the cluster that the whole request needs."""
    operation, _, resource = row.controller_right.partition(" ")
    return OPERATIONS.index(operation) if resource == "cluster" else None


@cache
def _parts(row: ApiRow) -> Parts | None:
    """The outermost parts, when each needs its own right."""
    operation, _, resource = row.controller_part_right.partition(" ")
    if resource not in RIGHT_OF:
        return None
    outermost = row.paths[0][0]
    return Parts(outermost.requested, RIGHT_OF[resource](OPERATIONS.index(operation)), outermost.answered)


CODES = {
    TOPIC: error_codes.TOPIC_AUTHORIZATION_FAILED,
    GROUP: error_codes.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: error_codes.CLUSTER_AUTHORIZATION_FAILED,
}
NAMES_BEFORE = 6
"""Before this version, a DeleteTopics request has only the names of topics."""

Handle = Callable[["AuthorizerHost", Request[Any]], "Answer | Wait[Answer]"]


def authorized(
    node: AuthorizerHost, authorizer: Authorizer, request: Request[Any], handle: Handle
) -> Answer | Wait[Answer]:
    """The response for the parts that the client has a right to. Raises
    Refusal(CLUSTER_AUTHORIZATION_FAILED)."""
    row = request.peer.apis[request.api_key].row

    def has(right: Right) -> bool:
        return _allowed(node, authorizer, request, right)

    operation = _cluster_operation(row)
    allowed = operation is None or has((operation, CLUSTER, CLUSTER_NAME))
    if not allowed and not row.right_or_parts:
        raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)
    parts = _deletion(node, request) if row.name == "DeleteTopics" else _parts(row)
    if parts is None or (allowed and row.right_or_parts):
        return handle(node, request)
    return _divided(node, request, parts, has, handle)


def may(node: AuthorizerHost, request: Request[Any], right: Right) -> bool:
    """Whether the client has a right, for handlers that need a right only in some cases."""
    return node.authorizer is None or _allowed(node, node.authorizer, request, right)


def _allowed(node: AuthorizerHost, authorizer: Authorizer, request: Request[Any], right: Right) -> bool:
    return authorizer.allows(node.image, (request.peer.principal, request.peer.host), *right)


def _deletion(node: AuthorizerHost, request: Request[Any]) -> Parts:
    """The parts of a DeleteTopics request, in which topics are named by their name or their id."""

    def name_of(topic: Any) -> str:
        if isinstance(topic, str):
            return topic
        found = None if topic.name is not None else node.image.topic(topic.topic_id)
        return topic.name or ("" if found is None else found.name)

    field = "topic_names" if request.version < NAMES_BEFORE else "topics"
    return Parts(field, lambda topic: (DELETE, TOPIC, name_of(topic)), "responses")


def _divided(
    node: AuthorizerHost, request: Request[Any], parts: Parts, has: Callable[[Right], bool], handle: Handle
) -> Answer | Wait[Answer]:
    requested = getattr(request.body, parts.requested) or ()
    refused = [each for each in requested if not has(parts.right(each))]
    if not refused:
        return handle(node, request)
    results = [result for each in refused for result in _refused(request, parts, each)]
    allowed = [each for each in requested if each not in refused]
    answer = handle(node, _with(request, parts.requested, allowed))
    if isinstance(answer, GeneratorType):
        return _joined_later(answer, parts.answered, results)
    joined: Answer = _joined(answer, parts.answered, results)
    return joined


def _with(request: Request[Any], field: str, parts: list[Any]) -> Request[Any]:
    found = copy(request)
    found.body = copy(request.body)
    setattr(found.body, field, parts)
    return found


def _refused(request: Request[Any], parts: Parts, each: Any) -> Iterable[Any]:
    code = CODES[parts.right(each)[1]]
    handler = request.peer.apis[request.api_key].handler
    found: Iterable[Any] = getattr(handler.refuse(_with(request, parts.requested, [each]), code, None), parts.answered)
    return found


def _joined(answer: Any, field: str, results: list[Any]) -> Any:
    if hasattr(answer, field):
        setattr(answer, field, [*getattr(answer, field), *results])
    return answer


def _joined_later(steps: Generator[Any, Any, Any], field: str, results: list[Any]) -> Wait[Any]:
    return _joined((yield from steps), field, results)
