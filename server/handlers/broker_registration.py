"""BrokerRegistration: a broker joins the cluster, fenced; the response has its epoch (KIP-631).

Version 1 has brokers that migrate from ZooKeeper, which are refused; version 2 log directories
(KIP-858); version 3 the broker epoch before a clean shutdown (KIP-966); version 4 features whose
lowest level is 0, which older versions leave out. `controller.broker_registration` says what is
refused and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse

from ..controller.broker_context import broker_context_of
from ..controller.broker_registration import ClusterIdentity, register_broker
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

NO_EPOCH = -1

Response = BrokerRegistrationResponse


def answer(node: HandlerContext, request: Request[BrokerRegistrationRequest]) -> Response | Wait[Response]:
    cluster = ClusterIdentity(node.cluster_id, node.quorum.replica.kraft_version)
    done = register_broker(broker_context_of(node), cluster, request.body, request.version)
    return node.controller.write(done.records, Response(broker_epoch=done.epoch))


def refuse(request: Request[BrokerRegistrationRequest], code: int, message: str | None) -> Response:
    return Response(error_code=code, broker_epoch=NO_EPOCH)
