"""Measures the Spark sources against Spark's own Kafka connector.

All use the same broker, topic and session, in turns.

    python -m benchmarks.spark [--megabytes 200] [--rounds 3] [--sent] [--results | --json]

The topic has four partitions of JSON (keys of 16 bytes, 5 % null; values of about 200; batches of
16 KB, not compressed), in a broker with files, in a process of its own. Every query reads all
columns into Spark's `noop` sink. A figure is the best of the rounds, after some warm-up rounds.
`session` measures the CPU seconds, without the broker's. MB are 10^6 bytes of record batches.

Goals, with the extension and in numpy:

- `kafka-wire` takes at most 1.3 and 2.0 times the CPU of the connector;
- `kafka-log` reads at least 85 and 50 MB per CPU second, 5 and 3 times as many as a source that
  yields tuples of plain Python;
- the headers alone are read at 1,000 MB per second or more;
- a worker holds at most 500 MB, with segments of any size;
- the broker sends at most 1.2 bytes for each byte of a stream's rows, and 1.3 for each byte of a
  batch that is split (`sent`; alone with `--sent`);
- two partitions are read at least 1.3 times faster on two cores than on one.

Missed goals are printed, and the exit code is 1. Ratios of CPU hold on any machine, times only on a
quiet one. Needs Java, and Maven once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import report, servers
from interop.local import Missing
from interop.tools.jars import copied
from kafkadouble import open_log

from . import figures, sent, topic
from .figures import Figure
from .session import ROOT, Cost, Session, session
from .sources import CONNECTORS, FAST, NUMPY

POM = ROOT / "interop" / "spark" / "connector.pom.xml"
MB = 1_000_000
SEGMENT = 1000 * MB
WHOLE = str(1 << 40)
"""A `splitBytes` that never splits a segment."""

SHORT = 4
"""Queries of half a second, which are mostly planning, have so many times more rounds."""

WARM = 5
"""Turns until the JVM has compiled the connector, without which it would be charged with that."""

WORDS = {FAST: "with kafkadouble-fast", NUMPY: "numpy"}
OF_CONNECTOR = {FAST: 1.3, NUMPY: 2.0}
MB_PER_CPU_S = {FAST: 85, NUMPY: 50}
OF_NAIVE = {FAST: 5, NUMPY: 3}
HEADERS_MB_PER_S, MOST_MB, OF_ONE_CORE = 1000, 500, 1.3


class Place(NamedTuple):
    """The data: a topic of a broker and its folder, and a large segment; the numbers of their
    bytes, and of their rows or batches.
    """

    bootstrap: str
    folder: Path
    size: int
    rows: int
    segment: Path
    large: int
    batches: int


def query(reader: Any, source: str, options: Mapping[str, str], path: Path | None = None) -> Any:
    """A data frame of all of it."""
    return reader.format(source).options(**options).load(str(path) if path else None)


def wire(at: Session, source: str, place: Place, **options: str) -> Any:
    given = options or {"subscribe": topic.NAME}
    return query(at.spark.read, source, {"kafka.bootstrap.servers": place.bootstrap, **given})


def read(frame: Any) -> None:
    """Reads all rows and columns into the `noop` sink."""
    frame.write.format("noop").mode("overwrite").save()


def best(
    turns: Mapping[str, Any], rows: Mapping[str, int] | int, rounds: int, at: Session, warm: int = 1
) -> dict[str, Cost]:
    """The best cost of reading each data frame, in turns, after `warm` turns. All must have as many
    rows as is given.
    """
    for name, frame in turns.items():
        expected = rows if isinstance(rows, int) else rows.get(name, rows[""])
        if (seen := frame.count()) != expected:
            raise ValueError(f"{name} read {seen} rows of {expected}")
    for frame in [*turns.values()] * warm:
        read(frame)
    found: dict[str, list[Cost]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, frame in turns.items():
            found[name].append(at.cost(partial(read, frame)))
    return {name: least(costs) for name, costs in found.items()}


def least(costs: Sequence[Cost]) -> Cost:
    """The round with the least CPU; beside it the shortest time, which may be another's."""
    return min(costs, key=lambda cost: cost.cpu)._replace(wall=min(cost.wall for cost in costs))


def against_connector(at: Session, place: Place, rounds: int) -> list[Figure]:
    turns = {"kafka": wire(at, "kafka", place)}
    turns |= {which: wire(at, f"kafka-wire-{which}", place) for which in WORDS}
    found = best(turns, place.rows, rounds, at, WARM)
    theirs = found["kafka"]
    figures_found = [Figure("Spark's connector", theirs.cpu, "CPU-s", more=str(theirs))]
    for which, words in WORDS.items():
        cost = found[which]
        figures_found.append(
            Figure(
                f"kafka-wire {words} / connector",
                cost.cpu / theirs.cpu,
                "of its CPU",
                most=OF_CONNECTOR[which],
                more=str(cost),
            )
        )
    return figures_found


def against_tuples(at: Session, place: Place, rounds: int) -> list[Figure]:
    """Both with the connector's columns, the naive one on one partition, for it takes so long; then
    all columns that there are.
    """
    one = place.folder / f"{topic.NAME}-0"
    turns = {"naive": query(at.spark.read, "naive", {}, one)}
    for which in WORDS:
        for name, reader in ((which, at.spark.read.schema(CONNECTORS)), (f"{which} all", at.spark.read)):
            turns[name] = query(reader, f"kafka-log-{which}", {"topics": topic.NAME}, place.folder)
    found = best(turns, {"naive": place.rows // topic.PARTITIONS, "": place.rows}, rounds, at)
    rates = {name: place.size / MB / cost.cpu for name, cost in found.items()}
    rates["naive"] /= topic.PARTITIONS
    figures_found = [
        Figure("tuples of plain Python", rates["naive"], "MB/CPU-s", more=f"{found['naive'].wall:.2f} s a partition")
    ]
    for which, words in WORDS.items():
        wall = f"{found[which].wall:.2f} s"
        figures_found += [
            Figure(
                f"kafka-log {words}, columns as the connector", rates[which], "MB/CPU-s", MB_PER_CPU_S[which], more=wall
            ),
            Figure(f"kafka-log {words} / tuples", rates[which] / rates["naive"], "times", OF_NAIVE[which]),
            Figure(f"kafka-log {words}, all 19 columns", rates[f"{which} all"], "MB/CPU-s"),
        ]
    return figures_found


def headers_alone(at: Session, place: Place, rounds: int) -> list[Figure]:
    """`level=batches` of the large segment, checksums included, which is in the page cache."""
    alone = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        sum(some.num_rows for some in open_log(place.segment, level="batches"))
        alone.append(time.perf_counter() - began)
    frame = query(at.spark.read, "kafka-log", {"level": "batches"}, place.segment)
    inside = best({"": frame}, place.batches, rounds, at)[""]
    rate = place.large / MB
    return [
        Figure("level=batches, Arrow without Spark", rate / min(alone), "MB/s", HEADERS_MB_PER_S),
        Figure("level=batches in Spark", rate / inside.wall, "MB/s", HEADERS_MB_PER_S, more=f"{inside.cpu:.2f} CPU-s"),
    ]


def two_partitions(at: Session, place: Place, rounds: int) -> dict[str, Cost]:
    assigned = f'{{"{topic.NAME}": [0, 1]}}'
    log = query(at.spark.read, "kafka-log", {"topics": topic.NAME, "partitions": "0,1"}, place.folder)
    turns = {"kafka-log": log, "kafka-wire": wire(at, "kafka-wire", place, assign=assigned)}
    return best(turns, place.rows * 2 // topic.PARTITIONS, SHORT * rounds, at)


def memory(at: Session, place: Place) -> list[Figure]:
    """Measures in a session that has read nothing else."""
    read(query(at.spark.read, "kafka-log", {"splitBytes": WHOLE}, place.segment))
    case = f"worker's peak memory, a segment of {place.large // MB} MB in one task"
    return [Figure(case, at.most_memory() / MB, "MB", most=MOST_MB)]


def measured(jars: Sequence[Path], place: Place, rounds: int) -> list[Figure]:
    with session(2, jars) as at:
        figures_found = against_connector(at, place, rounds) + against_tuples(at, place, rounds)
        figures_found += headers_alone(at, place, rounds)
        figures_found += sent.figures(at)
        two = two_partitions(at, place, rounds)
    with session(1) as at:
        figures_found += memory(at, place)
        one = two_partitions(at, place, rounds)
    for name, cost in two.items():
        more = f"{one[name].wall:.2f} s and {cost.wall:.2f} s"
        figures_found.append(
            Figure(
                f"{name}, 2 partitions, 1 core / 2 cores",
                one[name].wall / cost.wall,
                "of the time",
                OF_ONE_CORE,
                more=more,
            )
        )
    return figures_found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=200, help="of the topic (200)")
    parser.add_argument("--rounds", type=int, default=3, help="that count (3)")
    parser.add_argument("--sent", action="store_true", help="only how many bytes the broker sends")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--results", action="store_true", help="also write results.json, for docs/performance.md")
    form.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    options = parser.parse_args()
    try:
        jars = copied(POM, "spark-connector", "Spark's Kafka connector")
    except Missing as reason:
        sys.exit(f"there is no connector to compare with: {reason}")
    if options.sent:
        with session(2, jars) as at:
            figures_found = sent.figures(at)
    else:
        figures_found = on_broker(jars, options.megabytes, options.rounds)
    if options.json:
        figures.as_table(figures_found).print(as_json=True)
    else:
        print(figures.as_text(figures_found))
    if options.results:
        figures.commit(figures_found)
    missed = [each.case for each in figures_found if each.missed]
    sys.exit(f"missed: {'; '.join(missed)}" if missed else 0)


def on_broker(jars: Sequence[Path], megabytes: int, rounds: int) -> list[Figure]:
    """All figures, on a broker and a large segment that are made for them."""
    batches = topic.batches()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        data, large = Path(folder, "data"), Path(folder, "large", f"{topic.NAME}-0")
        given = (
            "--data-dir",
            str(data),
            "--topic",
            f"{topic.NAME}:{topic.PARTITIONS}",
            "-c",
            f"log.retention.ms={topic.FOREVER}",
        )
        with servers.ours(*given) as (bootstrap, _):
            size, rows = topic.fill(bootstrap, batches, megabytes * MB)
            place = Place(bootstrap, data, size, rows, large, *topic.segment(large, batches, SEGMENT))
            report.note(f"{rows} records, {size / MB:.0f} MB")
            return measured(jars, place, rounds)


if __name__ == "__main__":
    main()
