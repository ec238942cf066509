"""The trace: every request is begun and ended once, wherever it comes from; a forwarded one is
linked."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.in_process import InProcessLinks
from kafkadouble.server.node import Node
from kafkadouble.server.requests.origin import NO_ID, is_from_node
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.history import History
from kafkadouble.server.tracing.trace import RefusedVersion, Subscriber, TracedRequest
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.hostile.stage import Line
from tests.server.harness import NOW, Harness
from tests.server.network.in_process_nodes import BROKER, CONTROLLER, node
from tests.server.topic_requests import appending, creating
from tests.server.topic_requests import fetching as fetch
from tests.support import listeners


class Recorder(Subscriber):
    """Writes down what it is called with."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.traced: list[TracedRequest] = []

    def connected(self, node_id: int, peer: Peer) -> None:
        self.events.append(f"connected {peer!r} to {node_id}")

    def disconnected(self, peer: Peer) -> None:
        self.events.append(f"disconnected {peer!r}")

    def begun(self, traced: TracedRequest) -> None:
        assert traced.request.trace is traced
        self.traced.append(traced)
        self._note("begun", traced)

    def fault_hit(self, traced: TracedRequest, action: str) -> None:
        self._note(f"{action} hits", traced)

    def waiting(self, traced: TracedRequest) -> None:
        self._note("waiting", traced)

    def ended(self, traced: TracedRequest) -> None:
        self._note(traced.outcome, traced)

    def rejected(self, peer: Peer, frame: bytes, began_ns: int) -> None:
        self.events.append(f"rejected {len(frame)} bytes at {began_ns}")

    def version_refused(self, peer: Peer, head: Any, refusal: RefusedVersion) -> None:
        self.events.append(f"refused version {head.api_version}: {refusal.error_code}")

    def _note(self, what: str, traced: TracedRequest) -> None:
        self.events.append(f"{what} {type(traced.request.body).__name__.removesuffix('Request')}")

    def taken(self) -> list[str]:
        found, self.events = self.events, []
        return found


class Traced:
    """A node with a recorder, and a connection to it."""

    def __init__(self) -> None:
        self.harness, self.recorder, self.line = Harness(), Recorder(), Line(keep=True)
        self.harness.create("t")
        clock = iter(range(100, 10**6, 100))
        self.harness.node.trace.subscribe(self.recorder, lambda: next(clock))
        self.peer = Peer(1, "a", 1, listeners.BROKER)
        self.connection = Connection(self.harness.node, self.peer, self.line, 1 << 20)

    def send(self, body: Message, version: int) -> list[str]:
        self.connection.receive(b"".join(headers.write_request(body, 5, "app", version)), NOW)
        while self.harness.node.waiting.is_busy:
            self.harness.tick(0)
        return self.recorder.taken()


def fetching(replica_id: int = -1, max_wait_ms: int = 0) -> FetchRequest:
    body = fetch("t", max_wait_ms=max_wait_ms, session_epoch=-1)
    body.replica_id = replica_id
    return body


def producing(acks: int) -> ProduceRequest:
    records = encode_batch([Record(0, NOW, None, b"x", ())])
    return appending("t", records, acks=acks)


def test_a_request_that_is_answered_at_once() -> None:
    traced = Traced()
    assert traced.send(MetadataRequest(topics=[]), 12) == [
        "connected a:1 to 1",
        "begun Metadata",
        "answered Metadata",
    ]
    (found,) = traced.recorder.traced
    assert (found.answer.cluster_id, found.ended_ms, found.began_ns) == (traced.harness.node.cluster_id, NOW, 100)
    assert found.response_bytes == len((traced.line.written or [])[0])
    assert (found.request.trace, found.from_node, found.node_id) == (None, False, 1)


def test_a_request_that_waits() -> None:
    traced = Traced()
    assert traced.send(fetching(max_wait_ms=500), 12)[1:] == ["begun Fetch", "waiting Fetch"]
    traced.harness.tick(500)
    assert traced.recorder.taken() == ["answered Fetch"]
    assert traced.recorder.traced[0].ended_ms == NOW + 500


def test_a_request_of_a_client_that_leaves() -> None:
    traced = Traced()
    traced.send(fetching(max_wait_ms=500), 12)
    traced.connection.lost()
    assert traced.recorder.taken() == ["abandoned Fetch", "disconnected a:1"]
    traced.harness.tick(500)
    assert traced.recorder.taken() == []


def test_a_request_without_an_answer() -> None:
    assert Traced().send(producing(acks=0), 9)[1:] == ["begun Produce", "unanswered Produce"]


def test_a_rule_that_hits() -> None:
    traced = Traced()
    traced.harness.node.faults.arm(Rule.of(action="disconnect", api="Metadata"))
    found = traced.send(MetadataRequest(topics=[]), 12)
    assert found[1:] == ["begun Metadata", "disconnect hits Metadata", "disconnected Metadata"]


def test_a_request_that_is_decoded_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.requests.aside_codec.WIDE", 1)
    found = Traced().send(MetadataRequest(topics=[]), 12)
    assert found[1:] == ["begun Metadata", "waiting Metadata", "answered Metadata"]


def test_bytes_that_are_no_request() -> None:
    traced = Traced()
    traced.connection.receive(b"\0\0\0\2\0\3", NOW)
    assert traced.recorder.taken()[1:] == ["rejected 2 bytes at 100"]


def test_a_version_of_api_versions_that_is_not_served() -> None:
    traced = Traced()
    traced.connection.receive(bytes.fromhex("0000000e0012006300000009 0003 6f6c64 00".replace(" ", "")), NOW)
    assert traced.recorder.taken()[1:] == ["refused version 99: 35"]


def test_without_a_subscriber_a_request_has_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings()
    quiet = Node(settings, listeners=listeners.listeners_of(settings, ("h", 1)), now=NOW, seed=1, history=False)
    seen: list[Any] = []
    submit = quiet.submit

    def look(request: Request[Any], reply: Any, now: int) -> Any:
        seen.append(request.trace)
        return submit(request, reply, now)

    monkeypatch.setattr(quiet, "submit", look)
    connection = Connection(quiet, Peer(1, "a", 1, listeners.BROKER), Line(), 1 << 20)
    connection.receive(b"".join(headers.write_request(MetadataRequest(topics=[]), 5, "app", 12)), NOW)
    assert (quiet.trace.is_on, seen) == (False, [None])


class TestOrigin:
    def test_a_client_is_a_client_whatever_it_fetches(self) -> None:
        peer = Peer(1, "a", 1, listeners.BROKER)
        for key, body in ((1, fetching()), (3, MetadataRequest()), (23, OffsetForLeaderEpochRequest())):
            assert not is_from_node(Request(key, 4, 1, "c", body, peer, NOW, 0))

    @pytest.mark.parametrize(
        ("key", "body"),
        [
            (1, fetching(replica_id=2)),
            (1, FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=2))),
            (23, OffsetForLeaderEpochRequest(replica_id=2)),
            (2, ListOffsetsRequest(replica_id=2)),
            (63, BrokerHeartbeatRequest()),
        ],
    )
    def test_a_request_that_only_nodes_send_is_a_nodes_if_the_connection_may_act_for_it(
        self, key: int, body: Any
    ) -> None:
        peer = Peer(1, "a", 1, listeners.BROKER)
        request = Request(key, 4, 1, "c", body, peer, NOW, 0)
        assert not is_from_node(request)
        peer.may_act_for = lambda id: id == (NO_ID if key == 63 else 2)
        assert is_from_node(request)
        assert not is_from_node(Request(3, 4, 1, "c", MetadataRequest(), peer, NOW, 0))


@pytest.fixture
def links() -> InProcessLinks:
    """A controller and a broker of one process."""
    found = InProcessLinks()
    found.join(node(2, "controller", CONTROLLER))
    broker = node(1, "broker", BROKER, **{"controller.quorum.bootstrap.servers": "controller:1"})
    found.join(broker)
    found.deliver(NOW)
    return found


@pytest.fixture
def history(links: InProcessLinks) -> History:
    found = History(peers=True)
    for each in links.nodes.values():
        each.trace.subscribe(found)
    return found


def ask_broker(links: InProcessLinks, name: str) -> Line:
    body, line = creating(name), Line(keep=True)
    connection = Connection(links.nodes[1], Peer(1, "10.0.0.1", 1, listeners.BROKER), line, 1 << 20)
    connection.receive(b"".join(headers.write_request(body, 5, "app", 7)), NOW)
    links.deliver(NOW)
    return line


class TestBetweenNodes:
    def test_a_forwarded_request_is_two_that_are_linked(self, links: InProcessLinks, history: History) -> None:
        line = ask_broker(links, "t")
        (client,) = history
        assert (client.api, client.broker, client.outcome) == ("CreateTopics", 1, "answered")
        inner = client.forwarded
        assert inner is not None
        assert inner.forwarded_from is client
        assert (inner.api, inner.broker, inner.outcome, inner.client_id) == ("CreateTopics", 2, "answered", "app")
        assert inner in history.of_peers()
        assert line.written

    def test_requests_between_nodes_are_traced(self, links: InProcessLinks, history: History) -> None:
        ask_broker(links, "t")
        seen = {(peer.api, peer.broker) for peer in history.of_peers()}
        assert {("Envelope", 2), ("CreateTopics", 2), ("Fetch", 2)} <= seen
        envelope = next(peer for peer in history.of_peers() if peer.api == "Envelope")
        assert (envelope.client_id, envelope.size > 0, envelope.outcome) == ("1", True, "answered")
        history.clear_peers()
        assert history.of_peers() == []

    def test_a_fetch_that_is_lost_is_abandoned(self, links: InProcessLinks) -> None:
        recorder = Recorder()
        links.nodes[2].trace.subscribe(recorder)
        ask_broker(links, "t")
        assert recorder.taken()[-2:] == ["begun Fetch", "waiting Fetch"]
        links.isolate(1)
        assert recorder.taken() == ["abandoned Fetch"]

    def test_the_trace_of_peers_is_empty_by_default(self, links: InProcessLinks) -> None:
        history = History()
        for each in links.nodes.values():
            each.trace.subscribe(history)
        ask_broker(links, "t")
        (client,) = history
        assert (client.forwarded, history.of_peers()) == (None, [])


class TestRulesBetweenNodes:
    def test_a_rule_leaves_them_alone(self, links: InProcessLinks) -> None:
        rule = links.nodes[2].faults.arm(Rule.of(action="fail", api="*", error="UNKNOWN_SERVER_ERROR", times=None))
        ask_broker(links, "t")
        assert rule.met == 0
        assert links.nodes[2].controller.image.topic_named("t") is not None

    def test_a_rule_with_peers_applies_inside_a_process(self, links: InProcessLinks, history: History) -> None:
        fail = Rule.of(action="fail", api="CreateTopics", error="POLICY_VIOLATION", peers=True)
        rule = links.nodes[2].faults.arm(fail)
        ask_broker(links, "t")
        (client,) = history
        assert (rule.hits, client.error) == (1, "POLICY_VIOLATION")
        assert links.nodes[2].controller.image.topic_named("t") is None

    def test_a_fetch_that_is_passed_on_can_be_delayed_and_lost(self, links: InProcessLinks) -> None:
        armed = [
            links.nodes[2].faults.arm(Rule.of(action="delay", api="Fetch", seconds=1, peers=True)),
            links.nodes[2].faults.arm(Rule.of(action="disconnect", api="Fetch", peers=True, on_call=2)),
        ]
        ask_broker(links, "t")
        for milliseconds in range(0, 5000, 100):
            links.tick(NOW + milliseconds)
            links.deliver(NOW + milliseconds)
        assert [each.hits for each in armed] == [1, 1]
        assert links.nodes[1].partitions.get("t", 0) is not None, "it fetches again"

    @pytest.mark.parametrize(
        ("action", "fields"), [("throttle", {"seconds": 1}), ("cut_frame", {"bytes": 9}), ("wrong_correlation_id", {})]
    )
    @pytest.mark.parametrize("api", ["Fetch", "Envelope", "CreateTopics"])
    def test_an_answer_is_altered_inside_a_process(
        self, links: InProcessLinks, api: str, action: str, fields: dict[str, Any]
    ) -> None:
        """A damaged frame is a lost connection: there are no frames."""
        rule = links.nodes[2].faults.arm(Rule.of(action, api=api, peers=True, **fields))
        ask_broker(links, "t")
        for milliseconds in range(0, 5000, 100):
            links.tick(NOW + milliseconds)
            links.deliver(NOW + milliseconds)
        assert rule.hits == 1
        assert links.nodes[1].partitions.get("t", 0) is not None, "it tries again"

    @pytest.mark.parametrize("peers", [False, True])
    def test_over_a_socket_it_is_the_same(self, peers: bool) -> None:
        traced = Traced()
        fail = Rule.of(action="fail", api="Fetch", error="UNKNOWN_SERVER_ERROR", times=None, peers=peers)
        rule = traced.harness.node.faults.arm(fail)
        traced.peer.may_act_for = lambda id: id == 7
        assert traced.send(fetching(replica_id=7), 12)
        assert rule.hits == peers
        client = Connection(traced.harness.node, Peer(2, "b", 2, listeners.BROKER), Line(), 1 << 20)
        client.receive(b"".join(headers.write_request(fetching(), 5, "app", 12)), NOW)
        assert rule.hits == peers + 1
