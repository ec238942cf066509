"""Whether a request was sent by another node of the cluster, and not by a client.

Rules. What comes by a link inside the process, or inside an Envelope, comes from a node. On a
socket the request itself says it: an API that only controllers serve, which no client calls, or
the id of a follower in Fetch or OffsetForLeaderEpoch. After such a request everything on the same
connection is a node's. So the ApiVersions request with which a node of another process begins a
connection counts as a client's: it does not say which of the two sends it.
"""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys

from ..apis.served import ROWS
from .request import Request

NODE_APIS = frozenset(row.api.key for row in ROWS if row.listeners == ("controller",))

WITH_REPLICA_ID = (ApiKeys.FETCH, ApiKeys.OFFSET_FOR_LEADER_EPOCH)


def is_from_node(request: Request[Any]) -> bool:
    """Whether another node of the cluster sent it."""
    peer, key = request.peer, request.api_key
    if peer.is_node:
        return True
    if key in NODE_APIS or (key in WITH_REPLICA_ID and _is_from_follower(request.body)):
        peer.is_node = True
    return peer.is_node


def _is_from_follower(body: Any) -> bool:
    """Whether it carries the id of a node. Clients send a negative one."""
    if body.replica_id >= 0:
        return True
    state = getattr(body, "replica_state", None)
    return state is not None and state.replica_id >= 0
