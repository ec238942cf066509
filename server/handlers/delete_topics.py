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

from ..controller.controller_result import check_time_left
from ..controller.delete_topics import DeleteTopicState, delete_topics, failed_result
from ..quotas.request_throttle import mutation_quota
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

DISABLED_FROM = 3
"""The first version with TOPIC_DELETION_DISABLED."""

STATES_FROM = 6

STRICT_QUOTA_FROM = 5


def answer(
    node: HandlerContext, request: Request[DeleteTopicsRequest]
) -> DeleteTopicsResponse | Wait[DeleteTopicsResponse]:
    if not node.settings.bool("delete.topic.enable"):
        if request.version < DISABLED_FROM:
            raise Refusal(error_codes.INVALID_REQUEST, "Topic deletion is disabled.")
        raise Refusal(error_codes.TOPIC_DELETION_DISABLED)
    check_time_left(request.body.timeout_ms)
    quota = mutation_quota(request, STRICT_QUOTA_FROM, node.now)
    decision = delete_topics(node.controller.draft, _requested_topics(request), quota)
    return node.controller.write(decision.records, DeleteTopicsResponse(responses=decision.results))


def _requested_topics(request: Request[DeleteTopicsRequest]) -> Sequence[DeleteTopicState]:
    if request.version >= STATES_FROM:
        return request.body.topics
    return [DeleteTopicState(name=name) for name in request.body.topic_names]


def refuse(request: Request[DeleteTopicsRequest], code: int, message: str | None) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[failed_result(state.name, state.topic_id, code, message) for state in _requested_topics(request)]
    )
