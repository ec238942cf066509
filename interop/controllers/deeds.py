"""Clients' writes to a cluster, recorded in a ledger: all records, offsets and configurations in it
must be found in the cluster later.

Rules. Everything in the ledger was acknowledged. Values are unique over the whole run, so that a
lost, duplicated or misplaced record is seen. The client is librdkafka.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import confluent_kafka
from confluent_kafka import Producer

from interop.clients import CREATOR
from interop.clients.shape import PATIENCE, Partition, Refused
from interop.served import served
from interop.support import unique
from tests.support.waiting import eventually

ck: Any = confluent_kafka

Quiet = dict[str, Any]


class Ledger:
    """What one cluster has acknowledged, and must keep. `bootstrap` may be changed when brokers
    move."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.topics: dict[str, int] = {}
        self.records: dict[Partition, dict[int, bytes]] = {}
        self.configs: dict[str, dict[str, str]] = {}
        self.groups: dict[str, dict[Partition, int]] = {}
        self._numbers = 0

    def topic(self, stem: str, partitions: int = 1, copies: int = 1, **configs: str) -> str:
        """Creates a topic; its settings with `_` for `.`."""
        name, settings = unique(stem), {key.replace("_", "."): value for key, value in configs.items()}
        with CREATOR.admin(self.bootstrap) as admin:
            admin.create_topic(name, partitions, settings, copies)
            self.topics[name], self.configs[name] = partitions, settings
            eventually(lambda: _partitions(admin, name), lambda count: count == partitions)
        return name

    def produce(self, topic: str, count: int = 20) -> None:
        """Writes with an idempotent producer, to each partition of a topic in turn."""
        self._keep(self._sent(Producer(self.client("enable.idempotence", True)), topic, count))

    def transact(self, topic: str, count: int = 10) -> None:
        """Writes a transaction that is committed, between two that are aborted."""
        producer = Producer(self.client("transactional.id", unique("transactions")))
        producer.init_transactions(PATIENCE)
        for commits in (False, True, False):
            producer.begin_transaction()
            sent = self._sent(producer, topic, count)
            if commits:
                producer.commit_transaction(PATIENCE)
                self._keep(sent)
            else:
                producer.abort_transaction(PATIENCE)

    def consume(self, topic: str) -> None:
        """A group reads all of a topic, and commits its offsets."""
        group, records = unique("group"), self._of(topic)
        with self._reader(topics=[topic], group_id=group) as consumer:
            consumer.read(len(records))
            ends = {Partition(topic, at): 0 for at in range(self.topics[topic])}
            ends |= {tp: max(offsets) + 1 for tp, offsets in self.records.items() if tp.topic == topic}
            consumer.commit({tp: (end, "by the ledger") for tp, end in ends.items()})
        self.groups[group] = ends

    def configure(self, topic: str, **configs: str) -> None:
        """Changes settings of a topic."""
        settings = {key.replace("_", "."): value for key, value in configs.items()}
        with CREATOR.admin(self.bootstrap) as admin:
            admin.alter_configs("topic", topic, *(("set", key, value) for key, value in settings.items()))
        self.configs[topic] |= settings

    def all(self, topic_stem: str = "all", copies: int = 1) -> str:
        """Creates a topic, and writes to it in each way that the broker supports."""
        topic = self.topic(topic_stem, 3, copies, retention_ms="-1")
        self.produce(topic)
        if "AddPartitionsToTxn" in served(self.bootstrap):
            self.transact(topic)
        self.consume(topic)
        self.configure(topic, max_message_bytes="2000000")
        return topic

    def check(self) -> None:
        """Checks that the cluster holds exactly what the ledger holds. A broker that has just
        started may still be loading its groups."""
        eventually(self._coordinates)
        with CREATOR.admin(self.bootstrap) as admin:
            for topic, partitions in self.topics.items():
                eventually(lambda: _partitions(admin, topic), lambda count: count == partitions)  # noqa: B023  # at once
                self._check_configs(admin, topic)
        for topic in self.topics:
            self._check_records(topic)
        for group, offsets in self.groups.items():
            with self._reader(group_id=group, partitions=[*offsets]) as consumer:
                for partition, offset in offsets.items():
                    assert consumer.committed(partition) == (offset, "by the ledger")

    def _coordinates(self) -> bool:
        with self._reader() as consumer, suppress(Refused):
            consumer.committed(Partition("none", 0))
            return True
        return False

    def _check_configs(self, admin: Any, topic: str) -> None:
        """Waits for the settings: a broker may apply a change after the controller has answered."""
        expected = self.configs[topic]

        def found() -> dict[str, str]:
            present = admin.configs("topic", topic)
            return {key: present[key] for key in expected}

        eventually(found, lambda now: now == expected)

    def _check_records(self, topic: str) -> None:
        expected = self._of(topic)
        every = [Partition(topic, at) for at in range(self.topics[topic])]
        with self._reader(partitions=every) as consumer:
            found = {(seen.partition, seen.offset): seen.value for seen in consumer.read(len(expected))}
        assert found == expected

    def _of(self, topic: str) -> dict[tuple[int, int], bytes]:
        return {
            (partition.partition, offset): value
            for partition, found in self.records.items()
            if partition.topic == topic
            for offset, value in found.items()
        }

    def _sent(self, producer: Any, topic: str, count: int) -> list[Any]:
        """The messages as the broker has acknowledged them."""
        done: list[Any] = []

        def reported(error: Any, message: Any) -> None:
            done.append((error, message))

        for number in range(count):
            self._numbers += 1
            value = b"%d of %s" % (self._numbers, topic.encode())
            producer.produce(topic, value, partition=number % self.topics[topic], on_delivery=reported)
        assert producer.flush(PATIENCE) == 0, "not all was sent in time"
        assert [error for error, _ in done if error is not None] == []
        return [message for _, message in done]

    def _keep(self, sent: Sequence[Any]) -> None:
        for message in sent:
            partition = Partition(message.topic(), message.partition())
            assert (
                self.records.setdefault(partition, {}).setdefault(message.offset(), message.value()) == message.value()
            )

    def _reader(self, **options: Any) -> Any:
        return CREATOR.consumer(self.bootstrap, isolation_level="read_committed", **options)

    def client(self, *more: Any) -> Quiet:
        quiet = {"log_level": 0, "error_cb": lambda error: None, "bootstrap.servers": self.bootstrap}
        return quiet | dict(zip(more[::2], more[1::2], strict=True))


def _partitions(admin: Any, topic: str) -> int:
    with suppress(Refused):
        return len(admin.partitions_of(topic))
    return 0
