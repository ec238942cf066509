"""AssignReplicasToDirs: a broker reports which log directories hold its replicas (KIP-858).

Only brokers send it, to the controller. `controller.assign_replicas_to_dirs` says which replica
fails and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)

from ..controller.assign_replicas_to_dirs import assign_replicas_to_dirs
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Response = AssignReplicasToDirsResponse


def answer(node: HandlerContext, request: Request[AssignReplicasToDirsRequest]) -> Response | Wait[Response]:
    decision = assign_replicas_to_dirs(node.controller.draft, node.settings, request.body)
    return node.controller.write(decision.records, Response(directories=decision.results))
