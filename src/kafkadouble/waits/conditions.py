"""The states of a cluster that a program can wait for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import KafkaError
from kafkadouble.common.missing_names import missing
from kafkadouble.common.plural import counted
from kafkadouble.messages import error_codes
from kafkadouble.records import read_records as records
from kafkadouble.records.record_filter import RecordFilter, RecordNarrowing
from kafkadouble.server.tracing.seen_line import text_of
from kafkadouble.topics import placement

from .awaited import Awaited

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.records.read_records import ReadRecord

    Server = ClusterApi

SHOWN = 3
"""So many records a message shows."""


def records_of(
    topic: str,
    count: int,
    partition: int | None,
    isolation: str,
    where: Callable[[ReadRecord], bool] | None,
    narrowing: RecordNarrowing,
) -> Awaited[list[ReadRecord]]:
    """The condition: `count` records of a topic, or of one partition, that a filter and a function
    accept."""
    check(topic=topic, count=count)
    check_given(partition=partition)
    record_filter = RecordFilter.checked(topic, narrowing)
    tail = _Tail(topic, partition, records.check_isolation(isolation), record_filter, where)
    place = topic if partition is None else f"{topic}-{partition}"
    what = f"{counted(count, 'record')} of {place}{record_filter}" + (" that are accepted" if where is not None else "")
    return Awaited(what, tail.read, lambda found: len(found) >= count, _records_shown)


def _records_shown(records: Sequence[ReadRecord]) -> str:
    last = ", ".join(f"{each.topic}-{each.partition}@{each.offset} {_value(each)}" for each in records[-SHOWN:])
    return counted(len(records), "record") + (f", the last {last}" if last else "")


def _value(record: ReadRecord) -> str:
    """The value as text, for callers in every language."""
    value = record.value
    return "without a value" if value is None else f"'{text_of(value.decode(errors='backslashreplace'))}'"


class _Tail:
    """Reads on in the logs of a topic. It begins again when a log is not a continuation of what was
    read: another topic of the same name, or records that were removed from the end."""

    def __init__(
        self,
        topic: str,
        partition: int | None,
        committed: bool,
        record_filter: RecordFilter,
        where: Callable[[ReadRecord], bool] | None,
    ) -> None:
        self._topic, self._partition, self._committed = topic, partition, committed
        self._filter, self._where = record_filter, where
        self._next: dict[int, int] = {}
        self._history: tuple[Any, ...] = ()
        self._found: list[ReadRecord] = []

    def read(self, broker: Server) -> list[ReadRecord]:
        """The accepted records so far, by partition and offset."""
        history = self._history_of(broker)
        if history != self._history:
            self._history, self._next, self._found = history, {}, []
        taken = records.take_all(broker, self._topic, self._partition, self._committed, self._start)
        new = [record for one in taken for record in records.read(one) if self._accepts(record)]
        self._next = {one.partition: one.end for one in taken}
        self._found = (
            sorted([*self._found, *new], key=lambda each: (each.partition, each.offset)) if new else self._found
        )
        return self._found

    def _start(self, partition: int) -> int:
        return max(self._next.get(partition, 0), self._filter.first_offset(partition))

    def _accepts(self, record: ReadRecord) -> bool:
        return self._filter.accepts(record) and (self._where is None or self._where(record))

    def _history_of(self, broker: Server) -> tuple[Any, ...]:
        """The history of a partition, in which offsets keep their meaning: the topic's id, and the
        leader epochs."""
        image = broker.image.topic_named(self._topic)
        return () if image is None else (image.id, *(each.leader_epoch for each in image.partitions.values()))


def topic_of(topic: str, partitions: int | None) -> Awaited[int]:
    """A topic, with this number of partitions if it is given."""
    check(topic=topic)
    check_given(partitions=partitions)

    def observe(broker: Server) -> int:
        broker.settle()
        found = broker.image.topic_named(topic)
        if found is None:
            words = partial(missing, "topic", topic, broker.image.topic_ids)
            raise KafkaError(error_codes.UNKNOWN_TOPIC_OR_PARTITION, words)
        return len(found.partitions)

    what = f"the topic {topic}" + ("" if partitions is None else f" with {counted(partitions, 'partition')}")
    return Awaited(what, observe, lambda found: partitions in (None, found), lambda found: counted(found, "partition"))


def leader_of(topic: str, partition: int, leader: int | None, epoch: int | None) -> Awaited[Leader]:
    """A leader of a partition: any, or this broker, in this leader epoch or a later one."""
    check(topic=topic, partition=partition)
    check_given(to=leader, epoch=epoch)

    def observe(broker: Server) -> Leader:
        found = placement.find(broker, topic, partition)[1]
        return Leader(found.leader, found.leader_epoch)

    def holds(found: Leader) -> bool:
        return found.id >= 0 and leader in (None, found.id) and found.epoch >= (epoch or 0)

    what = f"{'a leader' if leader is None else f'broker {leader} as leader'} of {topic}-{partition}"
    if epoch is not None:
        what += f" in the leader epoch {epoch} or later"
    return Awaited(what, observe, holds, str)


class Leader(NamedTuple):
    """The leader of a partition, -1 for none, and the leader epoch."""

    id: int
    epoch: int

    def __str__(self) -> str:
        who = "no leader" if self.id < 0 else f"broker {self.id} as leader"
        return f"{who}, leader epoch {self.epoch}"


def isr_of(topic: str, partition: int, isr: Collection[int]) -> Awaited[list[int]]:
    """The condition: these in-sync replicas of a partition, and no other ones."""
    check(topic=topic, partition=partition, isr=isr)
    expected = sorted(isr)
    return Awaited(
        f"in-sync replicas {expected} of {topic}-{partition}",
        lambda broker: placement.isr(broker, topic, partition),
        lambda found: found == expected,
        "in-sync replicas {}".format,
    )


def broker_of(id: int) -> Awaited[list[int]]:
    """A broker that the controller knows as alive."""
    check(to=id)

    def observe(broker: Server) -> list[int]:
        broker.settle()
        return sorted(each.id for each in broker.image.live_brokers())

    return Awaited(f"broker {id} in the cluster", observe, lambda found: id in found, "the brokers {}".format)
