"""The requests of a replica, over real sockets: when they are sent, in which version, and which
answer is delivered."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.server.network import peers
from kafkadouble.server.network.clock import SteppedClock
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.raft.voters import VoterEndpoint
from tests.support.asking import LOGGER, driven, run, well
from tests.support.scripted_peer import Line, scripted, versions_of


async def closes(line: Line) -> None:
    await line.agree()
    await line.request()


async def is_silent(line: Line) -> None:
    await line.agree()
    await line.closed()


def test_versions_are_requested_first_and_the_newest_common_one_is_used() -> None:
    async def test() -> None:
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            for _ in range(2):
                answer = await it.ask(FetchRequest(cluster_id="here"))
                assert isinstance(answer, FetchResponse)
                assert answer.session_id == 17  # the test's peer ends here
            assert [key for key, _, _ in peer.seen] == [18, 1, 1]
            assert peer.requested_versions(ApiKeys.FETCH) == [17, 17]
            assert peer.seen[1][2].cluster_id == "here"
            assert peer.connections == 1
            assert it.peers.versions[peer.endpoint][1] == (4, 17)
            assert it.peers.troubles == {}

    run(test())


@pytest.mark.parametrize("version", [13, 14, 15, 16])
def test_the_replica_id_is_sent_in_the_field_of_the_version(version: int) -> None:
    async def test() -> None:
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            peer.versions[ApiKeys.FETCH] = (4, version)
            await it.ask(FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=7)))
            body = peer.seen[-1][2]
            assert (body.replica_id if version < 15 else body.replica_state.replica_id) == 7

    run(test())


def test_peer_has_one_request_in_flight_and_queues_the_others() -> None:
    async def test() -> None:
        # `Line.request` looks for a second answer.
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            tokens = [it.send() for _ in range(20)]
            assert [(await it.asking.answers.get())[0] for _ in tokens] == tokens
            assert peer.connections == 1

    run(test())


def test_a_version_that_the_peer_lacks_is_reported_and_the_connection_stays(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            peer.versions[ApiKeys.FETCH] = (4, 12)
            for _ in range(3):
                assert await it.ask() is RequestFailure.UNSUPPORTED_VERSION
            assert await it.ask(DescribeQuorumRequest(), version=2, lowest=3) is RequestFailure.UNSUPPORTED_VERSION
            del peer.versions[1]
            assert isinstance(await it.ask(version=12, lowest=4), FetchResponse)
            assert peer.connections == 1

    with caplog.at_level(logging.INFO, LOGGER):
        run(test())
    assert [message.partition(" ")[2] for message in caplog.messages] == [
        "it serves no Fetch from version 13 to 18",
        "it serves no DescribeQuorum from version 3 to 2",
        "answers again",
    ]


@pytest.mark.parametrize(("own", "used"), [(3, 3), (0, 0), (4, 3)])
def test_a_peer_with_only_older_versions_of_api_versions_is_queried_in_those(own: int, used: int) -> None:
    async def older(line: Line) -> None:
        head, _ = await line.request()
        refused = versions_of({18: (0, own)}, error_codes.UNSUPPORTED_VERSION).encode(0)
        await line.raw(struct.pack(">ii", 4 + len(refused), head.correlation_id) + refused)
        await well(line)

    async def test() -> None:
        async with scripted(older) as peer, driven(peer.endpoint) as it:
            assert isinstance(await it.ask(), FetchResponse)
            assert peer.requested_versions(ApiKeys.API_VERSIONS) == [4, used]

    run(test())


def test_a_peer_is_tried_again_after_a_while_and_answers_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(peers, "BACKOFF_MS", 0)

    async def at_first_not(line: Line) -> None:
        await (well if line.peer.connections > 3 else closes)(line)

    async def test() -> None:
        async with scripted(at_first_not) as peer, driven(peer.endpoint) as it:
            assert [await it.ask() is RequestFailure.LOST for _ in range(5)] == [True, True, True, False, False]
            assert peer.connections == 4
            assert it.peers.troubles == {}

    with caplog.at_level(logging.INFO, LOGGER):
        run(test())
    assert [message.partition(" ")[2] for message in caplog.messages] == ["it closed the connection", "answers again"]


def test_each_failure_doubles_the_time_that_a_peer_is_left_alone_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch, unused_endpoint: VoterEndpoint
) -> None:
    async def test() -> None:
        async with driven(unused_endpoint) as it:
            loop, waits = asyncio.get_running_loop(), []
            passed, began = 0.0, loop.time()
            # The clock stands still: no timer takes part in this.
            monkeypatch.setattr(loop, "time", lambda: began + passed)
            for _ in range(6):
                assert await it.ask() is RequestFailure.LOST
                line = it.peers.lines[unused_endpoint]
                waits.append(round((line._alone_until - loop.time()) * 1000))
                passed += 0.5
            assert waits == [50, 100, 200, 400, 500, 500]
            assert it.peers.troubles == {unused_endpoint: "connection refused"}

    run(test())


def test_a_connection_closed_by_the_peer_is_replaced_without_a_failure() -> None:
    async def once(line: Line) -> None:
        await line.agree()
        head, _ = await line.request()
        await line.answer(head, FetchResponse())

    async def test() -> None:
        async with scripted(once) as peer, driven(peer.endpoint) as it:
            for _ in range(3):
                assert isinstance(await it.ask(), FetchResponse)
                connection = it.peers.lines[peer.endpoint]._connection
                while connection is not None and connection.is_open:
                    await asyncio.sleep(0)
            assert peer.connections == 3
            assert it.peers.troubles == {}

    run(test())


def test_an_idle_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "IDLE_S", 0.02)

    async def test() -> None:
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            for connections in (1, 2):
                assert isinstance(await it.ask(), FetchResponse)
                while it.peers.lines:
                    await asyncio.sleep(0)
                assert peer.connections == connections

    run(test())


def test_a_silent_peer_delays_no_other_peer() -> None:
    async def test() -> None:
        async with scripted(is_silent) as silent, scripted(well) as peer, driven(silent.endpoint) as it:
            it.send()
            it.endpoint = peer.endpoint
            assert isinstance(await it.ask(), FetchResponse)

    run(test())


def test_at_the_end_nothing_is_brought_any_more_and_no_socket_is_left() -> None:
    async def test() -> None:
        async with scripted(is_silent) as peer:
            async with driven(peer.endpoint) as it:
                it.send()
                while not peer.requested_versions(ApiKeys.FETCH) and not peer.seen:
                    await asyncio.sleep(0)
            assert it.asking.answers.empty()
            while not peer.ended:
                await asyncio.sleep(0)

    run(test())


def test_a_request_that_cannot_be_written_is_lost_and_costs_no_other_request() -> None:
    async def test() -> None:
        async with scripted(well) as peer, driven(peer.endpoint) as it:
            assert await it.ask(FetchRequest(max_bytes=1 << 40)) is RequestFailure.LOST
            assert "UsageError" in it.peers.troubles[peer.endpoint]

    run(test())


def test_the_replica_is_ticked_when_it_wants_to_be(unused_endpoint: VoterEndpoint) -> None:
    async def test() -> None:
        async with driven(unused_endpoint) as it:
            assert len(it.asking.ticks) == 1  # from the start
            for later in (0, 5, 20):
                deadline = it.asking.deadline = it.asking.clock.now() + later
                it.peers.pump()
                await it.asking.ticked.wait()
                it.asking.ticked.clear()
                assert it.asking.ticks[-1] >= deadline

    run(test())


def test_moved_request_timeout_of_a_peer_counts(unused_endpoint: VoterEndpoint) -> None:
    async def test() -> None:
        async with driven(unused_endpoint) as it:
            now = it.asking.clock.now()
            it.asking.deadline = now + 3_600_000
            it.peers.pump()
            it.asking.deadline = now + 5
            it.peers.pump()
            await it.asking.ticked.wait()
            assert len(it.asking.ticks) <= 3

    run(test())


def test_a_stopped_clock_causes_no_tick_before_it_is_due(unused_endpoint: VoterEndpoint) -> None:
    async def test() -> None:
        clock = SteppedClock()
        async with driven(unused_endpoint, clock=clock) as it:
            it.asking.deadline = clock.now() + 1
            it.peers.pump()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not it.asking.ticked.is_set()
            clock.advance(1)
            it.peers.pump()
            await it.asking.ticked.wait()

    run(test())


@pytest.fixture
def unused_endpoint() -> VoterEndpoint:
    """An endpoint without a listener: the port was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return VoterEndpoint(*sock.getsockname()[:2])


async def ask_twice_at_once() -> None:
    async with scripted(well) as peer:
        _, writer = await asyncio.open_connection(*peer.endpoint)
        writer.writelines([*headers.write_request(ApiVersionsRequest(), 1, "", 3)] * 2)
        while peer.failure is None:
            await asyncio.sleep(0)
        writer.close()
        await writer.wait_closed()


def test_a_second_request_at_once_would_be_seen() -> None:
    with pytest.raises(AssertionError, match="a second request"):
        run(ask_twice_at_once())
