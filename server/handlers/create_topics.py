"""CreateTopics: create topics with their partitions and configurations (KIP-4, KIP-464, KIP-525).

From version 5 on the response has the partitions, replication factor and configurations of a
created topic, from version 7 on its id. `validate_only` gives the same response and changes
nothing. A timeout of 0 or less expires before anything changes, as in Kafka: REQUEST_TIMED_OUT.
When the response is sent, the topic exists and its partitions have leaders. From version 6 on a
topic beyond the client's quota of controller mutations is THROTTLING_QUOTA_EXCEEDED, also with
`validate_only`; before, it is created, and the client is throttled (KIP-599).
`controller.create_topics` says which topic fails and why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.message import Message

from ..controller.controller_result import check_time_left
from ..controller.create_topics import create_topics, failed_result, invalid_topics
from ..controller.decision import decided
from ..metadata.image import Image
from ..quotas.request_throttle import mutation_quota
from ..requests.request import Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE_CONFIGS
from ..security.client_rights import ClientRights, client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

CreatableTopicResult = CreateTopicsResponse.CreatableTopicResult
STRICT_QUOTA_FROM = 6


@begun
def answer(node: HandlerContext, request: Request[CreateTopicsRequest]) -> Wait[CreateTopicsResponse]:
    body, controller = request.body, node.controller
    check_time_left(body.timeout_ms)
    rights = client_rights(node, request)

    def decide(image: Image) -> Wait[tuple[Sequence[Message], CreateTopicsResponse]]:
        quota = mutation_quota(request, STRICT_QUOTA_FROM, node.now)
        decision = yield from create_topics(image, node.settings, body.topics, controller.new_id, quota)
        if rights is not None:
            yield from sliced(partial(_hide_configs, rights), decision.results)
        return [] if body.validate_only else decision.records, CreateTopicsResponse(topics=decision.results)

    return (yield from decided(controller, decide))


def invalid_parts(request: Request[CreateTopicsRequest]) -> Callable[[CreateTopicsRequest.CreatableTopic], bool]:
    return invalid_topics(request.body.topics)


def _hide_configs(rights: ClientRights, result: CreatableTopicResult) -> None:
    """Removes what a client may not know that may create a topic, but not describe its
    configurations."""
    if not result.error_code and not rights.may(DESCRIBE_CONFIGS, TOPIC, result.name):
        result.topic_config_error_code = error_codes.TOPIC_AUTHORIZATION_FAILED
        result.num_partitions = result.replication_factor = -1
        result.configs = []


def refuse(request: Request[CreateTopicsRequest], code: int, message: str | None) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[failed_result(topic.name, code, message) for topic in request.body.topics])
