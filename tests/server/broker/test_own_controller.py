"""A broker whose own node leads the quorum sends its requests to itself (KIP-631)."""

from __future__ import annotations

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.envelope import EnvelopeRequest
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.trace import ANSWERED, Subscriber, TracedRequest
from tests.simulation.brokers.cluster import Cluster
from tests.simulation.brokers.shape import Shape
from tests.simulation.world import World


class Ended(Subscriber):
    def __init__(self) -> None:
        self.requests: list[TracedRequest] = []

    def ended(self, traced: TracedRequest) -> None:
        self.requests.append(traced)


def three_nodes() -> Cluster:
    cluster = Cluster(World(7), Shape(combined=True, controllers=3, brokers=3, replicas=1, elr=False))
    cluster.begin()
    return cluster


def test_trace_of_a_controller_has_requests_of_a_node() -> None:
    cluster, ended = three_nodes(), Ended()
    for member in cluster.members.values():
        assert member.node is not None
        member.node.trace.subscribe(ended)
    cluster.world.run_for(10_000)
    own = [
        request
        for request in ended.requests
        if request.request.api_key == ApiKeys.BROKER_HEARTBEAT and request.request.body.broker_id == request.node_id
    ]
    assert own
    assert all(each.from_node and each.outcome == ANSWERED for each in own)
    assert not any(each.answer.is_fenced for each in own)


def test_an_envelope_keeps_the_request_inside() -> None:
    """It was queued, and then its own node became the controller."""
    cluster, ended = three_nodes(), Ended()
    nodes = [member.node for member in cluster.members.values() if member.node is not None]
    (leader,) = [node for node in nodes if node.controller.leads]
    assert leader.lifecycle is not None
    leader.trace.subscribe(ended)
    request = Request(
        ApiKeys.CREATE_TOPICS, 7, 1, "client", CreateTopicsRequest(), Peer(5, "client", 1, leader.listeners[0]), 0, 0
    )
    client = TracedRequest(leader.trace, request)
    leader.lifecycle.forwarding.send_request(EnvelopeRequest(), 0, lambda answer: None, cause=client)
    cluster.world.run_for(1000)
    (envelope,) = [request for request in ended.requests if request.request.api_key == ApiKeys.ENVELOPE]
    assert envelope.cause is client
