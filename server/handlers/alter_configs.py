"""AlterConfigs: replace all configurations of topics, brokers, groups and client metrics subscriptions (KIP-133).

What is not given is deleted; IncrementalAlterConfigs has taken its place. `validate_only` answers the same and changes nothing. A resource
that stands twice is INVALID_REQUEST, twice; Kafka 4.4 means to say so, but fails over its own answer and sends none. Broker loggers cannot be
altered in this way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest, AlterConfigsResponse

from ..controller.configuration_control import (
    ConfigResourceResult,
    alter_configs,
    legacy_alter_config,
    preprocess_legacy_alter,
)
from ..controller.configuration_control import preprocess as preprocess_all
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[AlterConfigsRequest]) -> AlterConfigsResponse | Wait[AlterConfigsResponse]:
    image, at_controller = node.controller.draft, request.peer.is_at_controller
    decision = alter_configs(
        image, node.settings, request.body.resources, legacy_alter_config, at_controller=at_controller
    )
    records = [] if request.body.validate_only else decision.records
    response = AlterConfigsResponse(responses=[_result(*altered) for altered in decision.results])
    return node.controller.write(records, response)


def preprocess(
    node: Node, request: Request[AlterConfigsRequest]
) -> tuple[list[AlterConfigsResponse.AlterConfigsResourceResponse], list[AlterConfigsRequest.AlterConfigsResource]]:
    """The answers that a broker gives by itself, and the resources for which the controller is to be asked."""
    done, left = preprocess_all(node.controller.image, node.settings, request.body.resources, preprocess_legacy_alter)
    return [_result(*altered) for altered in done], left


def _result(
    resource_type: int, resource_name: str, code: int, message: str | None
) -> AlterConfigsResponse.AlterConfigsResourceResponse:
    return AlterConfigsResponse.AlterConfigsResourceResponse(
        error_code=code, error_message=message, resource_type=resource_type, resource_name=resource_name
    )


def refuse(request: Request[AlterConfigsRequest], code: int, message: str | None) -> AlterConfigsResponse:
    asked = [
        ConfigResourceResult(resource.resource_type, resource.resource_name, code, message)
        for resource in request.body.resources
    ]
    return AlterConfigsResponse(responses=[_result(*altered) for altered in asked])
