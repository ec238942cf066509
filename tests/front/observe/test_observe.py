"""An observer of a quorum of our own, over sockets: what it shows, what it goes on by, and why it stops."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.observe.observer import Observer
from kafkadouble.observe.watching import NoQuorum, Wanted, observe
from kafkadouble.server.clock import SteppedClock
from kafkadouble.server.metadata.image_records import values_of
from kafkadouble.server.raft.follower import Follower
from kafkadouble.server.raft.leader import Leader
from kafkadouble.server.raft.voters import Endpoint
from tests.front.observe.made import START, fill
from tests.front.serving import serving
from tests.support.asking import run
from tests.support.scripted_peer import Line, scripted
from tests.support.served_replica import CLUSTER, ServedReplica, leader_of, served

ROOT = Path(__file__).resolve().parents[3]


async def called(*words: str) -> int:
    """The verb, on a thread of its own: its event loop is another one."""
    return await asyncio.to_thread(main, ["observe", *words])


def at(*members: ServedReplica) -> str:
    return ",".join("{}:{}".format(*each.endpoint) for each in members)


def named(number: int) -> TopicRecord:
    return TopicRecord(name=f"topic-{number}", topic_id=Uuid(number.to_bytes(16, "big")))


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        clock = SteppedClock(START)
        async with served(1, clock) as (member,):
            fill(member, clock)
            assert await called(at(member)) == 0

    run(test())
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.startswith(f"Cluster\n  cluster id        {CLUSTER}\n  leader            1 in epoch 1\n")
    assert "  orders  1          1       1             2                2,1       1,2\n" in told.out
    rows = [line.split() for line in told.out.splitlines() if " orders-0 " in line]
    assert rows == [
        ["8", "1", "2023-11-14T22:13:24.000Z", "orders-0", "created", "1", "0", "0", "1,2"],
        ["10", "1", "2023-11-14T22:13:25.000Z", "orders-0", "shrinks", "1", "0", "1", "1,2", "->", "1"],
        ["12", "1", "2023-11-14T22:13:27.000Z", "orders-0", "grows", "1", "0", "2", "1", "->", "1,2"],
    ]
    assert all(line == line.rstrip() for line in told.out.splitlines())


def test_objects(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        clock = SteppedClock(START)
        async with served(1, clock) as (member,):
            fill(member, clock)
            assert await called("--json", at(member)) == 0

    run(test())
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["kind"] for each in objects] == ["control", *["record"] * 13, "quorum"]
    assert [each["offset"] for each in objects[:-1]] == list(range(14))
    assert objects[1] == {
        "kind": "record",
        "offset": 1,
        "epoch": 1,
        "timestamp": START + 1000,
        "type": "FeatureLevelRecord",
        "version": 0,
        "data": {"name": "metadata.version", "featureLevel": 33},
    }
    assert (objects[-1]["clusterId"], objects[-1]["leaderId"], objects[-1]["highWatermark"]) == (CLUSTER, 1, 14)


@pytest.mark.parametrize("version", range(13, 19))
def test_every_version_of_fetch(version: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Up to 16 no answer says where the leader is: it is looked for among those that were named."""

    async def test() -> None:
        async with served(3, versions={1: version}) as members:
            leader = await leader_of(members)
            leader.append(named(1))
            assert await called("--json", at(*members)) == 0
            asked = [each.version for member in members for each in member.asked if each.api_key == 1]
            assert set(asked) == {version}

    run(test())
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["data"]["name"] for each in objects if each.get("type") == "TopicRecord"] == ["topic-1"]


def test_a_fresh_one_begins_with_a_snapshot_and_goes_on_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        clock = SteppedClock(START)
        async with served(1, clock) as (member,):
            fill(member, clock)
            image = await seen(member)
            id = member.snapshot(list(values_of(image.view.image)))
            member.append(named(7))
            assert await called(at(member)) == 0
            assert id.offset == 14

    run(test())
    out = capsys.readouterr().out
    assert "  begun with        a snapshot up to offset 14\n" in out
    assert "\nLeaders and ISRs, as they changed (nothing since the snapshot up to offset 14)\n  (none)\n" in out
    assert re.search(r"^  orders  +AAECAwQFBgcICQoLDA0ODw +2$", out, re.MULTILINE)
    assert re.search(r"^  topic-7 ", out, re.MULTILINE)


async def seen(member: ServedReplica) -> Observer:
    """What an observer of it has once it has read everything."""
    found: list[Observer] = []
    await observe(Wanted([member.endpoint]), found.append)
    return found[0]


class Watching:
    """An observer that goes on until the test has seen what it waits for."""

    def __init__(self, *members: ServedReplica, replica_id: int = -1) -> None:
        self._wanted = Wanted([each.endpoint for each in members], replica_id, timeout=20)
        self._moved = asyncio.Event()
        self.observer: Observer | None = None
        self._task = asyncio.get_running_loop().create_task(observe(self._wanted, self._told, self._told))

    def _told(self, observer: Observer) -> None:
        self.observer = observer
        self._moved.set()

    async def until(self, holds: Callable[[Observer], bool]) -> Observer:
        while self.observer is None or not holds(self.observer):
            self._moved.clear()
            await self._moved.wait()
        return self.observer

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def has(name: str) -> Callable[[Observer], bool]:
    return lambda observer: name in observer.view.image.topic_ids


def test_it_follows_the_quorum_when_the_leader_is_gone() -> None:
    async def test() -> None:
        async with served(3) as members:
            first = await leader_of(members)
            first.append(named(1))
            watching = Watching(*members)
            await watching.until(has("topic-1"))
            await first.stop()
            second = await leader_of([each for each in members if each is not first])
            second.append(named(2))
            observer = await watching.until(has("topic-2"))
            await watching.until(lambda it: it.quorum.leader_id == second.id)
            assert observer.replica.leader_id == second.id
            offsets = [each.place.offset for each in observer.view.changes]
            assert offsets == sorted(set(offsets))
            await watching.end()

    run(test())


def test_it_keeps_no_more_of_the_log_than_its_end() -> None:
    async def test() -> None:
        async with served() as (member,):
            watching = Watching(member)
            for number in range(20):
                member.append(named(number))
                observer = await watching.until(has(f"topic-{number}"))
                log = observer.replica.log
                assert log.end_offset - log.start_offset <= 1
            assert observer.view.end.offset == log.end_offset
            await watching.end()

    run(test())


def test_a_snapshot_on_the_way_takes_the_place_of_the_one_before() -> None:
    """The leader's log begins behind where a slow observer is."""

    async def test() -> None:
        async with served() as (member,):
            member.append(named(1))
            watching = Watching(member)
            observer = await watching.until(has("topic-1"))
            await watching.end()
            for number in (2, 3):
                member.append(named(number))
                image = (await seen(member)).view.image
                member.snapshot(list(values_of(image)))
            member.replica.log.move_start(member.snapshots.ids()[-1])
            later = await seen(member)
            assert later.view.snapshot == member.snapshots.ids()[-1]
            assert sorted(later.view.image.topic_ids) == ["topic-1", "topic-2", "topic-3"]
            assert len(later._store.ids()) == 1
            assert observer.view.snapshot is None

    run(test())


def fetchers(member: ServedReplica) -> list[int]:
    return [each.body.replica_state.replica_id for each in member.asked if each.api_key == 1]


def test_a_given_id_is_shown_among_the_observers() -> None:
    async def test() -> None:
        async with served() as (member,):
            member.append(named(1))
            watching = Watching(member, replica_id=4711)
            await watching.until(lambda it: it.replica.key.id == 4711)
            member.append(named(2))
            await watching.until(has("topic-2"))
            await watching.until(lambda _: fetchers(member)[-1] == 4711)
            assert fetchers(member)[0] == -1
            again = await seen(member)
            assert [each.id for each in again.quorum.members if not each.is_voter] == [4711]
            with pytest.raises(NoQuorum, match="4711 is the id of a node"):
                await observe(Wanted([member.endpoint], 4711), lambda _: None)
            await watching.end()

    run(test())


def test_the_id_of_a_voter_is_never_used(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        async with served() as (member,):
            assert await called("--replica-id", "1", at(member)) == 1
            assert set(fetchers(member)) == {-1}

    run(test())
    said = "kafkadouble observe: 1 is the id of a node of this cluster: an observer needs one of its own\n"
    assert capsys.readouterr() == ("", said)


# Where there is nothing to observe.


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence that a call ends with."""
    assert main(["observe", *words]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err.strip()


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


def test_something_else_that_listens(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        async def script(line: Line) -> None:
            await line.raw(b"SSH-2.0-OpenSSH_9.2\r\n")
            await line.gone()

        async with scripted(script) as peer:
            assert await called("--timeout", "0.4", "{}:{}".format(*peer.endpoint)) == 1

    run(test())
    assert "no leader of a quorum was found within 0.4 s; 127.0.0.1:" in (err := capsys.readouterr().err)
    assert "it sends a frame of" in err


def test_a_quorum_without_a_leader(capsys: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        async with served(3) as members:
            for each in members[1:]:
                await each.stop()
            assert await called("--timeout", "0.5", at(members[0])) == 1

    run(test())
    assert capsys.readouterr().err.endswith(": knows of no leader\n")


def test_a_leader_that_cannot_be_reached_where_he_says_he_is(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        wrong = Endpoint(*sock.getsockname()[:2])

    async def tells(line: Line) -> None:
        await line.agree()
        of = FetchResponse
        leader = of.LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
        fenced = of.PartitionData(error_code=error_codes.FENCED_LEADER_EPOCH, current_leader=leader, high_watermark=-1)
        topic = of.FetchableTopicResponse(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[fenced])
        endpoint = of.NodeEndpoint(node_id=2, host=wrong.host, port=wrong.port)
        while True:
            head, _ = await line.request()
            await line.answer(head, of(responses=[topic], node_endpoints=[endpoint]))

    async def test() -> None:
        async with scripted(tells) as peer:
            assert await called("--timeout", "0.5", "{}:{}".format(*peer.endpoint)) == 1

    run(test())
    assert capsys.readouterr().err == (
        f"kafkadouble observe: the leader, node 2 at 127.0.0.1:{wrong.port}, did not tell everything within 0.5 s: "
        "connection refused\n"
    )


def test_a_leader_that_is_elsewhere_than_he_says_is_observed_where_he_was_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As behind a forwarded port."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        wrong = Endpoint(*sock.getsockname()[:2])

    async def test() -> None:
        async with served() as (member,):
            state = member.replica.state
            assert isinstance(state, Leader)
            state.leader_endpoints = {"CONTROLLER": wrong}
            assert await called(at(member)) == 0

    run(test())
    assert f"cluster id        {CLUSTER}\n" in capsys.readouterr().out


def test_a_quorum_that_has_lost_what_it_had_committed() -> None:
    """Another cluster at the same address, say: what was read there is not what the leader has."""

    async def test() -> None:
        async with served() as (member,):
            for number in range(5):
                member.append(named(number))
            watching = Watching(member)
            observer = await watching.until(has("topic-4"))
            log = member.replica.log
            log.log.truncate_to(2)
            with pytest.raises(NoQuorum, match="the log would be cut at 2, and it is committed up to 6"):
                await watching._task
            assert isinstance(observer.replica.state, Follower)

    run(test())


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
def test_wrong_calls(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["observe", *words])
    assert capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watching_ends_cleanly(number: signal.Signals) -> None:
    async def test() -> None:
        async with served() as (member,):
            process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-m", "kafkadouble", "observe", "--watch", at(member)],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            assert process.stdout is not None
            while b"Leaders and ISRs" not in await process.stdout.readline():
                pass
            member.append(named(3))
            while b"topic topic-3 is created" not in await process.stdout.readline():
                pass
            process.send_signal(number)
            _, err = await process.communicate()
            assert (process.returncode, err) == (0, b"")

    run(test())


def test_a_reader_that_has_seen_enough() -> None:
    async def test() -> None:
        async with served() as (member,):
            reader, writer = os.pipe()
            process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-m", "kafkadouble", "observe", "--watch", "--json", at(member)],
                cwd=ROOT,
                stdout=writer,
                stderr=subprocess.PIPE,
            )
            os.close(writer)
            assert await asyncio.to_thread(os.read, reader, 10)
            os.close(reader)
            member.append(named(1))
            _, err = await process.communicate()
            assert (process.returncode, err) == (0, b"")

    run(test())
