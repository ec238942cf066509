"""AlterConfigs: replace all configurations of topics, brokers, groups and client metrics subscriptions (KIP-133).

What is not given is deleted; IncrementalAlterConfigs has taken its place. `validate_only` answers the same and changes nothing. A resource
that stands twice is INVALID_REQUEST, twice; Kafka 4.4 means to say so, but fails over its own answer and sends none. Broker loggers cannot be
altered in this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest, AlterConfigsResponse

from ..metadata.alteration import Altered, alter, replace
from ..request import Request

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[AlterConfigsRequest]) -> AlterConfigsResponse:
    decision = alter(node.controller.image, node.settings, request.body.resources, replace)
    if not request.body.validate_only:
        node.controller.commit(decision.records)
    return AlterConfigsResponse(responses=[_result(*altered) for altered in decision.results])


def _result(
    resource_type: int, resource_name: str, code: int, message: str | None
) -> AlterConfigsResponse.AlterConfigsResourceResponse:
    return AlterConfigsResponse.AlterConfigsResourceResponse(
        error_code=code, error_message=message, resource_type=resource_type, resource_name=resource_name
    )


def refuse(request: Request[AlterConfigsRequest], code: int, message: str | None) -> AlterConfigsResponse:
    asked = [
        Altered(resource.resource_type, resource.resource_name, code, message) for resource in request.body.resources
    ]
    return AlterConfigsResponse(responses=[_result(*altered) for altered in asked])
