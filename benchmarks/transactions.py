"""Measures transactions through confluent-kafka, beside Apache Kafka in the same run.

    python -m benchmarks.transactions [--transactions 300] [--rounds 3] [--json]

    commit        ms, p50 of a transaction of 100 records over 3 partitions
    commit_cpu    ms of server CPU per transaction
    init          ms, p50 of init_transactions of a new transactional id

Goals: `commit` and `commit_cpu` at most Kafka's. The rounds are interleaved. The cost of reading
with read_committed is measured by `benchmarks.read_committed`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

from confluent_kafka import Producer

from interop.real_kafka import Missing

from . import report, servers
from .throughput import PAYLOAD, create

PARTITIONS, RECORDS, TIMEOUT_S = 3, 100, 60

CASES = ("commit", "commit_cpu", "init")


class TransactionFigures:
    """The figures of one server, one value per round."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {case: [] for case in CASES}

    def add(self, server: servers.Server, turn: int, transactions: int) -> None:
        bootstrap, pid = server
        topic = f"transactions-{turn}"
        create(bootstrap, topic, PARTITIONS)
        producer = transactional(bootstrap, f"bench-{turn}")
        self.values["init"].append(timed(lambda: producer.init_transactions(TIMEOUT_S)))
        before = servers.cpu_seconds(pid)
        self.values["commit"].append(statistics.median(commit(producer, topic) for _ in range(transactions)))
        self.values["commit_cpu"].append((servers.cpu_seconds(pid) - before) * 1000 / transactions)


def transactional(bootstrap: str, id: str) -> Producer:
    settings = {"bootstrap.servers": bootstrap, "transactional.id": id, "linger.ms": 1, "log_level": 0}
    return Producer(settings | {"queue.buffering.max.messages": 1_000_000})


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def commit(producer: Producer, topic: str) -> float:
    """Milliseconds of one transaction, from its begin to its commit."""

    def one() -> None:
        producer.begin_transaction()
        for at in range(RECORDS):
            producer.produce(topic, PAYLOAD, partition=at % PARTITIONS)
        producer.commit_transaction(TIMEOUT_S)

    return timed(one)


def measure(transactions: int, rounds: int) -> dict[str, TransactionFigures]:
    """The figures of each server; of a real Kafka only where it can run."""
    with ExitStack() as stack:
        running = {"ours": stack.enter_context(servers.ours())}
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        figures = {name: TransactionFigures() for name in running}
        for turn in range(rounds + 1):
            for name, server in running.items():
                # The first round warms up.
                target = figures[name] if turn else TransactionFigures()
                target.add(server, turn, transactions)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--transactions", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.transactions, arguments.rounds)
    table = report.Table("transactions", "ms")
    for case in CASES:
        medians = {name: statistics.median(figure.values[case]) for name, figure in figures.items()}
        table.add(case, medians.pop("ours"), medians)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
