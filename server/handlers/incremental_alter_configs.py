"""IncrementalAlterConfigs: set, delete, append to and subtract from single configurations (KIP-339), and levels of loggers (KIP-412).

All changes of one resource hold, or none; resources do not suffer from one another. `validate_only` answers the same and changes nothing.
Dynamic configurations of the broker and of topics take effect before the answer goes out. Kafka answers an unknown operation on a topic with
UNKNOWN_SERVER_ERROR; here it is INVALID_REQUEST for every resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

from ..configs.alter import Change
from ..metadata import broker_loggers
from ..metadata.alteration import Altered, IncrementalResource, alter, increment
from ..request import Request

if TYPE_CHECKING:
    from ..node import Node


def answer(node: Node, request: Request[IncrementalAlterConfigsRequest]) -> IncrementalAlterConfigsResponse:
    body = request.body

    def alter_loggers(resource: IncrementalResource) -> None:
        changes = [Change(config.name, config.config_operation, config.value) for config in resource.configs]
        broker_loggers.alter(node.id, resource.resource_name, changes, validate_only=body.validate_only)

    decision = alter(node.controller.image, node.settings, body.resources, increment, alter_loggers)
    if not body.validate_only:
        node.controller.commit(decision.records)
    return IncrementalAlterConfigsResponse(responses=[_result(*altered) for altered in decision.results])


def _result(
    resource_type: int, resource_name: str, code: int, message: str | None
) -> IncrementalAlterConfigsResponse.AlterConfigsResourceResponse:
    return IncrementalAlterConfigsResponse.AlterConfigsResourceResponse(
        error_code=code, error_message=message, resource_type=resource_type, resource_name=resource_name
    )


def refuse(
    request: Request[IncrementalAlterConfigsRequest], code: int, message: str | None
) -> IncrementalAlterConfigsResponse:
    asked = [
        Altered(resource.resource_type, resource.resource_name, code, message) for resource in request.body.resources
    ]
    return IncrementalAlterConfigsResponse(responses=[_result(*altered) for altered in asked])
