"""The rights of the client that sent a request, for handlers (KIP-11, KIP-430).

`client_rights` is None if everything is allowed: without an authorizer, and for requests from
inside the process, which are those of its nodes and of the application that runs them. So the usual
request costs one test.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes

from ..requests.request import OWNER, Refusal, Request
from .acls import CLUSTER, CLUSTER_NAME, GROUP, OPERATIONS, TOPIC, TRANSACTIONAL_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .authorizer import Authorizer
    from .host import AuthorizerHost

FAILED = {
    TOPIC: error_codes.TOPIC_AUTHORIZATION_FAILED,
    GROUP: error_codes.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: error_codes.CLUSTER_AUTHORIZATION_FAILED,
    TRANSACTIONAL_ID: error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
"""The error code for a missing right to a resource of this type."""

SUPPORTED = {
    TOPIC: "READ WRITE CREATE DELETE ALTER DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    GROUP: "READ DELETE DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    CLUSTER: "CREATE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE",
}
"""The operations on a resource of each type that has authorized operations in a response."""

OPERATIONS_ON = {kind: tuple(map(OPERATIONS.index, names.split())) for kind, names in SUPPORTED.items()}
ALL_OPERATIONS = {kind: sum(1 << each for each in operations) for kind, operations in OPERATIONS_ON.items()}
"""All operations on a resource of the type, as bits of Kafka's AclOperation codes."""


class ClientRights:
    """The current rights of one client."""

    __slots__ = ("_authorizer", "_client", "_node")

    def __init__(self, node: AuthorizerHost, authorizer: Authorizer, client: tuple[str, str]) -> None:
        self._node, self._authorizer, self._client = node, authorizer, client

    def may(self, operation: int, resource_type: int, name: str) -> bool:
        """Whether the client may do this to the resource."""
        return self._authorizer.allows(self._node.image, self._client, operation, resource_type, name)

    def may_on_cluster(self, operation: int) -> bool:
        """Whether the client may do this to the cluster."""
        return self.may(operation, CLUSTER, CLUSTER_NAME)

    def may_on_some(self, operation: int, resource_type: int) -> bool:
        """Whether the client may do this to some resource of the type."""
        return self._authorizer.allows_any(self._node.image, self._client, operation, resource_type)

    def require(self, operation: int, resource_type: int, name: str) -> None:
        """Raises Refusal with the error code of the type if the client may not do this."""
        if not self.may(operation, resource_type, name):
            raise Refusal(FAILED[resource_type])

    def require_all(self, operation: int, resource_type: int, names: Iterable[str]) -> None:
        """As `require`, for each of the resources."""
        for name in names:
            self.require(operation, resource_type, name)


def client_rights(node: AuthorizerHost, request: Request[Any]) -> ClientRights | None:
    """The rights of the client that sent the request; None if it may do everything."""
    authorizer, peer = node.authorizer, request.peer
    if authorizer is None or peer.is_in_process or peer.id == OWNER:
        return None
    return ClientRights(node, authorizer, (peer.principal, peer.host))


def may_read_topics(node: AuthorizerHost, request: Request[Any]) -> Callable[[str], bool] | None:
    """Answers which topics the client may read; None if it may read all."""
    rights = client_rights(node, request)
    return None if rights is None else partial(rights.may, OPERATIONS.index("READ"), TOPIC)


def authorized_operations(rights: ClientRights | None, resource_type: int, name: str = CLUSTER_NAME) -> int:
    """The operations that the client may do on the resource, as bits."""
    if rights is None:
        return ALL_OPERATIONS[resource_type]
    return sum(1 << each for each in OPERATIONS_ON[resource_type] if rights.may(each, resource_type, name))


def cluster_operations(rights: ClientRights | None) -> int:
    """The operations on the cluster; none for a client that may not describe it."""
    is_hidden = rights is not None and not rights.may_on_cluster(OPERATIONS.index("DESCRIBE"))
    return 0 if is_hidden else authorized_operations(rights, CLUSTER)
