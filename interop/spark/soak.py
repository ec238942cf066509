"""The cluster's side of a soak test: three topics that are written to and disturbed, and the rows
of them that a stream must have.

Rules. Each row is a text that is written once. An acknowledged row is certain if its topic stays.
If its topic was deleted at once, the row is possible, and comes at most once; if it was deleted
while no query ran, it is lost. The writer and the administrator are confluent-kafka's, so that our
code is on one side only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from confluent_kafka import ElectionType, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from interop.local import Cluster
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.waiting import eventually

GROWN, PURGED, AGAIN = "grown", "purged", "again"
"""A topic that gets partitions, one whose records are deleted, and one that is deleted and created
again."""

TOPICS = (GROWN, PURGED, AGAIN)
COPIES = 3
PASSING = (
    "NOT_LEADER_FOR_PARTITION",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "LEADER_NOT_AVAILABLE",
    "_TRANSPORT",
    "_TIMED_OUT",
)
ROWS = 30
"""Rows written to each topic in one step."""


class Soak:
    """The topics and their rows: each written row is in `certain`, in `possible`, or lost."""

    def __init__(self, kafka: Cluster, seed: int) -> None:
        self._kafka, self._random = kafka, Random(seed)
        self.certain: set[str] = set()
        self.possible: set[str] = set()
        self._partitions = dict.fromkeys(TOPICS, 2)
        self._numbers = iter(range(1 << 30))
        for topic in TOPICS:
            self._create(topic)

    def write(self, topic: str, partition: int | None = None) -> dict[str, int]:
        """Writes rows to all partitions of the topic, or to one; returns them with their offsets.
        The leader and a follower have acknowledged them."""
        texts = [f"{topic} {next(self._numbers)}" for _ in range(ROWS)]
        found: dict[str, int] = {}

        def on_delivery(error: KafkaError | None, message: Any) -> None:
            assert error is None, error
            found[message.value().decode()] = message.offset()

        producer = Producer({"bootstrap.servers": self._kafka.bootstrap, "enable.idempotence": True, "log_level": 0})
        for text in texts:
            chosen = self._random.randrange(self._partitions[topic]) if partition is None else partition
            producer.produce(topic, text, partition=chosen, on_delivery=on_delivery)
        producer.flush(120)
        assert found.keys() == set(texts)
        self.certain.update(found)
        return found

    def add_partition(self) -> None:
        self._partitions[GROWN] += 1
        self._call_admin(lambda admin: admin.create_partitions([NewPartitions(GROWN, self._partitions[GROWN])]))
        self._known(GROWN)

    def delete_records(self, offset: int | None = None) -> None:
        """Deletes all records of all partitions, or those of the first partition before an
        offset."""
        every = range(self._partitions[PURGED] if offset is None else 1)
        partitions = [TopicPartition(PURGED, number, -1 if offset is None else offset) for number in every]
        self._call_admin(lambda admin: admin.delete_records(partitions))

    def lose(self) -> None:
        """Writes rows while no query reads, and deletes some of them with all earlier records of
        their partition."""
        lost = dict(list(self.write(PURGED, partition=0).items())[: ROWS // 2])
        self.delete_records(max(lost.values()) + 1)
        self.certain.difference_update(lost)

    def recreate(self, *, hastily: bool) -> None:
        """Deletes the topic and creates it again with another number of partitions; `hastily`: just
        after rows were written."""
        if hastily:
            texts = self.write(AGAIN)
            self.certain.difference_update(texts)
            self.possible.update(texts)
        self._call_admin(lambda admin: admin.delete_topics([AGAIN]))
        self._partitions[AGAIN] = self._random.randint(1, 3)
        self._create(AGAIN)

    def restart(self, *, kill: bool) -> None:
        """Shuts a leader down or kills it, and restarts it; other brokers lead its partitions
        meanwhile, and it leads them again at the end."""
        self.in_sync()
        leading = {each.leader_id for topic in self._metadata_of(*TOPICS) for each in topic.partitions}
        node = self._random.choice([node for node in self._kafka.brokers if node.id in leading])
        node.kill() if kill else node.stop()
        for topic in TOPICS:
            self.write(topic)
        node.start()
        self.in_sync()
        self._call_admin(lambda admin: {"all": admin.elect_leaders(ElectionType.PREFERRED)})

    def in_sync(self) -> None:
        """Waits until every broker reports all replicas as in sync."""

        def sizes() -> list[int]:
            return [len(each.isr_nodes) for topic in self._metadata_of(*TOPICS) for each in topic.partitions]

        eventually(sizes, lambda found: set(found) == {COPIES})

    def _call_admin(self, call: Callable[[AdminClient], dict[Any, Any]], *passing: str) -> None:
        """Repeats an admin request until it succeeds, each time with a new client. It is repeated
        for retriable errors, while restarted brokers learn the leaders, and for the errors that are
        named here."""

        def attempt() -> bool:
            admin = AdminClient({"bootstrap.servers": self._kafka.bootstrap, "log_level": 0})
            try:
                for future in call(admin).values():
                    future.result(60)
            except KafkaException as error:
                problem: KafkaError = error.args[0]
                if problem.retriable() or problem.name() in (*PASSING, *passing):
                    return False
                raise
            return True

        eventually(attempt)

    def _create(self, topic: str) -> None:
        config = {"min.insync.replicas": "2", "retention.ms": "-1"}
        new_topic = NewTopic(topic, self._partitions[topic], COPIES, config=config)
        self._call_admin(lambda admin: admin.create_topics([new_topic]), "TOPIC_ALREADY_EXISTS")
        self._known(topic)

    def _known(self, topic: str) -> None:
        """Waits until every running broker knows all partitions of the same topic, with their
        leaders."""
        count = self._partitions[topic]

        def holds(found: list[Any]) -> bool:
            leaders = [each.leader_id for one in found for each in one.partitions]
            return (
                len(leaders) == count * len(found) and min(leaders) >= 0 and len({one.topic_id for one in found}) == 1
            )

        eventually(lambda: list(self._metadata_of(topic)), holds)

    def _metadata_of(self, *topics: str) -> Iterator[Any]:
        """The metadata of these topics at each running broker."""
        request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics])
        for node in self._kafka.brokers:
            if node.running:
                yield from ask(node.bootstrap, request, 12).topics


Step = Callable[[Soak], None]

SAMPLE: tuple[Step, ...] = (
    Soak.add_partition,
    lambda soak: soak.recreate(hastily=False),
    Soak.delete_records,
    lambda soak: soak.recreate(hastily=True),
    lambda soak: soak.restart(kill=True),
)
"""The steps in one round of the usual run. A restart also moves leaders, twice."""

STEPS = (*SAMPLE, lambda soak: soak.restart(kill=False), lambda soak: soak.recreate(hastily=True))
"""The steps in each round of the full run."""
