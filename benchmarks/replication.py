"""Measures the cost of replication with three brokers in one process.

The rounds are interleaved with one replica, with logs in files, and with three brokers of a real
Kafka.

    python -m benchmarks.replication [--megabytes 20] [--rounds 3] [--deaths 1] [--json]

Goals:

- With acks=all through confluent-kafka (100 bytes and 1 KB, 1 partition and 12), three replicas
  accept at least 0.5 of the records per second of one replica, and at least as many as the real
  Kafka, whose three nodes are JVMs.
- A record that is sent alone is acknowledged within 3 ms (p50).
- 1,000 idle partitions with three replicas take at most 10 % of one core.
- After the leader's death, the next leader is visible to clients and accepts a record within 1.2
  sessions (`broker.session.timeout.ms`), also if the leader was a killed process.

The figures with logs in files are shown too, and the time until a confluent-kafka producer, which
requests Metadata once a second, has its record acknowledged. Missed goals are printed at the end,
and the exit code is 1.

The client is the same for all, and shares the machine's CPUs with the servers. Memory is touched
before each cell, as in `files`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from interop.real_kafka import Missing

from . import report, servers
from .failover import seconds_apart, seconds_together
from .files import PARTITIONS, SIZES, back_memory
from .throughput import produce

REPLICAS = 3
ALONE, FILES, KAFKA, GOAL, CLIENT = "one replica", "files", "kafka", "goal", "confluent-kafka"
OF_ONE, OF_KAFKA, MOST_MS, MOST_SHARE, MOST_SESSIONS = 0.5, 1, 3, 10, 1.2
SINGLES, IDLE_PARTITIONS, SETTLE_S, IDLE_S = 200, 1000, 4, 5
SESSION_MS = 9000
TOUCHED = 256 << 20
"""Bytes of memory that are touched before a cell: more than all replicas of its records take."""

Rounds = dict[str, dict[str, list[float]]]
"""Figures by case and server, one value per round."""


class Cluster:
    """Three brokers at their bootstrap addresses."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})

    def create(self, topic: str, partitions: int, replicas: int) -> None:
        """Creates a topic; on return every partition has a leader and all replicas in sync."""
        for future in self._admin.create_topics([NewTopic(topic, partitions, replicas)]).values():
            future.result(60)
        end = time.monotonic() + 60
        while not self._is_whole(topic, partitions, replicas):
            if time.monotonic() > end:
                raise RuntimeError(f"{topic} is not in sync")
            time.sleep(0.02)

    def _is_whole(self, topic: str, partitions: int, replicas: int) -> bool:
        found = self._admin.list_topics(topic, timeout=20).topics[topic].partitions.values()
        return [len(each.isrs) for each in found if each.leader >= 0] == [replicas] * partitions

    def delete(self, topic: str) -> None:
        for future in self._admin.delete_topics([topic]).values():
            future.result(20)


def singles(cluster: Cluster, topic: str, count: int) -> float:
    """The p50 of the ms until a record that is sent alone is acknowledged."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "linger.ms": 0, "log_level": 0})
    producer.list_topics(topic, timeout=20)
    took = []
    for _ in range(count):
        start = time.perf_counter()
        producer.produce(topic, b"x" * 100, partition=0)
        while len(producer):
            producer.poll(1)
        took.append((time.perf_counter() - start) * 1000)
    return statistics.median(took)


def one_round(results: Rounds, clusters: dict[str, Cluster], megabytes: int, turn: int) -> None:
    """Measures every rate and every p50 once, one server after the other."""
    for size in SIZES:
        for partitions in PARTITIONS:
            case = f"{size} B, {partitions} partition{'s' if partitions > 1 else ''}"
            for name, cluster in clusters.items():
                topic, replicas = f"{size}-{partitions}-{turn}", 1 if name == ALONE else REPLICAS
                topic += f"-{replicas}"
                back_memory(TOUCHED)
                cluster.create(topic, partitions, replicas)
                records = megabytes * 1_000_000 // size
                rate = records / produce(cluster.bootstrap, topic, records, b"x" * size, partitions)
                results.setdefault(case, {}).setdefault(name, []).append(rate)
                cluster.delete(topic)
    for name, cluster in clusters.items():
        if name != ALONE:
            topic = f"single-{turn}"
            cluster.create(topic, 1, REPLICAS)
            results.setdefault("p50", {}).setdefault(name, []).append(singles(cluster, topic, SINGLES))
            cluster.delete(topic)


def measure(megabytes: int, rounds: int) -> Rounds:
    """All figures; those of a real Kafka only where it can run."""
    results: Rounds = {}
    with ExitStack() as stack:
        ours, _ = stack.enter_context(servers.ours("--brokers", "3"))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        files, _ = stack.enter_context(servers.ours("--brokers", "3", "--data-dir", folder))
        clusters = {"ours": Cluster(ours), ALONE: Cluster(ours), FILES: Cluster(files)}
        try:
            clusters[KAFKA] = Cluster(stack.enter_context(servers.kafkas())[0])
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        one_round({}, clusters, max(1, megabytes // 4), 0)  # warms up
        for turn in range(1, rounds + 1):
            one_round(results, clusters, megabytes, turn)
    return results


def idle_share(*arguments: str) -> float:
    """The CPU time of idle partitions with three replicas, in per cent of one core."""
    with servers.ours("--brokers", "3", *arguments) as (bootstrap, pid):
        Cluster(bootstrap).create("idle", IDLE_PARTITIONS, REPLICAS)
        time.sleep(SETTLE_S)
        before = servers.cpu_seconds(pid)
        time.sleep(IDLE_S)
        return (servers.cpu_seconds(pid) - before) * 100 / IDLE_S


class Goals:
    """The missed goals."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def check(self, what: str, value: float, *, least: float | None = None, most: float | None = None) -> None:
        if (least is not None and value < least) or (most is not None and value > most):
            self.missed.append(f"{what}: {value:.3g}, {'at least' if most is None else 'at most'} {least or most}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=20, help="of records in each case and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deaths", type=int, default=1, help="of leaders, each of which takes ten seconds")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    goals, results = Goals(), measure(options.megabytes, options.rounds)
    singly = results.pop("p50")
    rates = report.Table("replication", f"records/s; goals: {OF_ONE} of {ALONE}, {OF_KAFKA} of {KAFKA}")
    for case, values in results.items():
        medians = {name: statistics.median(value) for name, value in values.items()}
        rates.add(case, ours := medians.pop("ours"), medians)
        for peer, least in ((ALONE, OF_ONE), (KAFKA, OF_KAFKA)):
            if peer in medians:
                goals.check(f"{case}, as a part of {peer}", ours / medians[peer], least=least)
    rates.print(as_json=options.json)
    waits = report.Table("replication, one record alone", "ms until it is acknowledged, p50")
    medians = {name: statistics.median(each) for name, each in singly.items()}
    waits.add("three replicas", ours := medians.pop("ours"), {GOAL: MOST_MS, **medians})
    goals.check("ms of one record", ours, most=MOST_MS)
    waits.print(as_json=options.json)
    idle = report.Table("replication, no clients", "% of one core")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        share = idle_share()
        idle.add(f"{IDLE_PARTITIONS} partitions", share, {GOAL: MOST_SHARE, FILES: idle_share("--data-dir", folder)})
    goals.check("% of one core for nothing", share, most=MOST_SHARE)
    idle.print(as_json=options.json)
    deaths = report.Table(
        "replication, the leader is killed", f"sessions of {SESSION_MS} ms until the next one takes records"
    )
    for case, seconds in (("in one process", seconds_together), ("a process of its own", seconds_apart)):
        every = seconds(SESSION_MS, options.deaths)
        visible = max(each.visible for each in every) * 1000 / SESSION_MS
        client = max(each.acknowledged for each in every) * 1000 / SESSION_MS
        deaths.add(f"{case}, the slowest of {options.deaths}", visible, {GOAL: MOST_SESSIONS, CLIENT: client})
        goals.check(f"sessions until another leads, {case}", visible, most=MOST_SESSIONS)
    deaths.print(as_json=options.json)
    sys.exit("missed: " + "; ".join(goals.missed) if goals.missed else 0)


if __name__ == "__main__":
    main()
