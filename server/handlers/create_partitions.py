"""CreatePartitions: add partitions to topics (KIP-195).

`validate_only` gives the same response and changes nothing. A timeout of 0 or less expires before
anything changes. From version 3 on a topic beyond the client's quota of controller mutations is
THROTTLING_QUOTA_EXCEEDED, also with `validate_only`; before, it gets its partitions, and the client
is throttled (KIP-599). `controller.create_partitions` says which topic fails and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from kafkadouble.messages.message import Message

from ..controller.controller_result import check_time_left
from ..controller.create_partitions import create_partitions, failed_result
from ..controller.decision import decided
from ..metadata.image import Image
from ..quotas.request_throttle import mutation_quota
from ..requests.request import Request
from ..requests.waiting import Wait, begun

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

STRICT_QUOTA_FROM = 3


@begun
def answer(node: HandlerContext, request: Request[CreatePartitionsRequest]) -> Wait[CreatePartitionsResponse]:
    body = request.body
    check_time_left(body.timeout_ms)

    def decide(image: Image) -> Wait[tuple[Sequence[Message], CreatePartitionsResponse]]:
        quota = mutation_quota(request, STRICT_QUOTA_FROM, node.now)
        decision = yield from create_partitions(image, body.topics, quota)
        return [] if body.validate_only else decision.records, CreatePartitionsResponse(results=decision.results)

    return (yield from decided(node.controller, decide))


def refuse(request: Request[CreatePartitionsRequest], code: int, message: str | None) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(results=[failed_result(topic.name, code, message) for topic in request.body.topics])
