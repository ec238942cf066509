"""Where there is nothing to observe, or no longer: one sentence, and exit code 1."""

from __future__ import annotations

import socket

import pytest

from kafkadouble.__main__ import main
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.observe.watching import NoQuorum
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.voters import VoterEndpoint
from tests.front.observe.calling import Watching, at, called, has, named
from tests.support.scripted_peer import Line, scripted
from tests.support.served_replica import CLUSTER, served
from tests.support.serving import serving


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that a call ends with."""
    assert main(["observe", *words]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err.strip()


def test_a_quorum_that_cannot_be_reached(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    assert refusal(["--timeout", "0.3", f"127.0.0.1:{port}"], capsys) == (
        f"kafkadouble observe: no leader of a quorum was found within 0.3 s; 127.0.0.1:{port}: connection refused"
    )


def test_a_listener_of_a_broker(capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as broker:
        host, port = broker.address
        assert refusal([f"{host}:{port}"], capsys) == (
            f"kafkadouble observe: {host}:{port} is a listener of a broker: a quorum is observed at a listener of a "
            "controller (controller.listener.names)"
        )


async def test_observe_reports_a_server_that_is_no_controller(capsys: pytest.CaptureFixture[str]) -> None:
    async def script(line: Line) -> None:
        await line.raw(b"SSH-2.0-OpenSSH_9.2\r\n")
        await line.closed()

    async with scripted(script) as peer:
        assert await called("--timeout", "0.4", "{}:{}".format(*peer.endpoint)) == 1
    assert "no leader of a quorum was found within 0.4 s; 127.0.0.1:" in (err := capsys.readouterr().err)
    assert "it sends a frame of" in err


async def test_a_quorum_without_a_leader(capsys: pytest.CaptureFixture[str]) -> None:
    async with served(3) as members:
        for member in members[1:]:
            await member.stop()
        assert await called("--timeout", "0.5", at(members[0])) == 1
    assert capsys.readouterr().err.endswith(": has found no leader\n")


async def test_a_leader_that_cannot_be_reached_at_its_own_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        wrong = VoterEndpoint(*sock.getsockname()[:2])

    async def answers_fenced(line: Line) -> None:
        await line.agree()
        of = FetchResponse
        leader = of.LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
        fenced = of.PartitionData(error_code=error_codes.FENCED_LEADER_EPOCH, current_leader=leader, high_watermark=-1)
        topic = of.FetchableTopicResponse(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[fenced])
        endpoint = of.NodeEndpoint(node_id=2, host=wrong.host, port=wrong.port)
        while True:
            head, _ = await line.request()
            await line.answer(head, of(responses=[topic], node_endpoints=[endpoint]))

    async with scripted(answers_fenced) as peer:
        assert await called("--timeout", "0.5", "{}:{}".format(*peer.endpoint)) == 1
    assert capsys.readouterr().err == (
        f"kafkadouble observe: the leader, node 2 at 127.0.0.1:{wrong.port}, did not send the whole log within 0.5 s: "
        "connection refused\n"
    )


async def test_a_leader_with_a_wrong_endpoint_is_observed_at_the_given_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As behind a forwarded port."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        wrong = VoterEndpoint(*sock.getsockname()[:2])

    async with served() as (member,):
        state = member.replica.state
        assert isinstance(state, LeaderState)
        state.leader_endpoints = {"CONTROLLER": wrong}
        assert await called(at(member)) == 0
    assert f"cluster id        {CLUSTER}\n" in capsys.readouterr().out


async def test_a_quorum_that_has_lost_what_it_had_committed() -> None:
    """Another cluster at the same address, say: what was read there is not what the leader has."""

    async with served() as (member,):
        for number in range(5):
            member.append(named(number))
        watching = Watching(member)
        observer = await watching.until(has("topic-4"))
        log = member.replica.log
        log.log.truncate_to(2)
        with pytest.raises(NoQuorum, match="the log would be cut at 2, and it is committed up to 6"):
            await watching._task
        assert isinstance(observer.replica.state, FollowerState)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["localhost"],
        ["localhost:0"],
        ["localhost:x"],
        ["localhost:70000"],
        [":9093"],
        ["a:1", "--timeout", "0"],
        ["a:1", "--timeout", "nan"],
        ["a:1", "--replica-id", "-2"],
        ["a:1", "b:2"],
    ],
)
def test_observe_with_wrong_arguments_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["observe", *words])
    assert capsys.readouterr().err
