"""Transactional producers over the lives of a cluster, and the checks after each life: every
transaction is all or nothing, in the log and for a reader with read_committed.

The topic keeps everything, so that offsets count its records. The transactions are those of the
simulation of brokers: the same producers, the same ledger, the same promises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.transactions.transaction_metadata import TransactionalIdEntry
from kafkadouble.server.transactions.transaction_state import BETWEEN_TRANSACTIONS, PREPARED

from ..brokers.consumer import FETCH_VERSION, READ_COMMITTED
from ..brokers.history import History
from ..brokers.kept import Kept, kept_in
from ..brokers.shape import TOPIC, Shape
from ..brokers.transactions import promises
from ..brokers.transactions.ledger import Ledger
from ..brokers.transactions.offset_reader import OffsetReader
from ..brokers.transactions.producer import TransactionalProducer
from ..brokers.transactions.reader import committed_of
from ..brokers.wires import Wires
from ..world import Broken, World
from .shape import SEGMENT

if TYPE_CHECKING:
    from .cluster import Cluster

FIRST_PRODUCER, FIRST_OFFSET_READER = 1001, 501
CREATE_VERSION = 7


class Transactions:
    """The host of the producers. `histories` are the committed records of each partition, as they
    were at the last check."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.partitions: Sequence[int] = range(cluster.shape.partitions)
        self.ledger = Ledger(lambda: True)  # no scenario loses what was committed
        self.histories = [History() for _ in self.partitions]
        self.newest: dict[str, TransactionalProducer] = {}
        self._all: list[TransactionalProducer] = []
        self.writes = True
        self.is_ending = self.is_resolved = False
        self._values = 0

    # The host of the producers.

    @property
    def world(self) -> World:
        return self._cluster.world

    @property
    def wires(self) -> Wires:
        return self._cluster.wires

    @property
    def shape(self) -> Shape:
        return self._cluster.shape

    @property
    def count(self) -> Counter[str]:
        return self._cluster.count

    @property
    def watch(self) -> Transactions:
        return self

    @property
    def transactions_versions(self) -> Sequence[int]:
        return self._cluster.shape.transactions_versions

    def next_value(self) -> int:
        self._values += 1
        return self._values

    def sent(self, values: Sequence[int], index: int) -> None:
        """The ledger knows it already."""

    def acknowledged(self, producer: Any, index: int, values: Sequence[int], base_offset: int) -> None:
        """The end of the transaction says whether the records must be there."""
        self.count["records acknowledged"] += len(values)

    def replace(self, producer: TransactionalProducer) -> None:
        random, id = self.world.random, producer.transactional_id

        def begin() -> None:
            if not self.is_ending and self.newest[id] is producer:
                self._begin(id)

        self.world.after(random.choice((1, 300, random.randint(0, 12_000))), begin)

    def _begin(self, transactional_id: str) -> None:
        before = self.newest.get(transactional_id)
        least = 1 if before is None else before.version
        made = TransactionalProducer(self, FIRST_PRODUCER + len(self._all), transactional_id, least)
        self._all.append(made)
        self.newest[transactional_id] = made
        made.begin()

    # Lives.

    def begin(self) -> None:
        """Creates the topic, and starts the producers."""
        self._cluster.require(self._make_topic, f"topic {TOPIC} cannot be made")
        self._cluster.require(self._is_led, "the topic of transactions is not led")
        for number in range(self.shape.transactional):
            self._begin(f"app{number}")

    def _make_topic(self) -> bool:
        of = CreateTopicsRequest
        configs = {"internal.segment.bytes": SEGMENT, "min.insync.replicas": 1, "retention.ms": -1}
        topic = of.CreatableTopic(
            name=TOPIC,
            num_partitions=len(self.partitions),
            replication_factor=self.shape.replicas,
            configs=[of.CreatableTopicConfig(name=key, value=str(value)) for key, value in configs.items()],
        )
        answer = self._cluster.ask_controller(of(topics=[topic], timeout_ms=1000), CREATE_VERSION)
        created = (error_codes.NONE, error_codes.TOPIC_ALREADY_EXISTS)
        return answer is not None and answer.topics[0].error_code in created

    def _is_led(self) -> bool:
        return all(self._log(index) is not None for index in self.partitions)

    def _leader(self, index: int) -> int:
        topic = self._cluster.watch.image.topic_named(TOPIC)
        return -1 if topic is None else topic.partitions[index].leader

    def _log(self, index: int) -> PartitionLog | None:
        """The log of the leader; None while no broker leads."""
        member = self._cluster.members.get(self._leader(index))
        led = None if member is None or member.node is None else member.node.partitions.get(TOPIC, index)
        return None if led is None else led.log

    def check(self) -> None:
        """All nodes are up: the logs have what was committed, and a reader that begins gets what
        the markers say."""
        self._cluster.require(self._is_led, "the topic of transactions is not led")
        for index in self.partitions:
            log = self._log(index)
            assert log is not None
            self._grow(index, log)
            stable = log.last_stable_offset
            open_from = first_open(self.histories[index].records)
            if stable > open_from:
                raise Broken(f"{log!r}: the last stable offset {stable} has passed {open_from}, which is open")
            found = [kept for kept in self._read(index, stable) if kept.offset < stable]
            expected = History()
            expected.records = self.histories[index].records[:stable]
            promises.reader_gets_all(
                f"a reader of {TOPIC}-{index}", [kept.value for kept in found], self.ledger.committed_values(expected)
            )
            self.count["records read with read_committed"] += len(found)

    def _grow(self, index: int, log: PartitionLog) -> None:
        """Reads what is committed now. Nothing that was committed before is missing."""
        batches = b"".join(bytes(batch) for batch in log.batches(0))
        now = [kept for kept in kept_in(batches) if kept.offset < log.high_watermark]
        before = self.histories[index].records
        if now[: len(before)] != before:
            raise Broken(f"{log!r}: {before[-3:]} were committed, and there are {now[: len(before)][-3:]}")
        self.histories[index].records = now
        self.ledger.read(index, self.histories[index])

    def _read(self, index: int, end: int) -> list[Kept]:
        """What a new reader with read_committed is given up to this offset."""
        found: list[Kept] = []
        position = 0
        while position < end:
            data = self._fetch(index, position)
            given = kept_in(data.records)
            found += [kept for kept in committed_of(data) if kept.offset >= position]
            position = given[-1].offset + 1
        return found

    def _fetch(self, index: int, position: int) -> Any:
        """A response with records; asks until there is one."""
        answers: list[Any] = []
        self._cluster.require(lambda: self._has_fetched(index, position, answers), f"no fetch from {position}")
        return answers[0]

    def _has_fetched(self, index: int, position: int, answers: list[Any]) -> bool:
        of = FetchRequest
        topic = self._cluster.watch.image.topic_named(TOPIC)
        assert topic is not None
        partition = of.FetchPartition(partition=index, fetch_offset=position, partition_max_bytes=2000)
        asked = of.FetchTopic(topic_id=topic.id, partitions=[partition])
        limits = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 2000, "session_epoch": -1}
        body = of(isolation_level=READ_COMMITTED, topics=[asked], **limits)  # type: ignore[arg-type]  # by name

        def on_answer(answer: Any) -> None:
            data = None if answer is None or not answer.responses else answer.responses[0].partitions[0]
            if data is not None and not data.error_code and data.records:
                answers.append(data)

        self._cluster.ask(self._leader(index), body, FETCH_VERSION, on_answer)
        self.world.run_for(20)
        return bool(answers)

    def end(self) -> None:
        """Every producer comes to its end, and every transaction ends; nothing hangs."""
        cluster, self.is_ending = self._cluster, True
        cluster.require(lambda: all(producer.is_over for producer in self._all), "a producer does not come to its end")
        cluster.require(self._has_none_open, "a transaction stays open")
        cluster.require(self._is_stable, "the last stable offset does not reach the log end offset")
        self.is_resolved = True
        self.check()
        self.ledger.check_end(self.histories)
        for number, producer in enumerate(self.newest.values()):
            self._check_offset(OffsetReader(self, FIRST_OFFSET_READER + number, producer.group), producer)

    def _check_offset(self, reader: OffsetReader, producer: TransactionalProducer) -> None:
        reader.begin()
        self._cluster.require(lambda: reader.is_over, f"{reader!r} gets no offset")
        expected = self.ledger.last_committed_offset(producer.transactional_id)
        promises.offset_is_the_last(reader.group, reader.offset, expected)

    def is_one_decided(self) -> bool:
        """Whether a coordinator waits for the markers of a transaction."""
        return any(entry.metadata.state in PREPARED for entry in self._entries())

    def _has_none_open(self) -> bool:
        return all(
            entry.metadata.state in BETWEEN_TRANSACTIONS and entry.pending_state is None for entry in self._entries()
        )

    def _entries(self) -> Iterator[TransactionalIdEntry]:
        """What the coordinators know of each transactional id."""
        for member in self._cluster.brokers:
            for shard in () if member.node is None else member.node.transactions:
                yield from shard.entries.values()

    def _is_stable(self) -> bool:
        logs = [self._log(index) for index in self.partitions]
        return all(log is not None and log.last_stable_offset == log.log_end_offset for log in logs)


def first_open(records: Iterable[Kept]) -> int:
    """The offset of the first record whose transaction has no marker after it; beyond all records
    if there is none."""
    begun: dict[int, int] = {}
    end = 0
    for kept in records:
        end = kept.offset + 1
        if kept.marker:
            begun.pop(kept.producer, None)
        elif kept.transactional:
            begun.setdefault(kept.producer, kept.offset)
    return min(begun.values(), default=end)
