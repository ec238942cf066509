"""An observer of one of our quorums, over sockets: what it shows, which failures it survives, and
why it stops."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.observe.watching import NoQuorum, WatchOptions, observe
from kafkadouble.server.metadata.image_records import encoded_records_of
from kafkadouble.server.network.clock import SteppedClock
from tests.front.observe.calling import Watching, at, called, fetchers, has, named, seen
from tests.front.observe.made import START, fill
from tests.support import served_replica
from tests.support.served_replica import CLUSTER, leader_of, served

ROOT = Path(__file__).resolve().parents[3]


async def test_observer_writes_tables(capsys: pytest.CaptureFixture[str]) -> None:
    clock = SteppedClock(START)
    async with served(1, clock) as (member,):
        fill(member, clock)
        assert await called(at(member)) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert output.out.startswith(f"Cluster\n  cluster id        {CLUSTER}\n  leader            1 in epoch 1\n")
    assert "  orders  1          1       1             2                2,1       1,2\n" in output.out
    rows = [line.split() for line in output.out.splitlines() if " orders-0 " in line]
    assert rows == [
        ["8", "1", "2023-11-14T22:13:24.000Z", "orders-0", "created", "1", "0", "0", "1,2"],
        ["10", "1", "2023-11-14T22:13:25.000Z", "orders-0", "shrinks", "1", "0", "1", "1,2", "->", "1"],
        ["12", "1", "2023-11-14T22:13:27.000Z", "orders-0", "grows", "1", "0", "2", "1", "->", "1,2"],
    ]
    assert all(line == line.rstrip() for line in output.out.splitlines())


async def test_observer_returns_objects(capsys: pytest.CaptureFixture[str]) -> None:
    clock = SteppedClock(START)
    async with served(1, clock) as (member,):
        fill(member, clock)
        assert await called("--json", at(member)) == 0
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
async def test_every_version_of_fetch(version: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Up to version 16 no response contains the leader's address: the observer looks for the leader
    among the given addresses."""

    async with served(3, versions={ApiKeys.FETCH: version}) as members:
        leader = await leader_of(members)
        leader.append(named(1))
        assert await called("--json", at(*members)) == 0
        requested = [each.version for member in members for each in member.requested if each.api_key == ApiKeys.FETCH]
        assert set(requested) == {version}
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["data"]["name"] for each in objects if each.get("type") == "TopicRecord"] == ["topic-1"]


async def test_a_fresh_one_begins_with_a_snapshot_and_goes_on_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    clock = SteppedClock(START)
    async with served(1, clock) as (member,):
        fill(member, clock)
        image = await seen(member)
        id = member.snapshot(list(encoded_records_of(image.view.image)))
        member.append(named(7))
        assert await called(at(member)) == 0
        assert id.offset == 14
    out = capsys.readouterr().out
    assert "  begun with        a snapshot up to offset 14\n" in out
    assert "\nLeaders and ISRs, as they changed (nothing since the snapshot up to offset 14)\n  (none)\n" in out
    assert re.search(r"^  orders  +AAECAwQFBgcICQoLDA0ODw +2$", out, re.MULTILINE)
    assert re.search(r"^  topic-7 ", out, re.MULTILINE)


async def test_observer_follows_the_quorum_when_the_leader_is_lost() -> None:
    async with served(3) as members:
        first = await leader_of(members)
        first.append(named(1))
        watching = Watching(*members)
        await watching.until(has("topic-1"))
        await first.stop()
        second = await leader_of([member for member in members if member is not first])
        second.append(named(2))
        observer = await watching.until(has("topic-2"))
        await watching.until(lambda it: it.quorum.leader_id == second.id)
        assert observer.replica.leader_id == second.id
        offsets = [change.place.offset for change in observer.view.changes]
        assert offsets == sorted(set(offsets))
        await watching.end()


async def test_observer_does_not_show_uncommitted_records() -> None:
    """A leader without its followers sends uncommitted records to the observer, and they may never
    be committed."""

    async with served(3) as members:
        leader = await leader_of(members)
        leader.append(named(1))
        watching = Watching(*members)
        observer = await watching.until(has("topic-1"))
        for member in members:
            if member is not leader:
                await member.stop()
        leader.append(named(2))
        await watching.until(lambda it: it.replica.log.end_offset > it.view.end.offset)
        assert "topic-2" not in observer.view.image.topic_ids
        assert observer.replica.log.high_watermark == observer.view.end.offset == leader.replica.log.high_watermark
        await watching.end()


async def test_observer_keeps_only_the_end_of_the_metadata_log() -> None:
    async with served() as (member,):
        watching = Watching(member)
        for number in range(20):
            member.append(named(number))
            observer = await watching.until(has(f"topic-{number}"))
            log = observer.replica.log
            assert log.end_offset - log.start_offset <= 1
        assert observer.view.end.offset == log.end_offset
        await watching.end()


async def test_a_snapshot_on_the_way_takes_the_place_of_the_one_before() -> None:
    """The leader's log begins after the end of a slow observer's log."""

    async with served() as (member,):
        member.append(named(1))
        watching = Watching(member)
        observer = await watching.until(has("topic-1"))
        await watching.end()
        for number in (2, 3):
            member.append(named(number))
            image = (await seen(member)).view.image
            member.snapshot(list(encoded_records_of(image)))
        member.replica.log.move_start(member.snapshots.ids()[-1])
        later = await seen(member)
        assert later.view.snapshot == member.snapshots.ids()[-1]
        assert sorted(later.view.image.topic_ids) == ["topic-1", "topic-2", "topic-3"]
        assert len(later._store.ids()) == 1
        assert observer.view.snapshot is None


async def test_a_given_id_is_shown_among_the_observers() -> None:
    async with served() as (member,):
        member.append(named(1))
        watching = Watching(member, replica_id=4711)
        await watching.until(lambda it: it.replica.key.id == 4711)
        member.append(named(2))
        await watching.until(has("topic-2"))
        await watching.until(lambda _: fetchers(member)[-1] == 4711)
        assert fetchers(member)[0] == -1
        again = await seen(member)
        assert [member.id for member in again.quorum.members if not member.is_voter] == [4711]
        with pytest.raises(NoQuorum, match="4711 is the id of a node"):
            await observe(WatchOptions([member.endpoint], 4711), lambda _: None)
        await watching.end()


async def test_the_id_of_a_voter_is_never_used(capsys: pytest.CaptureFixture[str]) -> None:
    async with served() as (member,):
        assert await called("--replica-id", "1", at(member)) == 1
        assert set(fetchers(member)) == {-1}
    message = "kafkadouble observe: 1 is the id of a node of this cluster: an observer needs one of its own\n"
    assert capsys.readouterr() == ("", message)


async def test_an_id_of_an_unknown_node_is_not_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served_replica, "SERVED", (1, 18, 59))

    async with served() as (member,):
        assert await called("--replica-id", "7", at(member)) == 1
        assert set(fetchers(member)) == {-1}
        capsys.readouterr()
        assert await called(at(member)) == 0
    assert "  cluster id        unknown\n  leader            unknown\n" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_observer_ends_cleanly_while_it_watches(number: signal.Signals) -> None:
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


async def test_a_reader_that_has_seen_enough() -> None:
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
