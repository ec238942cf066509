"""A broker whose own node leads the quorum sends its requests to itself (KIP-631)."""

from __future__ import annotations

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.tracing.trace import ANSWERED, Subscriber, TracedRequest
from tests.simulation.brokers.cluster import Cluster
from tests.simulation.brokers.shape import Shape
from tests.simulation.world import World


class Ended(Subscriber):
    def __init__(self) -> None:
        self.requests: list[TracedRequest] = []

    def ended(self, traced: TracedRequest) -> None:
        self.requests.append(traced)


def test_its_trace_has_them_as_requests_of_a_node() -> None:
    cluster = Cluster(World(7), Shape(combined=True, controllers=3, brokers=3, replicas=1, elr=False))
    cluster.begin()
    ended = Ended()
    for member in cluster.members.values():
        assert member.node is not None
        member.node.trace.subscribe(ended)
    cluster.world.run_for(10_000)
    own = [
        each
        for each in ended.requests
        if each.request.api_key == ApiKeys.BROKER_HEARTBEAT and each.request.body.broker_id == each.node_id
    ]
    assert own
    assert all(each.from_node and each.outcome == ANSWERED for each in own)
    assert not any(each.answer.is_fenced for each in own)
