"""Measures share groups (KIP-932) over a raw socket, beside Apache Kafka in the same run.

    python -m benchmarks.share [--records 200000] [--rounds 3] [--json]

    records    thousands of records a second that one member fetches and acknowledges
    cpu        ms of server CPU per thousand records

Goal: at least Kafka's records, at most Kafka's CPU. The member acknowledges what it acquired with
its next ShareFetch, as clients do; a round reads a new topic from the start.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from contextlib import ExitStack
from random import Random
from typing import Any

from interop.real_kafka import Missing
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.messages.uuid import Uuid
from tests.support.client import ask, topic_id

from . import report, servers
from .group_members import Connection
from .throughput import create, produce

GROUP_RESOURCE, SET = 32, 0
ACCEPT = 1
FETCH_VERSION = 1
PAUSE_S = 0.1

CASES = ("records", "cpu")

Range = tuple[int, int]
"""The first and the last of some offsets."""


class BenchShareMember:
    """One member of a share group that reads one partition."""

    def __init__(self, connection: Connection, group_id: str, topic: str, id: Uuid, member_id: str) -> None:
        self._connection, self._group_id, self._topic, self._topic_id = connection, group_id, topic, id
        self._member_id, self._epoch, self._session_epoch = member_id, 0, 0

    async def join(self) -> None:
        """Waits until the partition is assigned."""
        assigned = False
        while not assigned:
            request = ShareGroupHeartbeatRequest(
                group_id=self._group_id,
                member_id=self._member_id,
                member_epoch=self._epoch,
                subscribed_topic_names=None if self._epoch else [self._topic],
            )
            response = await self._connection.ask(request)
            if response.error_code in (error_codes.NOT_COORDINATOR, error_codes.COORDINATOR_LOAD_IN_PROGRESS):
                await asyncio.sleep(PAUSE_S)
                continue
            assert not response.error_code, response
            self._epoch = response.member_epoch
            assigned = response.assignment is not None and bool(response.assignment.topic_partitions)
            if not assigned:
                await asyncio.sleep(PAUSE_S)

    async def fetch(self, acquired: list[Range]) -> list[Range]:
        """Acknowledges what was acquired before, and acquires more."""
        of = ShareFetchRequest
        partition = of.FetchPartition(
            partition_index=0,
            acknowledgement_batches=[
                of.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[ACCEPT])
                for first, last in acquired
            ],
        )
        request = of(
            group_id=self._group_id,
            member_id=self._member_id,
            share_session_epoch=self._session_epoch,
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=52_428_800,
            max_records=500,
            batch_size=500,
            topics=[of.FetchTopic(topic_id=self._topic_id, partitions=[partition])],
        )
        response = await self._connection.ask(request, FETCH_VERSION)
        assert not response.error_code, response
        self._session_epoch += 1
        return [
            _range(each) for topic in response.responses for one in topic.partitions for each in one.acquired_records
        ]


def _range(acquired: Any) -> Range:
    return acquired.first_offset, acquired.last_offset


async def drain(server: servers.Server, topic: str, records: int) -> dict[str, float]:
    """Fetches and acknowledges all records of a topic."""
    bootstrap, pid = server
    connection = await Connection.open(bootstrap)
    member_id = str(Uuid.random(Random(topic).randbytes))
    member = BenchShareMember(connection, topic, topic, topic_id(bootstrap, topic), member_id)
    await member.join()
    acquired: list[Range] = []
    left, began, before = records, time.perf_counter(), servers.cpu_seconds(pid)
    while left > 0:
        acquired = await member.fetch(acquired)
        left -= sum(last - first + 1 for first, last in acquired)
    await member.fetch(acquired)
    passed, spent = time.perf_counter() - began, servers.cpu_seconds(pid) - before
    connection.close()
    return {"records": records / passed / 1000, "cpu": spent * 1_000_000 / records}


def read_from_the_start(bootstrap: str, group: str) -> None:
    of = IncrementalAlterConfigsRequest
    config = of.AlterableConfig(name="share.auto.offset.reset", config_operation=SET, value="earliest")
    resource = of.AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group, configs=[config])
    response = ask(bootstrap, of(resources=[resource]), 1)
    assert not response.responses[0].error_code, response
    while ask(bootstrap, FindCoordinatorRequest(coordinator_keys=[group]), 4).coordinators[0].error_code:
        time.sleep(PAUSE_S)


def measure(records: int, rounds: int) -> dict[str, dict[str, list[float]]]:
    """The figures of each server; of a real Kafka only where it can run."""
    with ExitStack() as stack:
        running = {"ours": stack.enter_context(servers.ours())}
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        figures: dict[str, dict[str, list[float]]] = {name: {case: [] for case in CASES} for name in running}
        for turn in range(rounds + 1):  # the first one warms up
            for name, server in running.items():
                topic = f"share-{turn}"
                create(server[0], topic)
                produce(server[0], topic, records)
                read_from_the_start(server[0], topic)
                found = asyncio.run(drain(server, topic, records))
                for case in CASES if turn else ():
                    figures[name][case].append(found[case])
        return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.records, arguments.rounds)
    table = report.Table("share", "see the head of the program")
    for case in CASES:
        medians = {name: statistics.median(figure[case]) for name, figure in figures.items()}
        table.add(case, medians.pop("ours"), medians)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
