"""A broker whose share groups have a dead-letter queue (KIP-1191)."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.server.metadata.image import GROUP
from kafkadouble.server.share.persister import SharePartitionKey
from kafkadouble.server.share.share_group_dlq_manager import ShareGroupDLQRecordParameter
from kafkadouble.wire.batch import decode_all, encode_batch
from kafkadouble.wire.record import Record
from tests.server.harness import Harness

QUEUE = "dlq.g"
ENABLED = {"errors.deadletterqueue.group.enable": "true"}
AUTO_CREATE = "errors.deadletterqueue.auto.create.topics.enable"
PREFIX = "errors.deadletterqueue.topic.name.prefix"


class DeadLetterBroker(Harness):
    """A broker that leads "t" of four partitions, of which the group "g" gives records up. `done`
    counts what the queue is done with."""

    def __init__(self, settings: dict[str, object] | None = None, *, queue: str = QUEUE, copies: bool = True) -> None:
        super().__init__(settings)
        self.create("t", partitions=4)
        self.topic_id, self.done = self.image.topic_ids["t"], 0
        self.configure(GROUP, "g", "errors.deadletterqueue.topic.name", queue)
        self.configure(GROUP, "g", "errors.deadletterqueue.copy.record.enable", str(copies).lower())

    def configure(self, type: int, resource: str, name: str, value: str) -> None:
        record = ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)
        self.node.controller.commit([record])
        self.tick(0)

    def produce(self, *values: bytes, compression: int = 0, partition: int = 0) -> None:
        """Appends one batch."""
        records = [Record(each, self.now, b"k%d" % each, value) for each, value in enumerate(values)]
        self.partition("t", partition).append(bytes(encode_batch(records, compression=compression)), self.now)

    def give_up(self, first: int, last: int, *, partition: int = 0, cause: str = "because") -> None:
        """Enqueues records. The step is not over then."""
        key = SharePartitionKey("g", self.topic_id, partition)
        given_up = ShareGroupDLQRecordParameter(key, first, last, 2, cause)
        self.node.share_group_dlq_manager.enqueue(given_up, self._count)

    def _count(self) -> None:
        self.done += 1

    def settle(self) -> None:
        """Does all that needs no time."""
        self.tick(0)
        while self.node.waiting.is_busy:
            self.tick(0)

    def bytes_in(self, partition: int = 0) -> Any:
        log = self.partition(QUEUE, partition).log
        return log.read(0, 1 << 24, log.log_end_offset).records

    def queued(self, partition: int = 0) -> list[Record]:
        return decode_all(self.bytes_in(partition))

    def copied(self) -> list[tuple[str, bytes | None]]:
        """Offset and value of each record of the queue."""
        return [((dict(each.headers)["__dlq.errors.offset"] or b"").decode(), each.value) for each in self.queued()]


def with_queue(settings: dict[str, object] | None = None, **configs: str) -> DeadLetterBroker:
    """A broker that has the dead-letter topic, of two partitions."""
    broker = DeadLetterBroker(settings)
    named = {name.replace("_", "."): value for name, value in configs.items()}
    broker.create(QUEUE, partitions=2, configs={**ENABLED, **named})
    return broker
