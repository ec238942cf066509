"""DeleteTopics: delete topics by name, and from version 6 on also by id (KIP-4, KIP-516).

With delete.topic.enable=false every topic is TOPIC_DELETION_DISABLED, before version 3
INVALID_REQUEST. A timeout of 0 or less expires before anything changes. Requests that wait for data
of a deleted topic are woken. Kafka shuffles its results; here failed topics are first. From version
5 on a topic beyond the client's quota of controller mutations is THROTTLING_QUOTA_EXCEEDED; before,
it is deleted, and the client is throttled (KIP-599).
`controller.delete_topics` says which topic fails and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafkadouble.messages.message import Message

from ..controller.controller_result import check_time_left
from ..controller.decision import decided
from ..controller.delete_topics import DeleteTopicState, delete_topics, failed_result
from ..metadata.image import Image
from ..quotas.request_throttle import mutation_quota
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, begun
from ..security.acls import TOPIC
from ..security.authorizer import DELETE, DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DISABLED_FROM = 3
"""The first version with TOPIC_DELETION_DISABLED."""

STATES_FROM = 6

STRICT_QUOTA_FROM = 5

DeletableTopicResult = DeleteTopicsResponse.DeletableTopicResult


@begun
def answer(node: HandlerContext, request: Request[DeleteTopicsRequest]) -> Wait[DeleteTopicsResponse]:
    if not node.settings.bool("delete.topic.enable"):
        if request.version < DISABLED_FROM:
            raise Refusal(error_codes.INVALID_REQUEST, "Topic deletion is disabled.")
        raise Refusal(error_codes.TOPIC_DELETION_DISABLED)
    check_time_left(request.body.timeout_ms)
    refused, allowed = yield from _authorized(node, request)

    def decide(image: Image) -> Wait[tuple[Sequence[Message], DeleteTopicsResponse]]:
        quota = mutation_quota(request, STRICT_QUOTA_FROM, node.now)
        decision = yield from delete_topics(image, allowed, quota)
        return decision.records, DeleteTopicsResponse(responses=[*refused, *decision.results])

    return (yield from decided(node.controller, decide))


def _authorized(
    node: HandlerContext, request: Request[DeleteTopicsRequest]
) -> Wait[tuple[list[DeletableTopicResult], Sequence[DeleteTopicState]]]:
    """The responses for topics that the client may not delete, and the other topics. The response
    for one that it may not describe has only what the request has: its name, or its id."""
    topics, rights = _requested_topics(request), client_rights(node, request)
    if rights is None or rights.may_on_cluster(DELETE):
        return [], topics
    refused, allowed, slices = [], [], Slices()
    for state in topics:
        if slices.end():
            yield OTHERS_FIRST
        known = node.image.topic_named(state.name) if state.name is not None else node.image.topic(state.topic_id)
        name = state.name if known is None else known.name
        if name is None:
            allowed.append(state)
            continue
        describes = rights.may(DESCRIBE, TOPIC, name)
        if describes and (known is None or rights.may(DELETE, TOPIC, name)):
            allowed.append(state)
            continue
        shown = name if describes or state.name is not None else None
        code = error_codes.TOPIC_AUTHORIZATION_FAILED
        refused.append(failed_result(shown, state.topic_id, code, error_codes.meaning(code)))
    return refused, allowed


def _requested_topics(request: Request[DeleteTopicsRequest]) -> Sequence[DeleteTopicState]:
    if request.version >= STATES_FROM:
        return request.body.topics
    return [DeleteTopicState(name=name) for name in request.body.topic_names]


def refuse(request: Request[DeleteTopicsRequest], code: int, message: str | None) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[failed_result(state.name, state.topic_id, code, message) for state in _requested_topics(request)]
    )
