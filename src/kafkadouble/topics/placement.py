"""Leadership in a cluster, read and changed without a client. Call everything here on the loop's
thread.

Rules. A change of leadership is a record of the metadata log, which the active controller writes
with the new leader epoch. An election that Kafka would refuse is refused with Kafka's error; an
argument that makes no sense raises UsageError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError, UsageError, raise_for
from kafkadouble.common.missing_names import no_partition
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller import elections
from kafkadouble.server.coordinator.coordinator_lookup import GROUP, TRANSACTION
from kafkadouble.server.coordinator.coordinator_runtime import partition_for
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.requests.slices import in_one_step

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

PREFERRED, UNCLEAN = 0, 1
"""The election types of ElectLeaders."""

TIMEOUT_MS = 30_000


def find(broker: ClusterApi, topic: str, index: int) -> tuple[Uuid, PartitionImage]:
    """The metadata of a partition, and the id of its topic. KafkaError(UNKNOWN_TOPIC_OR_PARTITION)
    if it does not exist."""
    check(topic=topic, partition=index)
    broker.settle()
    found = broker.image.topic_named(topic)
    if found is None or index not in found.partitions:
        raise no_partition(broker.image, topic, index)
    return found.id, found.partitions[index]


def partitions_of(broker: ClusterApi, topic: str, partition: int | None = None) -> list[int]:
    """The indexes of all partitions of a topic, or only of `partition`. Raises
    KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
    check(topic=topic, **({} if partition is None else {"partition": partition}))
    broker.settle()
    image = broker.image.topic_named(topic)
    if image is None:
        raise no_partition(broker.image, topic)
    if partition is not None and partition not in image.partitions:
        raise no_partition(broker.image, topic, partition)
    return sorted(image.partitions) if partition is None else [partition]


def leader(broker: ClusterApi, topic: str, index: int) -> int | None:
    """The id of the broker that leads the partition; None if it has no leader."""
    id = find(broker, topic, index)[1].leader
    return None if id < 0 else id


def isr(broker: ClusterApi, topic: str, index: int) -> list[int]:
    """The ids of the replicas in sync."""
    return sorted(find(broker, topic, index)[1].isr)


def move_leader(broker: ClusterApi, topic: str, index: int, to: int) -> int:
    """Elects another in-sync replica; returns the new leader epoch."""
    topic_id, partition = find(broker, topic, index)
    _check_target(broker, partition, to, f"{topic}-{index}")
    live = {each.id for each in broker.image.live_brokers()}
    if to not in partition.isr or to not in live:
        problem = f"broker {to} is not alive and in sync: in sync are {sorted(partition.isr)}, alive {sorted(live)}"
        raise KafkaError(error_codes.ELIGIBLE_LEADERS_NOT_AVAILABLE, problem)
    if partition.leader != to:
        broker.controlling.node.advance(broker.clock.now())
        change = PartitionChangeRecord(topic_id=topic_id, partition_id=index, leader=to)
        broker.controlling.node.controller.commit([change])
    return find(broker, topic, index)[1].leader_epoch


def move_coordinator(broker: ClusterApi, group: str, to: int) -> int:
    """Moves the coordinator of a group, which need not exist, to another broker; returns the
    partition of __consumer_offsets that moves."""
    check(group=group)
    return _move_coordinator(broker, GROUP, group, CONSUMER_OFFSETS, to)


def move_transaction_coordinator(broker: ClusterApi, transactional_id: str, to: int) -> int:
    """Moves the coordinator of a transactional id; returns the partition of __transaction_state
    that moves."""
    check(transactional_id=transactional_id)
    return _move_coordinator(broker, TRANSACTION, transactional_id, TRANSACTION_STATE, to)


def _move_coordinator(broker: ClusterApi, key_type: int, key: str, topic: str, to: int) -> int:
    if broker.image.topic_named(topic) is None:  # FindCoordinator creates the topic
        broker.ask(FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]))
        broker.settle()
    found = broker.image.topic_named(topic)
    if found is None:
        raise KafkaError(error_codes.COORDINATOR_NOT_AVAILABLE, f"there is no {topic}")
    index = partition_for(key, len(found.partitions))
    move_leader(broker, topic, index, to)
    return index


def elect_leaders(broker: ClusterApi, topic: str | None, index: int | None) -> dict[tuple[str, int], int]:
    """Elects preferred replicas; returns the new leaders. KafkaError for the first partition whose
    preferred replica cannot be elected."""
    if topic is None and index is not None:
        raise UsageError(f"partition {index!r} without a topic: give topic, too")
    election = None
    if topic is not None:
        indexes = partitions_of(broker, topic, index)
        election = [ElectLeadersRequest.TopicPartitions(topic=topic, partitions=indexes)]
    broker.settle()
    request = ElectLeadersRequest(election_type=PREFERRED, topic_partitions=election, timeout_ms=TIMEOUT_MS)
    answer = broker.ask(request).result()
    raise_for(answer.error_code)
    broker.settle()
    outcomes = [(result.topic, one) for result in answer.replica_election_results for one in result.partition_result]
    outcomes = [(name, one) for name, one in outcomes if one.error_code != error_codes.ELECTION_NOT_NEEDED]
    for name, one in outcomes:
        raise_for(one.error_code, f"{name}-{one.partition_id}: {one.error_message}")
    return {(name, one.partition_id): find(broker, name, one.partition_id)[1].leader for name, one in outcomes}


def unclean_election(broker: ClusterApi, topic: str, index: int, to: int | None = None) -> int:
    """Elects a live replica, in sync or not, of a partition without a leader; returns the id of its
    broker."""
    _, partition = find(broker, topic, index)
    node = broker.controlling.node
    node.advance(broker.clock.now())
    image = node.controller.draft
    if to is not None:
        _check_target(broker, partition, to, f"{topic}-{index}")
        # All other brokers count as fenced.
        brokers = image.brokers
        for other in [member for member in brokers.values() if member.id != to]:
            brokers = brokers.set(other.id, other._replace(fenced=True))
        image = image._replace(brokers=brokers)
    election = ElectLeadersRequest.TopicPartitions(topic=topic, partitions=[index])
    request = ElectLeadersRequest(election_type=UNCLEAN, topic_partitions=[election])
    decision = in_one_step(elections.elect_leaders(image, node.settings, request))
    result = decision.results[0].partition_result[0]
    raise_for(result.error_code, result.error_message)
    node.controller.commit(decision.records)
    return find(broker, topic, index)[1].leader


def _check_target(broker: ClusterApi, partition: PartitionImage, to: int, what: str) -> None:
    """KafkaError: REPLICA_NOT_AVAILABLE for a broker without a replica,
    ELIGIBLE_LEADERS_NOT_AVAILABLE for a broker that does not run, even if the metadata do not show
    this yet."""
    check(to=to)
    if to not in partition.replicas:
        problem = f"broker {to} has no replica of {what}: brokers {', '.join(map(str, partition.replicas))} have"
        raise KafkaError(error_codes.REPLICA_NOT_AVAILABLE, problem)
    member = broker.member(to)
    if member is not None and member.broker is None:
        raise KafkaError(error_codes.ELIGIBLE_LEADERS_NOT_AVAILABLE, f"broker {to} does not run: start it first")
