"""A producer and a group that run while brokers are restarted, killed, and reassigned, and the
checks at the end.

Rules. The producer is idempotent and waits for all in-sync replicas, so every record is in its
partition once, in the order in which it was sent: the record at offset n has the number n. The
group has one member that commits as it reads; it gets each record once, in order, and never goes
back. No record may be refused: a failed delivery that librdkafka reports fails the test.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType
from typing import Any

import confluent_kafka

from interop.support import unique
from tests.support.waiting import eventually

ck: Any = confluent_kafka

PATIENCE_MS = 120_000
EVERY = 0.005
"""Seconds between two records."""

Numbered = list[tuple[int, int]]
"""Offsets of records, and their numbers."""


class Traffic:
    """Runs from `with` to its end. `acknowledged`, `seen` and `committed` are by partition."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self.bootstrap, self.topic, self.partitions = bootstrap, topic, partitions
        self.group = unique("traffic")
        self.acknowledged: list[Numbered] = [[] for _ in range(partitions)]
        self.seen: list[Numbered] = [[] for _ in range(partitions)]
        self.committed = [0] * partitions
        self.failures: list[object] = []
        self._writing_ends, self._reading_ends = threading.Event(), threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=[each], daemon=True) for each in (self._write, self._read)
        ]

    def goes_on(self) -> None:
        """Waits until records of each partition were sent after the call, and acknowledged, read
        and committed."""
        before = self._sent()
        eventually(lambda: self.failures or _all_more(self._sent(), before), bool)
        last_numbers = [count - 1 for count in self._sent()]
        eventually(lambda: self.failures or _all_more(self.committed, last_numbers))
        assert self.failures == []

    def __enter__(self) -> Traffic:
        for thread in self._threads:
            thread.start()
        self.goes_on()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        writer, reader = self._threads
        self._writing_ends.set()
        writer.join(2 * PATIENCE_MS / 1000)
        try:
            if error is None:
                assert not writer.is_alive(), "the producer did not end"
                sent = self._sent()
                eventually(lambda: self.failures or self.committed == sent)
        finally:
            self._reading_ends.set()
            reader.join(PATIENCE_MS / 1000)
        if error is None:
            self.check()

    def check(self) -> None:
        """Checks that every record is there once and in order: as acknowledged, as the group read
        it, and as it is stored."""
        assert self.failures == []
        expected = [[(number, number) for number in range(count)] for count in self._sent()]
        assert [sorted(numbered) for numbered in self.acknowledged] == expected
        assert self.seen == expected
        assert self._lying() == expected
        assert self._committed_at_broker() == self.committed

    def _lying(self) -> list[Numbered]:
        """The records that a consumer of its own finds from the beginning to the end."""
        numbereds: list[Numbered] = [[] for _ in range(self.partitions)]
        ended: set[int] = set()
        consumer = ck.Consumer(
            self._client(**{"group.id": "none", "enable.auto.commit": False, "enable.partition.eof": True})
        )
        consumer.assign([ck.TopicPartition(self.topic, index, 0) for index in range(self.partitions)])

        def read() -> int:
            for message in consumer.consume(10_000, 0.2):
                if message.error():
                    assert message.error().code() == ck.KafkaError._PARTITION_EOF, message.error()
                    ended.add(message.partition())
                else:
                    numbereds[message.partition()].append(_numbered(message))
            return len(ended)

        eventually(read, lambda count: count == self.partitions)
        consumer.close()
        return numbereds

    def _committed_at_broker(self) -> list[int]:
        """The offsets that the coordinator has as committed."""
        consumer = ck.Consumer(self._client(**{"group.id": self.group}))
        partitions_read = [ck.TopicPartition(self.topic, index) for index in range(self.partitions)]
        found = eventually(
            lambda: consumer.committed(partitions_read, 30), lambda answers: not any(answer.error for answer in answers)
        )
        consumer.close()
        return [numbered.offset for numbered in found]

    def _sent(self) -> list[int]:
        return list(map(len, self.acknowledged))

    def _run(self, work: Any) -> None:
        try:
            work()
        # Reported to the test, which runs on another thread.
        except BaseException as failure:
            self.failures.append(failure)

    def _write(self) -> None:
        more = {"enable.idempotence": True, "acks": "all", "delivery.timeout.ms": PATIENCE_MS, "linger.ms": 1}
        producer = ck.Producer(self._client(**more))
        number = 0
        while not self._writing_ends.is_set():
            index, value = number % self.partitions, b"%d" % (number // self.partitions)
            producer.produce(self.topic, value, partition=index, on_delivery=self._report)
            number += 1
            producer.poll(0)
            self._writing_ends.wait(EVERY)
        if producer.flush(PATIENCE_MS / 1000):
            self.failures.append("not all was sent in time")

    def _report(self, error: Any, message: Any) -> None:
        if error is None:
            self.acknowledged[message.partition()].append(_numbered(message))
        else:
            self.failures.append(error)

    def _read(self) -> None:
        more = {"group.id": self.group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        consumer = ck.Consumer(self._client(**more))
        consumer.subscribe([self.topic])
        while not self._reading_ends.is_set():
            for message in consumer.consume(1000, 0.1):
                if message.error():
                    self.failures.append(message.error())
                else:
                    self.seen[message.partition()].append(_numbered(message))
            self._commit(consumer)
        consumer.close()

    def _commit(self, consumer: Any) -> None:
        """Commits its positions. The commit may be refused while the coordinator moves: the next
        one comes soon."""
        positions = [numbered[-1][0] + 1 if numbered else 0 for numbered in self.seen]
        if positions == self.committed:
            return
        offsets = [ck.TopicPartition(self.topic, index, offset) for index, offset in enumerate(positions)]
        with suppress(ck.KafkaException):
            if not any(each.error for each in consumer.commit(offsets=offsets, asynchronous=False)):
                self.committed = positions

    def _client(self, **more: Any) -> dict[str, Any]:
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, "error_cb": lambda error: None} | more


def _numbered(message: Any) -> tuple[int, int]:
    """Offset and number of a record."""
    return message.offset(), int(message.value())


def _all_more(found: list[int], than: list[int]) -> bool:
    return all(more > less for more, less in zip(found, than, strict=True))
