"""BrokerRegistration: a broker joins the cluster, fenced; the answer is its epoch (KIP-631).

Version 1 knows migrating brokers of ZooKeeper, which are refused; 2 log directories (KIP-858); 3 whether the last life of the broker ended in
good order (KIP-966); 4 features whose lowest level is 0, which older versions leave out. What is refused why stands in
`metadata/registration.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse

from ..controller.broker_context import broker_context_of
from ..controller.broker_registration import ClusterIdentity, register_broker
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

NO_EPOCH = -1

Response = BrokerRegistrationResponse


def answer(node: Node, request: Request[BrokerRegistrationRequest]) -> Response | Wait[Response]:
    cluster = ClusterIdentity(node.cluster_id, node.quorum.replica.kraft_version)
    done = register_broker(broker_context_of(node), cluster, request.body, request.version)
    return node.controller.write(done.records, Response(broker_epoch=done.epoch))


def refuse(request: Request[BrokerRegistrationRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, broker_epoch=NO_EPOCH)
