"""Measures consumer groups of the newer protocol (KIP-848) over raw sockets, beside Apache Kafka in
the same run.

    python -m benchmarks.groups [--groups 1000] [--members 1000] [--rounds 1] [--json]

    heartbeats    ms of server CPU per second: 1,000 groups of 5 members at the default interval
    heartbeat     ms, p50 of one heartbeat while these groups are there
    rebalance     s: a group of 1,000 members over 10,000 partitions, from the last join sent to the
                  last assignment acknowledged
    rebalance_cpu s of server CPU for the same

Goal: at most Kafka's in each. Both servers get the same requests at the same intervals: a member of
the large group heartbeats every second. Members share CONNECTIONS connections, on which a request
waits for the response of the one before.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from interop.raw import ask
from interop.real_kafka import Missing
from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.message import Message

from . import report, servers

CONNECTIONS, MEMBERS_OF_A_GROUP = 40, 5
INTERVAL_S, FAST_INTERVAL_S = 5, 1
TOPICS, PARTITIONS = 10, 1000
VERSION = 1
PATIENCE_S = 60
"""How long a server may take until the large group is balanced."""

CASES = ("heartbeats", "heartbeat", "rebalance", "rebalance_cpu")


class Connection:
    """One connection; requests take turns."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._lock = reader, writer, asyncio.Lock()
        self._correlation_id = 0

    @classmethod
    async def open(cls, bootstrap: str) -> Connection:
        host, _, port = bootstrap.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, body: Message, version: int = VERSION) -> Any:
        async with self._lock:
            self._correlation_id += 1
            self._writer.writelines(headers.write_request(body, self._correlation_id, "bench", version))
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            frame = await self._reader.readexactly(size)
        assert body.api_key is not None
        return headers.read_response(frame, body.api_key, version)[1]

    def close(self) -> None:
        self._writer.close()


class BenchMember:
    """One member of a group: joins, heartbeats, and acknowledges what it is assigned."""

    def __init__(self, connection: Connection, group_id: str, member_id: str, topics: Sequence[str]) -> None:
        self._connection, self.group_id, self.member_id, self._topics = connection, group_id, member_id, topics
        self.epoch = 0
        self._owned: dict[Any, list[int]] = {}
        self._says_owned = False

    @property
    def owned(self) -> int:
        """The number of partitions that it owns."""
        return sum(map(len, self._owned.values()))

    async def join(self) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            rebalance_timeout_ms=300_000,
            subscribed_topic_names=self._topics,
            topic_partitions=[],
        )
        self._take(await self._connection.ask(request))

    async def heartbeat(self) -> None:
        topic = ConsumerGroupHeartbeatRequest.TopicPartitions
        owned = [topic(topic_id=id, partitions=each) for id, each in self._owned.items()] if self._says_owned else None
        self._says_owned = False
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, topic_partitions=owned
        )
        self._take(await self._connection.ask(request))

    def _take(self, response: Any) -> None:
        assert not response.error_code, response
        self.epoch = response.member_epoch
        if response.assignment is not None:
            self._owned = {topic.topic_id: list(topic.partitions) for topic in response.assignment.topic_partitions}
            self._says_owned = True

    @property
    def is_acknowledged(self) -> bool:
        """Whether the coordinator knows what it owns."""
        return not self._says_owned


async def connections(bootstrap: str) -> list[Connection]:
    return [await Connection.open(bootstrap) for _ in range(CONNECTIONS)]


async def many_groups(server: servers.Server, groups: int, seconds: float) -> dict[str, float]:
    """Lets all groups heartbeat at the default interval, and measures the server meanwhile."""
    bootstrap, pid = server
    lines = await connections(bootstrap)
    names = [f"group-{at}" for at in range(groups)]
    members = [
        BenchMember(lines[(at * MEMBERS_OF_A_GROUP + index) % CONNECTIONS], name, f"{name}-{index}", ["few"])
        for at, name in enumerate(names)
        for index in range(MEMBERS_OF_A_GROUP)
    ]
    await asyncio.gather(*(member.join() for member in members))
    for _ in range(3):  # until each has its part
        await asyncio.sleep(1.1)
        await asyncio.gather(*(member.heartbeat() for member in members))
    taken: list[float] = []
    began, before = time.perf_counter(), servers.cpu_seconds(pid)
    await asyncio.gather(*(beat(member, at / len(members), seconds, taken) for at, member in enumerate(members)))
    spent, passed = servers.cpu_seconds(pid) - before, time.perf_counter() - began
    for line in lines:
        line.close()
    return {"heartbeats": spent * 1000 / passed, "heartbeat": statistics.median(taken)}


async def beat(member: BenchMember, phase: float, seconds: float, taken: list[float]) -> None:
    await asyncio.sleep(phase * INTERVAL_S)
    for _ in range(max(1, int(seconds / INTERVAL_S))):
        start = time.perf_counter()
        await member.heartbeat()
        taken.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(max(0.0, INTERVAL_S - (time.perf_counter() - start)))


async def large_group(server: servers.Server, count: int, turn: int) -> dict[str, float]:
    """Lets one large group join, and measures until every assignment is acknowledged."""
    bootstrap, pid = server
    lines = await connections(bootstrap)
    topics = [f"wide-{at}" for at in range(TOPICS)]
    members = [BenchMember(lines[at % CONNECTIONS], f"large-{turn}", f"member-{at}", topics) for at in range(count)]
    before = servers.cpu_seconds(pid)
    await asyncio.gather(*(member.join() for member in members))
    joined = time.perf_counter()
    while not is_balanced(members):
        start = time.perf_counter()
        await asyncio.gather(*(member.heartbeat() for member in members))
        assert start - joined < PATIENCE_S, f"after {start - joined:.0f} s the group is not balanced"
        if not is_balanced(members):
            await asyncio.sleep(max(0.0, FAST_INTERVAL_S - (time.perf_counter() - start)))
    figures = {"rebalance": time.perf_counter() - joined, "rebalance_cpu": servers.cpu_seconds(pid) - before}
    for line in lines:
        line.close()
    return figures


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


def measure(groups: int, members: int, seconds: float, rounds: int) -> dict[str, dict[str, list[float]]]:
    """The figures of each server; of a real Kafka only where it can run."""
    with ExitStack() as stack:
        running = {"ours": stack.enter_context(servers.ours())}
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        figures: dict[str, dict[str, list[float]]] = {name: {case: [] for case in CASES} for name in running}
        for bootstrap, _ in running.values():
            create_topics(bootstrap)
        for turn in range(rounds + 1):  # the first one warms up
            for name, server in running.items():
                found = asyncio.run(large_group(server, members, turn))
                if turn:
                    add(figures[name], found)
        for name, server in running.items():
            add(figures[name], asyncio.run(many_groups(server, groups, seconds)))
        return figures


def add(figures: dict[str, list[float]], found: dict[str, float]) -> None:
    for case, value in found.items():
        figures[case].append(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.groups, arguments.members, arguments.seconds, arguments.rounds)
    table = report.Table("groups", "ms or s, see the head of the program")
    for case in CASES:
        medians = {name: statistics.median(each[case]) for name, each in figures.items()}
        table.add(case, medians.pop("ours"), medians)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
