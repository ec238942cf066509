"""Runs programs with the verb `transform` while brokers are killed, and compares what they wrote
with what they read.

A program reads a topic in a group, and writes a result for each record, in transactions that also
commit the offsets. It writes a line for each of these:

    > committed PARTITION OFFSET       by a transaction
    > holds                            as ordered, with results in an open transaction
    > refused NAME WHY                 an error of Kafka, after which it began again

Rules. Results go to the same partition as their records. So if each record has its result exactly
once, the results that a consumer with read_committed reads of a partition are those of its records,
in their order.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.controllers import placed
from interop.programs.python.transformation import PRODUCER
from interop.support import unique
from tests.support.waiting import eventually

from .cluster_state import leaders, metadata
from .committed import committed_records
from .promise import PARTITIONS, TRANSFORM, result_of, results_of
from .running import PATIENCE, RunningProgram
from .toolchains.building import Program

AT_ONCE = 10
"""Records of each partition that are written together."""
AHEAD = 200
"""Records of each partition that may wait for the programs."""
PAUSE = 0.02
"""Seconds between two batches, since other processes share the machine."""


def value_of(number: int) -> bytes:
    """Of the record with this number, which is also its offset."""
    return b"%d" % number


class Transforming(RunningProgram):
    """A running program. Its events can be read at any time."""

    def __init__(self, program: Program, bootstrap: str, topic: str, group: str) -> None:
        self.committed = dict.fromkeys(range(PARTITIONS), 0)
        self.refusals: list[str] = []
        self.holds = threading.Event()
        super().__init__(program, TRANSFORM, bootstrap, topic, group)

    def take(self, word: str, rest: list[str]) -> None:
        match word:
            case "committed":
                partition, offset = map(int, rest)
                self.committed[partition] = offset
            case "refused":
                self.refusals.append(" ".join(rest))
            case "holds":
                self.holds.set()


class Pipeline:
    """A topic to which records are written all the time, from `with` to its end, and the topic of
    their results. Programs transform the one into the other in one group."""

    def __init__(self, broker: Broker, name: str) -> None:
        self._broker = broker
        self.topic = unique(name)
        self.group = f"{self.topic}-group"
        self._results = results_of(self.topic)
        self.topics = self.topic, self._results
        self.programs: list[Transforming] = []
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._writing = threading.Thread(target=self._write, daemon=True)
        self._written = 0
        for topic in self.topics:
            placed.create(broker.bootstrap, topic, _replicas(broker), min_insync_replicas="2")
            eventually(
                lambda topic=topic: [len(leaders(server.bootstrap, topic)) for server in broker.servers],  # type: ignore[misc]
                lambda found: set(found) == {PARTITIONS},
            )

    def __enter__(self) -> Pipeline:
        self._writing.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        for program in self.programs:
            program.close()
        self._writing.join(PATIENCE)

    def run(self, program: Program) -> Transforming:
        self.programs.append(Transforming(program, self._broker.bootstrap, self.topic, self.group))
        return self.programs[-1]

    def _write(self) -> None:
        settings = {"acks": "all", "enable_idempotence": True, **PRODUCER[CREATOR.name]}
        try:
            with CREATOR.producer(self._broker.bootstrap, **settings) as producer:
                while not self._over.is_set():
                    if self._written - min(self.transformed()) < AHEAD:
                        numbers = range(self._written, self._written + AT_ONCE)
                        producer.send(
                            self.topic,
                            [Record(value_of(n), partition=index) for n in numbers for index in range(PARTITIONS)],
                        )
                        self._written += AT_ONCE
                    self._over.wait(PAUSE)
        except BaseException as failure:  # reported by the main thread
            self._failure = failure

    def transformed(self) -> list[int]:
        """By partition, the offset that some program has committed."""
        return [max((each.committed[index] for each in self.programs), default=0) for index in range(PARTITIONS)]

    def goes_on(self) -> None:
        """Waits until records of each partition were transformed that were written after the
        call."""
        mark = self._written + 2 * AT_ONCE

        eventually(self._transformed_while_running, lambda found: min(found) > mark, within=PATIENCE)

    def _transformed_while_running(self) -> list[int]:
        assert self._failure is None, self._failure
        for program in self.programs:
            program.assert_runs()
        return self.transformed()

    def end(self) -> list[str]:
        """Ends the writing, and when all is transformed, the programs. Returns the faults."""
        self._over.set()
        self._writing.join(PATIENCE)
        ends = [self._written] * PARTITIONS
        eventually(self._transformed_while_running, lambda found: found == ends, within=PATIENCE)
        wrong = [text for program in self.programs if (text := program.end())]
        expected = [result_of(value_of(number)) for number in range(self._written)]
        for index, records in enumerate(committed_records(self._broker.bootstrap, self._results, PARTITIONS)):
            wrong += faults(f"partition {index}", [one.value or b"" for one in records], expected)
        with CREATOR.admin(self._broker.bootstrap) as admin:
            offsets = {tp.partition: offset for tp, offset in admin.group_offsets(self.group).items()}
        return wrong + [
            f"partition {index}: committed is {offset}" for index, offset in offsets.items() if offset != ends[index]
        ]


def faults(where: str, found: Sequence[bytes], expected: Sequence[bytes]) -> list[str]:
    """A line for each way in which results are not those of each record exactly once, in order."""
    if found == expected:
        return []
    counts = Counter(found)
    missing = [value for value in expected if not counts[value]]
    repeated = [value for value, count in counts.items() if count > 1]
    return [
        f"{where}: missing are {missing[:9]}, more than once come {repeated[:9]}, of {len(expected)}; {len(found)} were read"
    ]


def _replicas(broker: Broker) -> list[list[int]]:
    ids = sorted(metadata(broker.bootstrap, "any: all brokers are in the response")[0])
    return [ids[index:] + ids[:index] for index in range(PARTITIONS)]
