"""Measures what read_committed costs beside read_uncommitted, and the same on Apache Kafka.

    python -m benchmarks.read_committed [--records 900000] [--pairs 10] [--json]

Two topics of three partitions have the same number of records, in transactions of 300: in
`committed` all of them commit, in `aborted` every tenth aborts. A consumer reads the whole topic at
each level, in pairs whose order alternates.

    wall   seconds of the clock with read_uncommitted / with read_committed, median of the pairs
    cpu    the same of the server's CPU time, summed over all pairs

Both levels fetch the same bytes, so both figures are for the log and not for a delivered record: a
consumer with read_committed receives fewer records where some were aborted, and skips them itself.
1 means that read_committed costs nothing. The spread of `wall` is printed as quartiles. Goal: `cpu`
at least 0.95; `wall` at least 0.95, or no less than on Apache Kafka, where the rest is the client.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from confluent_kafka import Producer

from interop.real_kafka import Missing

from . import report, servers
from .throughput import PAYLOAD, consume, create

PARTITIONS, TRANSACTION_RECORDS, TIMEOUT_S = 3, 300, 60
LEVELS = ("read_uncommitted", "read_committed")

ABORT_EVERY: Mapping[str, int] = {"committed": 0, "aborted": 10}
"""Case -> every which transaction aborts; 0 for none."""


class LevelFigures:
    """The figures of one server for one case: `seconds` has a value per pair for each level, `cpu`
    the sum of all pairs."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {level: [] for level in LEVELS}
        self.cpu = dict.fromkeys(LEVELS, 0.0)

    def add(self, server: servers.Server, topic: str, delivered: Mapping[str, int], turn: int) -> None:
        """One pair."""
        bootstrap, pid = server
        for level in LEVELS if turn % 2 else LEVELS[::-1]:
            before = servers.cpu_seconds(pid)
            self.seconds[level].append(consume(bootstrap, topic, delivered[level], PARTITIONS, level))
            self.cpu[level] += servers.cpu_seconds(pid) - before

    @property
    def ratios(self) -> list[float]:
        """read_uncommitted / read_committed of each pair."""
        return [one / other for one, other in zip(*(self.seconds[level] for level in LEVELS), strict=True)]

    @property
    def cpu_ratio(self) -> float:
        return self.cpu["read_uncommitted"] / self.cpu["read_committed"]


def fill(bootstrap: str, topic: str, records: int, abort_every: int) -> dict[str, int]:
    """Writes so many records; how many each level delivers."""
    create(bootstrap, topic, PARTITIONS)
    settings = {"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 1, "log_level": 0}
    producer = Producer(settings | {"queue.buffering.max.messages": 1_000_000})
    producer.init_transactions(TIMEOUT_S)
    aborted = 0
    for number in range(records // TRANSACTION_RECORDS):
        producer.begin_transaction()
        for at in range(TRANSACTION_RECORDS):
            producer.produce(topic, PAYLOAD, partition=at % PARTITIONS)
        if abort_every and not number % abort_every:
            producer.flush(TIMEOUT_S)  # otherwise the abort drops what was not sent
            producer.abort_transaction(TIMEOUT_S)
            aborted += TRANSACTION_RECORDS
        else:
            producer.commit_transaction(TIMEOUT_S)
    written = records // TRANSACTION_RECORDS * TRANSACTION_RECORDS
    return {"read_uncommitted": written, "read_committed": written - aborted}


@contextmanager
def running() -> Iterator[dict[str, servers.Server]]:
    """Our server, and a real Kafka where it can run."""
    with ExitStack() as stack:
        found = {"ours": stack.enter_context(servers.ours())}
        try:
            found["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        yield found


def measure(records: int, pairs: int) -> dict[str, dict[str, LevelFigures]]:
    """Case -> server -> its figures."""
    found: dict[str, dict[str, LevelFigures]] = {}
    with running() as compared:
        for case, every in ABORT_EVERY.items():
            delivered = {name: fill(server[0], case, records, every) for name, server in compared.items()}
            found[case] = {name: LevelFigures() for name in compared}
            for turn in range(pairs + 2):
                for name, server in compared.items():
                    # The first two pairs warm up.
                    target = found[case][name] if turn > 1 else LevelFigures()
                    target.add(server, case, delivered[name], turn)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=900_000)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    table = report.Table("read_committed", "read_uncommitted / read_committed; 1: costs nothing")
    for case, figures in measure(arguments.records, arguments.pairs).items():
        wall = {name: statistics.median(figure.ratios) for name, figure in figures.items()}
        cpu = {name: figure.cpu_ratio for name, figure in figures.items()}
        for name, each in figures.items():
            low, _, high = statistics.quantiles(each.ratios, n=4)
            spent = ", ".join(
                f"{level} {seconds / arguments.pairs * 1000:.0f} ms" for level, seconds in each.cpu.items()
            )
            report.note(f"{case}, {name}: half of the pairs are from {low:.2f} to {high:.2f}; CPU of one read: {spent}")
        table.add(f"{case} wall", wall.pop("ours"), wall)
        table.add(f"{case} cpu", cpu.pop("ours"), cpu)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
