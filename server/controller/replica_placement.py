"""The replicas of new partitions: a manual assignment, checked, or a placement across all racks.

The first active replica leads, and all active replicas are in sync. A fenced broker gets replicas
only if there are too few others, and never leads; a broker in controlled shutdown, or with all log
directories cordoned (KIP-1066), gets none. The order of brokers is in `striped_replica_placer.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import BrokerImage, Image
from ..metadata.log_dir_ids import default_directory
from ..requests.request import Refusal
from .striped_replica_placer import UsableBroker, place_striped


def place_replicas(image: Image, first: int, count: int, replication_factor: int) -> list[list[int]]:
    """Replicas for `count` partitions from number `first` on. Refusal(INVALID_REPLICATION_FACTOR)
    if there are too few brokers.
    """
    usable = [
        UsableBroker(broker.id, broker.rack, broker.fenced)
        for broker in image.brokers.values()
        if not broker.in_controlled_shutdown and takes_replicas(broker)
    ]
    problem = _placement_problem(usable, replication_factor)
    if problem is not None:
        raise Refusal(error_codes.INVALID_REPLICATION_FACTOR, problem)
    return list(islice(place_striped(usable, replication_factor), first, first + count))


def takes_replicas(broker: BrokerImage) -> bool:
    """Whether the broker has a log directory that is not cordoned; true if it reported no
    directories.
    """
    return not broker.log_dirs or not set(broker.log_dirs) <= set(broker.cordoned_log_dirs)


def _placement_problem(usable: Sequence[UsableBroker], replication_factor: int) -> str | None:
    if all(broker.fenced for broker in usable):
        return "All brokers are currently fenced, or have all their log directories cordoned."
    if replication_factor > len(usable):
        reason = f"because only {len(usable)} broker(s) are registered or some brokers have all their log directories cordoned."
        return f"The target replication factor of {replication_factor} cannot be reached {reason}"
    return None


def checked_assignment(image: Image, index: int, replicas: Sequence[int], replication_factor: int | None) -> list[int]:
    """A manual assignment for the new partition `index`. Refusal(INVALID_REPLICA_ASSIGNMENT)."""
    check_assignable(image, replicas, replication_factor)
    if not any(image.brokers[broker].active for broker in replicas):
        message = f"{index} are fenced or in controlled shutdown."
        message = f"All brokers specified in the manual partition assignment for partition {message}"
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, message)
    return list(replicas)


def check_assignable(image: Image, replicas: Sequence[int], replication_factor: int | None = None) -> None:
    """Refusal(INVALID_REPLICA_ASSIGNMENT) if a partition cannot have these replicas.
    `replication_factor` None allows any number.
    """
    problem = _assignment_problem(image, sorted(replicas), replication_factor)
    if problem is not None:
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, problem)


def _assignment_problem(image: Image, brokers: list[int], replication_factor: int | None) -> str | None:
    prefix = "The manual partition assignment includes"
    if not brokers:
        return f"{prefix} an empty replica list."
    for at, broker in enumerate(brokers):
        if broker not in image.brokers:
            return f"{prefix} broker {broker}, but no such broker is registered."
        if not takes_replicas(image.brokers[broker]):
            return f"{prefix} broker {broker}, but all its log directories are cordoned."
        if at and broker == brokers[at - 1]:
            return f"{prefix} the broker {broker} more than once."
    if replication_factor not in (None, len(brokers)):
        others = f"previous partitions, which have {replication_factor} replica(s)."
        return f"{prefix} a partition with {len(brokers)} replica(s), but this is not consistent with {others}"
    return None


def partition_record(image: Image, topic_id: Uuid, index: int, replicas: Sequence[int]) -> PartitionRecord:
    """A new partition, led by its first active replica."""
    in_sync = [broker for broker in replicas if image.brokers[broker].active]
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=in_sync,
        leader=in_sync[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=[default_directory(image.brokers[broker]) for broker in replicas],
    )
