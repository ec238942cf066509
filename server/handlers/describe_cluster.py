"""DescribeCluster: the brokers or the controllers, and the cluster id (KIP-700, KIP-919, KIP-1073).

From version 1 on the request says which type of endpoint the client expects; the other type is
MISMATCHED_ENDPOINT_TYPE. Version 0 expects a broker, and gets INVALID_REQUEST. From version 2 on
the request may include fenced brokers. A controller returns the controllers that registered a
listener with the name of the listener that received the request, and the leader of the quorum. It
requires a `metadata.version` with controller registrations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

from ..metadata import views
from ..metadata.features import METADATA_VERSION
from ..metadata.record_versions import CONTROLLERS
from ..requests.request import Refusal, Request
from ..security.client_rights import client_rights, cluster_operations

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

BROKER, CONTROLLER = 1, 2
NAMES = {BROKER: "BROKER", CONTROLLER: "CONTROLLER"}
"""The types of endpoints."""

Shown = DescribeClusterResponse.DescribeClusterBroker


def answer(node: HandlerContext, request: Request[DescribeClusterRequest]) -> DescribeClusterResponse:
    body = request.body
    own = CONTROLLER if request.peer.is_at_controller else BROKER
    if own == CONTROLLER:
        level = node.image.features.get(METADATA_VERSION)
        if level is None:
            text = "There is no finalized MetadataVersion, so direct-to-controller communication is not supported."
            raise Refusal(error_codes.UNSUPPORTED_VERSION, text)
        if level < CONTROLLERS:
            text = "Direct-to-controller communication is not supported with the current MetadataVersion."
            raise Refusal(error_codes.UNSUPPORTED_VERSION, text)
    _check_endpoint_type(body.endpoint_type, own, request.version)
    response = DescribeClusterResponse(
        endpoint_type=own,
        cluster_id=node.cluster_id,
        controller_id=_leader(node) if own == CONTROLLER else views.controller_id(node.image),
        brokers=_controllers(node) if own == CONTROLLER else _brokers(node, request),
    )
    if body.include_cluster_authorized_operations:
        response.cluster_authorized_operations = cluster_operations(client_rights(node, request))
    return response


def _check_endpoint_type(requested: int, own: int, version: int) -> None:
    if requested not in NAMES:
        raise Refusal(error_codes.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {requested}")
    if requested != own:
        code = error_codes.MISMATCHED_ENDPOINT_TYPE if version else error_codes.INVALID_REQUEST
        text = f"The request was sent to an endpoint of type {NAMES[own]}, but we wanted an endpoint of type {NAMES[requested]}"
        raise Refusal(code, text)


def _brokers(node: HandlerContext, request: Request[DescribeClusterRequest]) -> list[Shown]:
    shown = views.reachable(node.image, request.peer.listener.name, fenced_too=request.body.include_fenced_brokers)
    return [
        Shown(broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack, is_fenced=broker.fenced)
        for broker, endpoint in shown
    ]


def _controllers(node: HandlerContext) -> list[Shown]:
    image, listener = node.image, node.quorum.replica.listener_name
    return [
        Shown(broker_id=id, host=endpoint.host, port=endpoint.port)
        for id in sorted(image.controllers)
        for endpoint in image.controllers[id].endpoints
        if endpoint.name == listener
    ]


def _leader(node: HandlerContext) -> int:
    leader = node.quorum.replica.leader_id
    return -1 if leader is None else leader


def refuse(request: Request[DescribeClusterRequest], code: int, message: str | None) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=message or error_codes.meaning(code))
