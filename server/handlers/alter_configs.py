"""AlterConfigs: replace all configurations of a resource (KIP-133).

Resources are topics, brokers, groups and client metrics subscriptions. A configuration that the
request does not have is deleted; IncrementalAlterConfigs replaces this API. `validate_only` gives
the same response and changes nothing. A resource that occurs twice gets INVALID_REQUEST twice;
Kafka 4.4 intends the same, but fails over its own response and sends none. Broker loggers cannot be
altered with this API.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from kafkadouble.messages.message import Message

from ..configs.alter import Resource
from ..controller.configuration_control import (
    ConfigResourceResult,
    alter_configs,
    legacy_alter_config,
    preprocess_legacy_alter,
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
def answer(node: HandlerContext, request: Request[AlterConfigsRequest]) -> Wait[AlterConfigsResponse]:
    return (yield from decided(node.controller, partial(_decide, node, request)))


def _decide(
    node: HandlerContext, request: Request[AlterConfigsRequest], image: Image
) -> Wait[tuple[Sequence[Message], AlterConfigsResponse]]:
    decision = yield from alter_configs(
        image,
        node.settings,
        request.body.resources,
        legacy_alter_config,
        at_controller=request.peer.is_at_controller,
        reload_problem=node.reload_problem,
    )
    responses = yield from sliced(_result, decision.results)
    return [] if request.body.validate_only else decision.records, AlterConfigsResponse(responses=responses)


def invalid_parts(request: Request[AlterConfigsRequest]) -> Callable[[AlterConfigsRequest.AlterConfigsResource], bool]:
    """Loggers cannot be altered by this API, which a controller says first."""
    return lambda part: part.resource_type == Resource.BROKER_LOGGER and request.peer.is_at_controller


def preprocess(
    node: HandlerContext, request: Request[AlterConfigsRequest]
) -> Wait[
    tuple[list[AlterConfigsResponse.AlterConfigsResourceResponse], list[AlterConfigsRequest.AlterConfigsResource]]
]:
    """Returns the responses of the broker itself, and the resources for the controller."""
    done, left = yield from preprocess_all(
        node.image,
        node.settings,
        request.body.resources,
        preprocess_legacy_alter,
        reload_problem=node.reload_problem,
        may_alter_cluster=partial(may, node, request, (ALTER_CONFIGS, CLUSTER, CLUSTER_NAME)),
    )
    return (yield from sliced(_result, done)), left


def _result(altered: ConfigResourceResult) -> AlterConfigsResponse.AlterConfigsResourceResponse:
    return AlterConfigsResponse.AlterConfigsResourceResponse(**altered._asdict())


def refuse(request: Request[AlterConfigsRequest], code: int, message: str | None) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        responses=[
            _result(ConfigResourceResult(resource.resource_type, resource.resource_name, code, message))
            for resource in request.body.resources
        ]
    )
