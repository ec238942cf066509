"""Which connections may act for another node of the cluster."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafkadouble.server.metadata.image import EMPTY, BrokerImage, Image
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.requests.origin import NO_ID
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.security.acls import OPERATIONS
from kafkadouble.server.security.acting_nodes import may_act_for
from kafkadouble.server.security.authorizer import Authorizer
from tests.server.security.made_acls import CLUSTER, acl, authorizer, image
from tests.support import listeners


class Acting(NamedTuple):
    id: int
    image: Image
    authorizer: Authorizer | None = None


BROKERS = EMPTY._replace(brokers=PersistentMap[int, BrokerImage]({1: None, 2: None}))  # type: ignore[arg-type]
CLUSTER_ACTION = acl("kafka-cluster", OPERATIONS.index("CLUSTER_ACTION"), "User:node", kind=CLUSTER)


@pytest.mark.parametrize(("id", "allowed"), [(2, True), (1, False), (3, False), (NO_ID, True)])
def test_without_an_authorizer_another_broker_must_be_registered(id: int, allowed: bool) -> None:
    assert may_act_for(Acting(1, BROKERS), Peer(1, "a", 1, listeners.BROKER), id) is allowed


@pytest.mark.parametrize(("id", "allowed"), [(3, True), (1, False), (NO_ID, True)])
def test_at_a_controller_a_broker_may_read_the_metadata_before_it_registers(id: int, allowed: bool) -> None:
    assert may_act_for(Acting(1, BROKERS), Peer(1, "a", 1, listeners.CONTROLLER), id) is allowed


@pytest.mark.parametrize(("principal", "allowed"), [("User:node", True), ("User:alice", False), ("User:admin", True)])
@pytest.mark.parametrize("id", [1, 2, NO_ID])
def test_with_an_authorizer_it_takes_cluster_action(principal: str, id: int, allowed: bool) -> None:
    peer = Peer(1, "a", 1, listeners.BROKER)
    peer.principal = principal
    node = Acting(1, image(CLUSTER_ACTION)._replace(brokers=BROKERS.brokers), authorizer(super_users="User:admin"))
    assert may_act_for(node, peer, id) is allowed
