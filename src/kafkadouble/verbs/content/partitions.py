"""The methods of KafkaDouble about partitions: leaders, in-sync replicas and leader epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.topics.partition_state import partition_state

if TYPE_CHECKING:
    from kafkadouble.coordinators.group_values import TopicPartition
    from kafkadouble.host.host import Host
    from kafkadouble.topics import leadership, placement
    from kafkadouble.topics.partition_state import PartitionState
else:  # a first call of another verb waits for none of them
    leadership = OnFirstUse("kafkadouble.topics.leadership")
    placement = OnFirstUse("kafkadouble.topics.placement")


@verb
def partition(host: Host, topic: str, partition: int) -> PartitionState:
    """The leader, the replicas, the offsets and the epochs of a partition, at one moment.
    Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
    return host.call(partition_state, host.serving().broker, topic, partition)


@verb
def leader(host: Host, topic: str, partition: int) -> int | None:
    """The id of the leader, or None. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
    return host.call(placement.leader, host.serving().broker, topic, partition)


@verb
def isr(host: Host, topic: str, partition: int) -> list[int]:
    """The ids of the in-sync replicas. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
    return host.call(placement.isr, host.serving().broker, topic, partition)


@verb
def move_leader(host: Host, topic: str, partition: int, to: int) -> int:
    """Elects another broker as leader of a partition, and returns the new leader epoch. Raises
    KafkaError: REPLICA_NOT_AVAILABLE if that broker has no replica,
    ELIGIBLE_LEADERS_NOT_AVAILABLE if it is not alive and in sync."""
    return host.call(placement.move_leader, host.serving().broker, topic, partition, to)


@verb
def elect_leaders(host: Host, topic: str | None = None, partition: int | None = None) -> dict[TopicPartition, int]:
    """Elects the preferred leaders, the first replicas, of all partitions, of a topic, or of
    one partition, as `kafka-leader-election` does. Returns the new leaders, by topic and
    partition; a partition that its preferred leader leads already is left out.

    Raises KafkaError: PREFERRED_LEADER_NOT_AVAILABLE if one is not alive and in sync,
    UNKNOWN_TOPIC_OR_PARTITION; the other partitions have their leaders then.
    """
    return host.call(placement.elect_leaders, host.serving().broker, topic, partition)


@verb
def unclean_election(host: Host, topic: str, partition: int, to: int | None = None) -> int:
    """Elects a live replica that is not in sync as leader of a partition without a leader: the
    replica on broker `to`, or else the first. Returns the id of its broker. Records that the
    replica lacks are lost.

    Raises KafkaError: ELECTION_NOT_NEEDED if a broker leads, ELIGIBLE_LEADERS_NOT_AVAILABLE if
    no replica, or not `to`, is alive, REPLICA_NOT_AVAILABLE if `to` has no replica.
    """
    return host.call(placement.unclean_election, host.serving().broker, topic, partition, to)


@verb
def bump_epoch(host: Host, topic: str, partition: int) -> int:
    """Elects the same leader of the partition again, and returns the new leader epoch. Clients
    that send the old epoch are fenced, and refresh their metadata.

    Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
    """
    return host.call(leadership.bump, host.serving().broker, topic, partition)


@verb
def truncate(host: Host, topic: str, partition: int, offset: int) -> int:
    """Removes the records from `offset` on, in whole batches, as if a broker that lacks them
    was elected; returns the new leader epoch, which begins there. Raises KafkaError:
    OFFSET_OUT_OF_RANGE if the log has no such offset, UNKNOWN_TOPIC_OR_PARTITION."""
    return host.call(leadership.truncate, host.serving().broker, topic, partition, offset)


@verb
def leader_epoch(host: Host, topic: str, partition: int) -> int:
    """The epoch of the partition's leader, which the next batch carries."""
    return host.call(leadership.leader_epoch, host.serving().broker, topic, partition)


@verb
def epochs(host: Host, topic: str, partition: int) -> dict[int, int]:
    """The leader epochs in the partition's log, each with its start offset, oldest first."""
    return host.call(leadership.epochs, host.serving().broker, topic, partition)
