"""The methods of KafkaDouble that change topics and groups as an administrator does."""

from __future__ import annotations

from collections.abc import Mapping

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost


class AdministrationVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def create_partitions(self, topic: str, partitions: int) -> None:
        """Gives a topic more partitions: `partitions` is how many it has then. Clients notice them
        when they refresh their metadata. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
        INVALID_PARTITIONS if it has as many already."""
        from kafkadouble.topics import topic_upkeep

        topic_upkeep.checked(self._ask(topic_upkeep.to_create_partitions(topic, partitions)).results)

    @verb
    def set_topic_config(self, topic: str, config: Mapping[str, object]) -> None:
        """Sets configs of a topic, and leaves the others: `{"retention.ms": 1000}`. A value of None
        brings the default back. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG."""
        from kafkadouble.topics import topic_upkeep

        topic_upkeep.checked(self._ask(topic_upkeep.to_set_config(topic, config)).responses)

    @verb
    def delete_records(self, topic: str, partition: int, before: int | None = None) -> int:
        """Deletes the records of a partition before this offset, or all, as DeleteRecords does, and
        returns the first offset that is left. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
        OFFSET_OUT_OF_RANGE."""
        from kafkadouble.common.errors import raise_for
        from kafkadouble.topics import placement, topic_upkeep

        broker, body = self._serving().broker, topic_upkeep.to_delete_records(topic, partition, before)
        self._call(placement.partitions_of, broker, topic, partition)
        leading = self._call(broker.leading, topic, partition)
        (answered,) = self._ask(body, at=None if leading is None else leading[0]).topics
        (result,) = answered.partitions
        raise_for(result.error_code)
        return int(result.low_watermark)

    @verb
    def remove_members(self, group: str) -> int:
        """Removes every member from a group at once, as the ends of their sessions do, and returns
        how many there were. Members that live join again. Raises KafkaError(GROUP_ID_NOT_FOUND)."""
        from kafkadouble.coordinators import group_upkeep

        running = self._serving()
        return running.thread.run(group_upkeep.remove_members(running.broker, group))
