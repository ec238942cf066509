"""IncrementalAlterConfigs: set, delete, append to and subtract from configurations (KIP-339).

It also sets levels of loggers (KIP-412). All changes of one resource are made or none; the error of
one resource does not affect another. `validate_only` gives the same response and changes nothing.
Dynamic configurations of brokers and topics are in effect when the response is sent. Kafka answers
an unknown operation on a topic with UNKNOWN_SERVER_ERROR; here every resource gets INVALID_REQUEST.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

from ..broker import broker_loggers
from ..configs.alter import AlterConfigOp, Resource
from ..controller.configuration_control import (
    ConfigResourceResult,
    IncrementalResource,
    alter_configs,
    incremental_alter_config,
    preprocess_incremental_alter,
)
from ..controller.configuration_control import preprocess as preprocess_all
from ..requests.request import Request
from ..requests.waiting import Wait
from ..security.acls import CLUSTER, CLUSTER_NAME
from ..security.authorizer import ALTER_CONFIGS
from ..security.request_authorization import may

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(
    node: HandlerContext, request: Request[IncrementalAlterConfigsRequest]
) -> IncrementalAlterConfigsResponse | Wait[IncrementalAlterConfigsResponse]:
    body, controller, at_controller = request.body, node.controller, request.peer.is_at_controller
    own = all(resource.resource_type == Resource.BROKER_LOGGER for resource in body.resources)
    image = controller.image if own else controller.draft  # loggers belong to one node
    loggers = partial(_alter_loggers, node, body)
    decision = alter_configs(
        image,
        node.settings,
        body.resources,
        incremental_alter_config,
        loggers,
        at_controller=at_controller,
        reload_problem=node.reload_problem,
    )
    response = IncrementalAlterConfigsResponse(responses=[_result(*altered) for altered in decision.results])
    return response if own else controller.write([] if body.validate_only else decision.records, response)


def preprocess(
    node: HandlerContext, request: Request[IncrementalAlterConfigsRequest]
) -> tuple[list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse], list[IncrementalResource]]:
    """Return the responses of the broker itself, and the resources for the controller."""
    may_alter_cluster = partial(may, node, request, (ALTER_CONFIGS, CLUSTER, CLUSTER_NAME))
    body, loggers = request.body, partial(_alter_loggers, node, request.body)
    image = node.image
    done, left = preprocess_all(
        image,
        node.settings,
        body.resources,
        preprocess_incremental_alter,
        loggers,
        reload_problem=node.reload_problem,
        may_alter_cluster=may_alter_cluster,
    )
    return [_result(*altered) for altered in done], left


def _alter_loggers(node: HandlerContext, body: IncrementalAlterConfigsRequest, resource: IncrementalResource) -> None:
    changes = [AlterConfigOp(config.name, config.config_operation, config.value) for config in resource.configs]
    broker_loggers.alter_logger_levels(node.id, resource.resource_name, changes, validate_only=body.validate_only)


def _result(
    resource_type: int, resource_name: str, code: int, message: str | None
) -> IncrementalAlterConfigsResponse.AlterConfigsResourceResponse:
    return IncrementalAlterConfigsResponse.AlterConfigsResourceResponse(
        error_code=code, error_message=message, resource_type=resource_type, resource_name=resource_name
    )


def refuse(
    request: Request[IncrementalAlterConfigsRequest], code: int, message: str | None
) -> IncrementalAlterConfigsResponse:
    requested = [
        ConfigResourceResult(resource.resource_type, resource.resource_name, code, message)
        for resource in request.body.resources
    ]
    return IncrementalAlterConfigsResponse(responses=[_result(*altered) for altered in requested])
