"""DescribeCluster: the brokers and the cluster's id, for admin clients (KIP-700, KIP-919, KIP-1073).

Version 1 on the client says which kind of node it means to ask: a broker answers MISMATCHED_ENDPOINT_TYPE to one who wants a controller.
Version 2 on it may ask for fenced brokers as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

from ..metadata import views
from ..request import Refusal, Request

if TYPE_CHECKING:
    from ..node import Node

BROKER, CONTROLLER = 1, 2
"""Types of endpoints."""


def answer(node: Node, request: Request[DescribeClusterRequest]) -> DescribeClusterResponse:
    body, image = request.body, node.controller.image
    _check_endpoint_type(body.endpoint_type)
    response = DescribeClusterResponse(
        endpoint_type=BROKER,
        cluster_id=node.cluster_id,
        controller_id=views.controller_id(image),
        brokers=[
            DescribeClusterResponse.DescribeClusterBroker(
                broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack, is_fenced=broker.fenced
            )
            for broker, endpoint in views.reachable(
                image, request.peer.listener, fenced_too=body.include_fenced_brokers
            )
        ],
    )
    if body.include_cluster_authorized_operations:
        response.cluster_authorized_operations = views.CLUSTER_OPERATIONS
    return response


def _check_endpoint_type(endpoint_type: int) -> None:
    if endpoint_type == CONTROLLER:
        said = "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        raise Refusal(error_codes.MISMATCHED_ENDPOINT_TYPE, said)
    if endpoint_type != BROKER:
        raise Refusal(error_codes.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoint_type}")


def refuse(request: Request[DescribeClusterRequest], code: int, message: str | None) -> DescribeClusterResponse:
    return DescribeClusterResponse(error_code=code, error_message=message or error_codes.meaning(code))
