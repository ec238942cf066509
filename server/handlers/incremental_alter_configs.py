"""IncrementalAlterConfigs: set, delete, append to and subtract from configurations (KIP-339).

It also sets levels of loggers (KIP-412). All changes of one resource are made or none; the error of
one resource does not affect another. `validate_only` gives the same response and changes nothing.
Dynamic configurations of brokers and topics are in effect when the response is sent. Kafka answers
an unknown operation on a topic with UNKNOWN_SERVER_ERROR; here every resource gets INVALID_REQUEST.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafkadouble.messages.message import Message

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
from ..controller.decision import decided
from ..metadata.image import Image
from ..requests.request import Request
from ..requests.slices import begun
from ..requests.waiting import Wait, sliced
from ..security.acls import CLUSTER, CLUSTER_NAME
from ..security.authorizer import ALTER_CONFIGS
from ..security.request_authorization import may

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


@begun
def answer(
    node: HandlerContext, request: Request[IncrementalAlterConfigsRequest]
) -> Wait[IncrementalAlterConfigsResponse]:
    if all(resource.resource_type == Resource.BROKER_LOGGER for resource in request.body.resources):
        # Loggers belong to one node, which need not be the active controller.
        return (yield from _decide(node, request, node.controller.image))[1]
    return (yield from decided(node.controller, partial(_decide, node, request)))


def _decide(
    node: HandlerContext, request: Request[IncrementalAlterConfigsRequest], image: Image
) -> Wait[tuple[Sequence[Message], IncrementalAlterConfigsResponse]]:
    """A level of a logger is altered once more where the decision is made again."""
    body = request.body
    decision = yield from alter_configs(
        image,
        node.settings,
        body.resources,
        incremental_alter_config,
        partial(_alter_loggers, node, body),
        at_controller=request.peer.is_at_controller,
        reload_problem=node.reload_problem,
    )
    responses = yield from sliced(_result, decision.results)
    return [] if body.validate_only else decision.records, IncrementalAlterConfigsResponse(responses=responses)


def preprocess(
    node: HandlerContext, request: Request[IncrementalAlterConfigsRequest]
) -> Wait[tuple[list[IncrementalAlterConfigsResponse.AlterConfigsResourceResponse], list[IncrementalResource]]]:
    """Returns the responses of the broker itself, and the resources for the controller."""
    may_alter_cluster = partial(may, node, request, (ALTER_CONFIGS, CLUSTER, CLUSTER_NAME))
    body, loggers = request.body, partial(_alter_loggers, node, request.body)
    image = node.image
    done, left = yield from preprocess_all(
        image,
        node.settings,
        body.resources,
        preprocess_incremental_alter,
        loggers,
        reload_problem=node.reload_problem,
        may_alter_cluster=may_alter_cluster,
    )
    return (yield from sliced(_result, done)), left


def _alter_loggers(node: HandlerContext, body: IncrementalAlterConfigsRequest, resource: IncrementalResource) -> None:
    changes = [AlterConfigOp(config.name, config.config_operation, config.value) for config in resource.configs]
    broker_loggers.alter_logger_levels(node.id, resource.resource_name, changes, validate_only=body.validate_only)


def _result(altered: ConfigResourceResult) -> IncrementalAlterConfigsResponse.AlterConfigsResourceResponse:
    return IncrementalAlterConfigsResponse.AlterConfigsResourceResponse(**altered._asdict())


def refuse(
    request: Request[IncrementalAlterConfigsRequest], code: int, message: str | None
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        responses=[
            _result(ConfigResourceResult(resource.resource_type, resource.resource_name, code, message))
            for resource in request.body.resources
        ]
    )
