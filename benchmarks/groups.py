"""Measures consumer groups of the newer protocol (KIP-848) and streams groups (KIP-1071) over raw
sockets, beside Apache Kafka in the same run.

    python -m benchmarks.groups [--types consumer streams] [--groups 1000] [--members 1000]
                                [--rounds 1] [--json]

    For each type of group:
    heartbeats    ms of server CPU per second: 1,000 groups of 5 members at the default interval
    heartbeat     ms, p50 of one heartbeat while these groups are there
    rebalance     s: a group of 1,000 members over 10,000 partitions or tasks, from the last join
                  sent to the last assignment acknowledged
    rebalance_cpu s of server CPU from the first join on

Goal: at most Kafka's in each. Both servers get the same requests at the same intervals: a member of
the large group heartbeats every second. Figures are medians of the rounds. Members share
CONNECTIONS connections.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager

from interop.real_kafka import Missing
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from tests.support.client import ask

from . import report, servers
from .group_members import MEMBERS, BenchMember, Connection

CONNECTIONS, MEMBERS_OF_A_GROUP = 40, 5
INTERVAL_S, FAST_INTERVAL_S = 5, 1
TOPICS, PARTITIONS = 10, 1000
PATIENCE_S = 60
"""How long a server may take until the large group is balanced."""

CASES = ("heartbeats", "heartbeat", "rebalance", "rebalance_cpu")

Figures = dict[str, list[float]]
"""The figures of one server, by type of group and case."""


@asynccontextmanager
async def members_of(
    server: servers.Server, type: str, ids: Iterable[tuple[str, str]], topics: Sequence[str]
) -> AsyncIterator[list[BenchMember]]:
    """Members with these group and member ids that have joined. They leave at the end."""
    lines = [await Connection.open(server[0]) for _ in range(CONNECTIONS)]
    members = [MEMBERS[type](lines[at % CONNECTIONS], *each, topics) for at, each in enumerate(ids)]
    await asyncio.gather(*(member.join() for member in members))
    yield members
    await asyncio.gather(*(member.leave() for member in members))
    for line in lines:
        line.close()


async def many_groups(server: servers.Server, type: str, groups: int, turn: int, seconds: float) -> dict[str, float]:
    """Lets all groups heartbeat at the default interval, and measures the server meanwhile."""
    names = [f"{type}-{turn}-{at}" for at in range(groups)]
    ids = ((name, f"{name}-{index}") for name in names for index in range(MEMBERS_OF_A_GROUP))
    async with members_of(server, type, ids, ["few"]) as members:
        for _ in range(SETTLING[type]):  # until each has its part
            await asyncio.sleep(1.1)
            await asyncio.gather(*(member.heartbeat() for member in members))
        assert {member.owned for member in members} == {1}
        taken: list[float] = []
        began, before = time.perf_counter(), servers.cpu_seconds(server[1])
        await asyncio.gather(*(beat(member, at / len(members), seconds, taken) for at, member in enumerate(members)))
        spent, passed = servers.cpu_seconds(server[1]) - before, time.perf_counter() - began
    return {"heartbeats": spent * 1000 / passed, "heartbeat": statistics.median(taken)}


SETTLING = {"consumer": 3, "streams": 6}
"""Heartbeats until a group is balanced: the first assignment of a streams group comes 3 s after its
first member."""


async def beat(member: BenchMember, phase: float, seconds: float, taken: list[float]) -> None:
    await asyncio.sleep(phase * INTERVAL_S)
    for _ in range(max(1, int(seconds / INTERVAL_S))):
        start = time.perf_counter()
        await member.heartbeat()
        taken.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(max(0.0, INTERVAL_S - (time.perf_counter() - start)))


async def large_group(server: servers.Server, type: str, count: int, turn: int) -> dict[str, float]:
    """Lets one large group join, and measures until every assignment is acknowledged."""
    ids = ((f"large-{type}-{turn}", f"member-{at}") for at in range(count))
    before = servers.cpu_seconds(server[1])
    async with members_of(server, type, ids, [f"wide-{at}" for at in range(TOPICS)]) as members:
        joined = time.perf_counter()
        while not is_balanced(members):
            start = time.perf_counter()
            await asyncio.gather(*(member.heartbeat() for member in members))
            assert start - joined < PATIENCE_S, f"after {start - joined:.0f} s the group is not balanced"
            if not is_balanced(members):
                await asyncio.sleep(max(0.0, FAST_INTERVAL_S - (time.perf_counter() - start)))
        return {"rebalance": time.perf_counter() - joined, "rebalance_cpu": servers.cpu_seconds(server[1]) - before}


def is_balanced(members: Sequence[BenchMember]) -> bool:
    """Whether every member has acknowledged its part of one assignment."""
    epochs = {member.epoch for member in members}
    least, more = divmod(TOPICS * PARTITIONS, len(members))
    counts = {member.owned for member in members}
    return len(epochs) == 1 and counts <= {least, least + bool(more)} and all(m.is_acknowledged for m in members)


def create_topics(bootstrap: str) -> None:
    counts = {"few": MEMBERS_OF_A_GROUP} | {f"wide-{at}": PARTITIONS for at in range(TOPICS)}
    topic = CreateTopicsRequest.CreatableTopic
    for name, count in counts.items():  # Kafka takes at most 10,000 partitions in one request
        topics = [topic(name=name, num_partitions=count, replication_factor=1)]
        response = ask(bootstrap, CreateTopicsRequest(topics=topics, timeout_ms=60_000), 7)
        assert not response.topics[0].error_code, response
    wait_for_coordinator(bootstrap)


def wait_for_coordinator(bootstrap: str) -> None:
    """The first lookup creates the topic of the groups."""
    lookup = FindCoordinatorRequest(coordinator_keys=["any"])
    unknown = ConsumerGroupHeartbeatRequest(group_id="any", member_id="any", member_epoch=1)
    while ask(bootstrap, lookup, 4).coordinators[0].error_code:
        time.sleep(0.2)
    while ask(bootstrap, unknown, 1).error_code != error_codes.GROUP_ID_NOT_FOUND:
        time.sleep(0.2)


def measure(arguments: argparse.Namespace) -> dict[str, Figures]:
    """The figures of each server; of a real Kafka only where it can run."""
    with ExitStack() as stack:
        running = {"ours": stack.enter_context(servers.ours())}
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        for bootstrap, _ in running.values():
            create_topics(bootstrap)
        figures: dict[str, Figures] = {name: {} for name in running}
        for type in arguments.types:
            for turn in range(arguments.rounds + 1):  # the first one warms up
                for name, server in running.items():
                    found = asyncio.run(large_group(server, type, arguments.members, turn))
                    if turn:
                        add(figures[name], type, found)
            for turn in range(arguments.rounds):
                for name, server in running.items():
                    found = asyncio.run(many_groups(server, type, arguments.groups, turn, arguments.seconds))
                    add(figures[name], type, found)
        return figures


def add(figures: Figures, type: str, found: dict[str, float]) -> None:
    for case, value in found.items():
        figures.setdefault(f"{type} {case}", []).append(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--types", nargs="+", choices=MEMBERS, default=[*MEMBERS])
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments)
    table = report.Table("groups", "ms or s, see the head of the program")
    for case in (f"{type} {case}" for type in arguments.types for case in CASES):
        runs = {name: figure[case] for name, figure in figures.items()}
        if arguments.rounds > 1:
            table.add_runs(case, runs.pop("ours"), runs)
        else:
            (ours,) = runs.pop("ours")
            table.add(case, ours, {name: values[0] for name, values in runs.items()})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
