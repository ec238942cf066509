"""CreateTopics: make topics with their partitions and configurations (KIP-4, KIP-464 for defaults by -1, KIP-525 for what is answered).

Version 5 on answers partitions, replication factor and configurations of a created topic, version 7 its id. `validate_only` answers the same
and makes nothing. A time-out of 0 or less is over before anything happens, as in Kafka: REQUEST_TIMED_OUT. The topic is there, and its
partitions are led, when the answer goes out. Which topic fails why stands in `metadata/creation.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse

from ..controller.create_topics import create_topics, failed_result
from ..metadata.controller_result import check_time_left
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[CreateTopicsRequest]) -> CreateTopicsResponse | Wait[CreateTopicsResponse]:
    body, controller = request.body, node.controller
    check_time_left(body.timeout_ms)
    decision = create_topics(controller.draft, node.settings, body.topics, controller.new_id)
    records = [] if body.validate_only else decision.records
    return controller.write(records, CreateTopicsResponse(topics=decision.results))


def refuse(request: Request[CreateTopicsRequest], code: int, message: str | None) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[failed_result(topic.name, code, message) for topic in request.body.topics])
