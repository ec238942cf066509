"""AlterConfigs: replace all configurations of a resource (KIP-133).

Resources are topics, brokers, groups and client metrics subscriptions. A configuration that the
request does not have is deleted; IncrementalAlterConfigs replaces this API. `validate_only` gives
the same response and changes nothing. A resource that occurs twice gets INVALID_REQUEST twice;
Kafka 4.4 intends the same, but fails over its own response and sends none. Broker loggers cannot be
altered with this API.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest, AlterConfigsResponse

from ..configs.alter import Resource
from ..controller.configuration_control import (
    ConfigResourceResult,
    alter_configs,
    legacy_alter_config,
    preprocess_legacy_alter,
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
    node: HandlerContext, request: Request[AlterConfigsRequest]
) -> AlterConfigsResponse | Wait[AlterConfigsResponse]:
    image, at_controller = node.controller.draft, request.peer.is_at_controller
    decision = alter_configs(
        image,
        node.settings,
        request.body.resources,
        legacy_alter_config,
        at_controller=at_controller,
        reload_problem=node.reload_problem,
    )
    records = [] if request.body.validate_only else decision.records
    response = AlterConfigsResponse(responses=[_result(*altered) for altered in decision.results])
    return node.controller.write(records, response)


def invalid_parts(request: Request[AlterConfigsRequest]) -> Callable[[AlterConfigsRequest.AlterConfigsResource], bool]:
    """Loggers cannot be altered by this API, which a controller says first."""
    return lambda part: part.resource_type == Resource.BROKER_LOGGER and request.peer.is_at_controller


def preprocess(
    node: HandlerContext, request: Request[AlterConfigsRequest]
) -> tuple[list[AlterConfigsResponse.AlterConfigsResourceResponse], list[AlterConfigsRequest.AlterConfigsResource]]:
    """Return the responses of the broker itself, and the resources for the controller."""
    done, left = preprocess_all(
        node.image,
        node.settings,
        request.body.resources,
        preprocess_legacy_alter,
        reload_problem=node.reload_problem,
        may_alter_cluster=partial(may, node, request, (ALTER_CONFIGS, CLUSTER, CLUSTER_NAME)),
    )
    return [_result(*altered) for altered in done], left


def _result(
    resource_type: int, resource_name: str, code: int, message: str | None
) -> AlterConfigsResponse.AlterConfigsResourceResponse:
    return AlterConfigsResponse.AlterConfigsResourceResponse(
        error_code=code, error_message=message, resource_type=resource_type, resource_name=resource_name
    )


def refuse(request: Request[AlterConfigsRequest], code: int, message: str | None) -> AlterConfigsResponse:
    requested = [
        ConfigResourceResult(resource.resource_type, resource.resource_name, code, message)
        for resource in request.body.resources
    ]
    return AlterConfigsResponse(responses=[_result(*altered) for altered in requested])
