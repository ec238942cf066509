"""Whether a request was sent by another node of the cluster, and not by a client.

Rules. A request that arrives by a link inside the process, or inside an Envelope, is a request of a
node. On a socket a request must say it: by an API that only controllers serve, or by the id of a
follower or an observer. Any client can say so. It is believed where the node lets it act for the
cluster (`server/security/acting_nodes.py`), and for this request alone. So requests that do not say
who sends them, such as ApiVersions, count as a client's.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys

from ..apis.served import ROWS
from .request import Request

NODE_APIS = frozenset(row.api.key for row in ROWS if row.listeners == ("controller",))

WITH_REPLICA_ID = (ApiKeys.FETCH, ApiKeys.OFFSET_FOR_LEADER_EPOCH, ApiKeys.LIST_OFFSETS)

NO_ID = -1


def is_from_node(request: Request[Any]) -> bool:
    """Whether another node of the cluster sent it."""
    peer, key = request.peer, request.api_key
    if peer.is_node:
        return True
    if key in NODE_APIS:
        return peer.may_act_for(NO_ID)
    if key in WITH_REPLICA_ID and (id := replica_id(request.body)) >= 0:
        return peer.may_act_for(id)
    return False


def replica_id(body: Any) -> int:
    """The node that a request names as its sender; clients name a negative one."""
    state = getattr(body, "replica_state", None)
    return max(int(body.replica_id), NO_ID if state is None else int(state.replica_id))
