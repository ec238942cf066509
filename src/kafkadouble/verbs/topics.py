"""The methods of KafkaDouble about topics and their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .host import VerbHost
from .registry import verb

if TYPE_CHECKING:
    from kafkadouble.records import ReadRecord
    from kafkadouble.seeding import HeadersLike


class TopicVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        replication_factor: int | None = None,
    ) -> None:
        """Creates a topic, with `default.replication.factor` unless another is given. Raises
        KafkaError where an admin client would get an error, such as TOPIC_ALREADY_EXISTS."""
        from kafkadouble import seeding

        replicas = -1 if replication_factor is None else replication_factor
        seeding.check_topics(self._ask(seeding.to_create(name, partitions, config or {}, replicas)).topics)

    @verb
    def delete_topic(self, name: str) -> None:
        """Deletes a topic with its records. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
        from kafkadouble import seeding

        seeding.check_topics(self._ask(seeding.to_delete(name)).responses)

    @verb
    def produce(
        self,
        topic: str,
        value: str | bytes | None = None,
        key: str | bytes | None = None,
        headers: HeadersLike = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> int:
        """Appends one record, and returns its offset. Text becomes UTF-8. `timestamp` is in ms
        since the epoch; the default is the broker's time.

        Without `partition` the key decides, as in Kafka's producer; without a key the partitions
        take turns. A missing topic is created if `auto.create.topics.enable` is on. Raises
        KafkaError if the record is refused.
        """
        from kafkadouble import seeding

        key_bytes = seeding.as_bytes(key)
        at = self._clock.now() if timestamp is None else timestamp
        batch = seeding.batch_of(value, key_bytes, headers, at)

        def choose(partitions: int) -> int:
            return self._choose(key_bytes, partitions) if partition is None else partition

        return seeding.appended_at(self._call(seeding.append, self._serving().broker, topic, choose, batch).result())

    def _choose(self, key: bytes | None, partitions: int) -> int:
        if key is not None:
            from kafkadouble.partitioner import partition_for

            return partition_for(key, partitions)
        with self._lock:
            self._round += 1
            return (self._round - 1) % partitions

    @verb
    def records(
        self, topic: str, partition: int | None = None, isolation: str = "read_uncommitted"
    ) -> list[ReadRecord]:
        """The records of a topic, or of one partition, by partition and offset. `read_committed`
        leaves out aborted records, and everything from the first open transaction on.

        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        from kafkadouble import records

        committed = records.check_isolation(isolation)
        taken = self._call(records.take_all, self._serving().broker, topic, partition, committed)
        return [record for one in taken for record in records.read(one)]
