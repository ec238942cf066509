"""Produces the records of steps with `on_record`, each when a record arrives for which it waits.

Rules. A record arrives when a consumer with `read_committed` would get it. The broker's own thread
looks after each call into a node, and produces at once: what a program asks of the double after it
has produced a record already finds the answer. Records that are there when the steps begin have not
arrived. A step whose topic is taken from a record does not produce to a topic from which steps
without `times` could lead back to such a step: that could go on without an end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.records import read_records as records
from kafkadouble.records import seeding
from kafkadouble.records.partitioner import partition_for

from .record_trigger import TOPIC

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.messages.uuid import Uuid
    from kafkadouble.records.read_records import ReadRecord
    from kafkadouble.server.metadata.image import TopicImage
    from kafkadouble.server.replica.replication.partition import Partition

    from .record_trigger import RecordTrigger
    from .step import ScenarioStep

AT_THE_END = -1
"""In place of the next offset: a partition that was there when the steps began, which no broker has
led since."""
Report = Callable[[int, Exception | None], None]
"""Takes the index of a step that was called, and its error if it failed."""


class RecordSteps:
    """The steps with `on_record` of one application of a scenario. Use it on the broker's
    thread."""

    def __init__(self, broker: ClusterApi, steps: Sequence[ScenarioStep], report: Report) -> None:
        self._broker, self._report = broker, report
        waiting = [_Waiting(index, step, step.on_record) for index, step in enumerate(steps) if step.on_record]
        self._waiting = {name: [each for each in waiting if each.trigger.topic == name] for name in _topics(waiting)}
        self._endless = _endless([each for each in waiting if each.trigger.times is None])
        self._next: dict[tuple[Uuid, int], int] = {}
        """By topic id and partition: the offset of the next record that is to be read."""
        self._without_key = 0
        self.has_ended = False

    def begin(self) -> None:
        """Looks for records from now on."""
        if self._waiting:
            topics = map(self._broker.image.topic_named, self._waiting)
            self._next = {(topic.id, index): AT_THE_END for topic in topics if topic for index in topic.partitions}
            self._arrived()
            self._broker.watches.add(self._look)

    def _look(self) -> bool:
        """Produces for what has arrived, and for what arrives by that; whether no step waits any
        more."""
        has_produced = False
        while not self.has_ended and sum(map(self._answer, self._arrived())) > 0:
            has_produced = True
        if has_produced:  # waits that looked before this have not seen it
            asyncio.get_running_loop().call_soon(self._broker.watches.due)
        return self.has_ended or not self._waiting

    def _partitions(self) -> Iterator[tuple[tuple[Uuid, int], Partition]]:
        """The partitions of the topics that a broker leads."""
        for name in self._waiting:
            with suppress(KafkaError):  # a single broker is down
                if (topic := self._broker.image.topic_named(name)) is not None:
                    yield from self._led(topic)

    def _led(self, topic: TopicImage) -> Iterator[tuple[tuple[Uuid, int], Partition]]:
        for index in sorted(topic.partitions):
            with suppress(KafkaError):  # it has no leader
                if (found := self._broker.leading(topic.name, index)) is not None:
                    yield (topic.id, index), found[1]

    def _arrived(self) -> list[ReadRecord]:
        """The records that were not read yet."""
        found: list[ReadRecord] = []
        for place, partition in self._partitions():
            start = self._next.get(place, 0)
            if start == AT_THE_END:
                self._next[place] = partition.log.last_stable_offset
            elif partition.log.last_stable_offset > start:
                with suppress(KafkaError):  # its log directory has failed
                    taken = records.take(partition, True, start)
                    self._next[place] = taken.end
                    found += records.read(taken)
            elif partition.log.log_end_offset < start:  # it was truncated
                self._next[place] = partition.log.log_end_offset
        return found

    def _answer(self, record: ReadRecord) -> int:
        """Calls each step that waits for this record; the number of the steps."""
        waiting = self._waiting.get(record.topic, [])
        called = [each for each in waiting if each.trigger.accepts(record)]
        for each in called:
            self._call(each, record)
            each.calls += 1
        left = [each for each in waiting if each.calls != each.trigger.times]
        if left:
            self._waiting[record.topic] = left
        else:
            self._waiting.pop(record.topic, None)
        return len(called)

    def _call(self, waiting: _Waiting, record: ReadRecord) -> None:
        def report(answer: Future[Any]) -> None:
            try:
                seeding.appended_at(answer.result())
            except Exception as problem:  # the step has failed
                self._report(waiting.index, problem)
            else:
                self._report(waiting.index, None)

        try:
            self._append(waiting, record).add_done_callback(report)
        except Exception as problem:  # the step has failed
            self._report(waiting.index, problem)

    def _append(self, waiting: _Waiting, record: ReadRecord) -> Future[Any]:
        step = waiting.step
        given = {**step.call.given, **{name: take(record) for name, take in step.taken.items()}}
        topic, key, index = given["topic"], seeding.as_bytes(given.get("key")), given.get("partition")
        if TOPIC in step.taken and waiting.trigger.times is None and topic in self._endless:
            raise UsageError(f"a record of {topic} could lead back to this step without an end: give on_record times")
        timestamp = given.get("timestamp")
        at = self._broker.clock.now() if timestamp is None else timestamp
        batch = seeding.batch_of(given.get("value"), key, given.get("headers", ()), at)
        return seeding.append(
            self._broker, topic, lambda count: self._index(key, count) if index is None else index, batch
        )

    def _index(self, key: bytes | None, partitions: int) -> int:
        """The partition of a record. Those without a key take turns."""
        if key is not None:
            return partition_for(key, partitions)
        self._without_key += 1
        return (self._without_key - 1) % partitions


class _Waiting:
    """A step that waits for records: its index, and how many it was called for."""

    def __init__(self, index: int, step: ScenarioStep, trigger: RecordTrigger) -> None:
        self.index, self.step, self.trigger = index, step, trigger
        self.calls = 0


def _topics(waiting: Iterable[_Waiting]) -> list[str]:
    """The topics, each once, in the order of the steps."""
    return [*dict.fromkeys(each.trigger.topic for each in waiting)]


def _endless(waiting: Sequence[_Waiting]) -> set[str]:
    """The topics from which these steps lead to one whose own topic is taken from a record."""
    found: set[str] = set()
    while more := {
        each.trigger.topic
        for each in waiting
        if each.trigger.topic not in found and (TOPIC in each.step.taken or each.step.call.given[TOPIC] in found)
    }:
        found |= more
    return found
