"""Nodes of one process: their messages to each other arrive, also late, and are dropped where they
must not arrive."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.network.clock import SteppedClock
from kafkadouble.server.network.cluster import InProcessCluster
from kafkadouble.server.network.in_process import InProcessLinks, RemoteChannel, with_records_in_memory
from kafkadouble.server.network.peer_security import PeerSecurity
from kafkadouble.server.raft.outbound_channel import PeerChannel
from kafkadouble.server.raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from kafkadouble.server.raft.voters import VoterEndpoint
from kafkadouble.wire.file_slice import FileSlice
from tests.server.harness import NOW
from tests.server.network.in_process_nodes import BROKER, CONTROLLER, node
from tests.server.topic_requests import creating


class Asking:
    """A conversation that sends what a test wants."""

    def __init__(self) -> None:
        self.to_send: list[OutboundRequest] = []
        self.answers: list[tuple[int, Any]] = []

    def ask(self, body: Message, version: int, to: tuple[str, int] = CONTROLLER, lowest: int = 0) -> None:
        self.to_send.append(OutboundRequest(1, RaftPeer(9, VoterEndpoint(*to)), body, version, lowest))

    def take_outgoing(self) -> list[OutboundRequest]:
        taken, self.to_send = self.to_send, []
        return taken

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        self.answers.append((now, response))

    def tick(self, now: int) -> None: ...

    def next_deadline(self) -> int | None:
        return None


@pytest.fixture
def asking() -> Asking:
    return Asking()


@pytest.fixture
def links(asking: Asking) -> InProcessLinks:
    """A controller, and a broker that has one more request to send."""
    found = InProcessLinks()
    broker = node(1, "broker", BROKER, **{"controller.quorum.bootstrap.servers": "controller:1"})
    broker.channels = [*broker.channels, PeerChannel("asking", asking, "controller.socket.timeout.ms")]
    found.join(node(2, "controller", CONTROLLER))
    found.join(broker)
    return found


def test_a_broker_is_part_of_the_cluster_without_a_moment_passing(links: InProcessLinks) -> None:
    assert not links.deliver(NOW)
    image = links.nodes[2].controller.image
    assert [broker.id for broker in image.live_brokers()] == [1]
    assert links.nodes[1].controller.image.end == image.end


def test_in_process_response_is_a_copy(links: InProcessLinks, asking: Asking) -> None:
    links.deliver(NOW)
    body = creating("t")
    asking.ask(body, 7)
    links.deliver(NOW + 1)
    [(now, response)] = asking.answers
    assert (now, response.topics[0].name, response.topics[0].error_code) == (NOW + 1, "t", 0)
    assert links.nodes[1].partitions.get("t", 0) is not None


def test_a_request_that_is_not_served_is_answered(links: InProcessLinks, asking: Asking) -> None:
    asking.ask(creating("t"), 7, lowest=99)
    links.deliver(NOW)
    assert asking.answers == [(NOW, RequestFailure.UNSUPPORTED_VERSION)]


def test_request_to_another_address_uses_a_socket(links: InProcessLinks, asking: Asking) -> None:
    asking.ask(creating("t"), 7, to=("far.example", 9093))
    links.deliver(NOW)
    [remote] = [each for each in links.remote[1] if each.waiting]
    assert [send.to.endpoint.host for send in remote.take_outgoing()] == ["far.example"]
    remote.answered(1, RequestFailure.LOST, NOW + 5)
    assert asking.answers == [(NOW + 5, RequestFailure.LOST)]


@pytest.mark.parametrize("cut", [1, 2])
def test_an_isolated_node_reaches_no_node_and_is_reached_by_none(
    links: InProcessLinks, asking: Asking, cut: int
) -> None:
    links.deliver(NOW)
    links.isolate(cut)
    asking.ask(creating("t"), 7)
    links.deliver(NOW + 1)
    assert asking.answers == [(NOW + 1, RequestFailure.LOST)]
    links.rejoin(cut)
    asking.ask(creating("t"), 7)
    links.deliver(NOW + 2)
    assert asking.answers[-1][1].topics[0].error_code == 0


def test_request_to_a_stopped_in_process_node_fails(links: InProcessLinks, asking: Asking) -> None:
    links.leave(2)
    asking.ask(creating("t"), 7)
    links.deliver(NOW)
    assert asking.answers == [(NOW, RequestFailure.LOST)]
    assert not any(each.waiting for each in links.remote[1])


def test_a_paused_node_answers_when_it_goes_on(links: InProcessLinks, asking: Asking) -> None:
    links.deliver(NOW)
    links.pause(2)
    asking.ask(creating("t"), 7)
    assert not links.deliver(NOW + 1)
    assert asking.answers == []
    links.resume(2)
    links.deliver(NOW + 2)
    assert asking.answers[0][1].topics[0].error_code == 0


def test_a_request_to_a_paused_node_times_out(links: InProcessLinks, asking: Asking) -> None:
    links.deliver(NOW)
    links.pause(2)
    asking.ask(creating("t"), 7)
    links.deliver(NOW + 1)
    timeout = links.nodes[1].settings.int("controller.socket.timeout.ms")
    links.tick(NOW + timeout)
    links.deliver(NOW + timeout)
    assert asking.answers == []
    links.tick(NOW + 1 + timeout)
    links.deliver(NOW + 1 + timeout)
    assert asking.answers == [(NOW + 1 + timeout, RequestFailure.LOST)]
    links.resume(2)
    links.deliver(NOW + 2 + timeout)
    assert len(asking.answers) == 1
    assert links.nodes[2].controller.image.topic_named("t") is None, "what was given up is not begun"


def test_a_paused_node_learns_later_what_was_answered(links: InProcessLinks, asking: Asking) -> None:
    links.deliver(NOW)
    asking.ask(creating("t"), 7)
    links._take_outgoing(links.nodes[1])
    links.pause(1)
    assert not links.deliver(NOW + 1)
    assert asking.answers == []
    links.resume(1)
    links.deliver(NOW + 9)
    assert asking.answers[0][0] == NOW + 9


def test_in_process_nodes_in_an_endless_dialogue_let_others_run(links: InProcessLinks, asking: Asking) -> None:
    class Endless(Asking):
        def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
            self.ask(creating("t"), 7)

    endless = Endless()
    links.nodes[1].channels = [PeerChannel("endless", endless, "controller.socket.timeout.ms")]
    links.join(links.nodes[1])
    endless.ask(creating("t"), 7)
    assert links.deliver(NOW)


class InFile(FileSlice):
    def _load(self) -> bytes:
        return b"lies in a file"


def test_records_are_handed_on_as_they_are_but_from_memory() -> None:
    of = FetchResponse
    mine, others = memoryview(b"records"), InFile(-1, 0, 14)
    data = [
        of.PartitionData(partition_index=0, records=mine),  # as a log in memory lends it
        of.PartitionData(partition_index=1, records=b""),
        of.PartitionData(partition_index=2, records=None),
        of.PartitionData(partition_index=3, records=cast(bytes, others), high_watermark=5),
    ]
    answer = of(responses=[of.FetchableTopicResponse(topic="t", partitions=data)], session_id=7)
    there = with_records_in_memory(answer)
    assert isinstance(there, FetchResponse)
    assert there.session_id == 7
    partitions = there.responses[0].partitions
    assert [each.records for each in partitions] == [mine, b"", None, b"lies in a file"]
    assert partitions[0].records is mine
    assert partitions[3].high_watermark == 5


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_an_altered_login_is_that_of_the_next_connections_to_other_processes() -> None:
    arguments = {
        "controller.quorum.bootstrap.servers": "controller:1",
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": f'{PLAIN} required username="a" password="b";',
    }
    broker = node(1, "broker", BROKER, **arguments)
    channel = RemoteChannel(broker, next(channel for channel in broker.channels if channel.is_to_controllers))

    async def securities() -> list[PeerSecurity]:
        cluster = InProcessCluster(SteppedClock(NOW))
        found = []
        for altered in (False, False, True, False):
            if altered:
                broker.settings = broker.settings.altered({}, {})
            peers = cluster._peers_of(channel)
            found.append(peers.security)
        peers.forget()
        return found

    first, again, altered, last = asyncio.run(securities())
    assert first.login is not None
    assert first is again is not altered
    assert altered is last
