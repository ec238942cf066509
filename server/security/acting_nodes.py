"""Which connections may send requests as another node of the cluster; see `requests/origin.py`.

Rules. With an authorizer the principal needs CLUSTER_ACTION, which Kafka too wants for what only
nodes send. Without one a broker must be registered under the id that the request names, and be
another than this one; on a listener of controllers any other id will do, as brokers read the
metadata there before they register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..requests.origin import NO_ID
from .acls import CLUSTER, CLUSTER_NAME
from .authorizer import CLUSTER_ACTION

if TYPE_CHECKING:
    from ..requests.request import Peer
    from .host import ActingHost


def may_act_for(node: ActingHost, peer: Peer, id: int) -> bool:
    """Whether a connection may send what the node of this id sends; NO_ID is any node."""
    if node.authorizer is not None:
        return node.authorizer.allows(node.image, (peer.principal, peer.host), CLUSTER_ACTION, CLUSTER, CLUSTER_NAME)
    if id == node.id:
        return False
    return id == NO_ID or peer.is_at_controller or id in node.image.brokers
