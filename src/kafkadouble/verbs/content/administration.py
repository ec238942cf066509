"""The methods of KafkaDouble that change topics and groups as an administrator does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.common.errors import raise_for
from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.topics import topic_upkeep

if TYPE_CHECKING:
    from kafkadouble.coordinators import group_upkeep
    from kafkadouble.host.host import Host
    from kafkadouble.topics import placement
else:  # a first call of another verb waits for none of them
    group_upkeep = OnFirstUse("kafkadouble.coordinators.group_upkeep")
    placement = OnFirstUse("kafkadouble.topics.placement")


@verb
def create_partitions(host: Host, topic: str, partitions: int) -> None:
    """Gives a topic more partitions: `partitions` is how many it has then. Clients notice them
    when they refresh their metadata. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
    INVALID_PARTITIONS if it has as many already."""
    topic_upkeep.checked(host.ask(topic_upkeep.to_create_partitions(topic, partitions)).results)


@verb
def set_topic_config(host: Host, topic: str, config: Mapping[str, object]) -> None:
    """Sets configs of a topic, and leaves the others: `{"retention.ms": 1000}`. A value of None
    brings the default back. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG."""
    topic_upkeep.checked(host.ask(topic_upkeep.to_set_config(topic, config)).responses)


@verb
def delete_records(host: Host, topic: str, partition: int, before: int | None = None) -> int:
    """Deletes the records of a partition before this offset, or all, as DeleteRecords does, and
    returns the first offset that is left. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
    OFFSET_OUT_OF_RANGE."""
    broker, body = host.serving().broker, topic_upkeep.to_delete_records(topic, partition, before)
    host.call(placement.partitions_of, broker, topic, partition)
    leading = host.call(broker.leading, topic, partition)
    (answered,) = host.ask(body, at=None if leading is None else leading[0]).topics
    (result,) = answered.partitions
    raise_for(result.error_code)
    return int(result.low_watermark)


@verb
def remove_members(host: Host, group: str) -> int:
    """Removes every member from a group at once, as the ends of their sessions do, and returns
    how many there were. Members that live join again. Raises KafkaError(GROUP_ID_NOT_FOUND)."""
    running = host.serving()
    return running.thread.run(group_upkeep.remove_members(running.broker, group))
