"""Which brokers hold the replicas of a new partition: those that somebody names, checked, or else every active broker in turn.

The first replica leads, and all of them are in sync, unless they are fenced or shutting down. Kafka begins at a broker of its random choice;
here partition 0 begins at the first, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.uuid import Uuid

from ..request import Refusal
from .image import Image

UNASSIGNED = Uuid.ZERO
"""The directory of a replica that its broker has still to place (KIP-858)."""


def placed(image: Image, first: int, count: int, replication_factor: int) -> list[list[int]]:
    """Replicas for `count` partitions from number `first` on. Refusal(INVALID_REPLICATION_FACTOR) when there are too few brokers."""
    problem = _problem(image, replication_factor)
    if problem is not None:
        said = f"Unable to replicate the partition {replication_factor} time(s): {problem}"
        raise Refusal(error_codes.INVALID_REPLICATION_FACTOR, said)
    brokers = sorted(broker.id for broker in image.brokers.values() if broker.active)
    copies = brokers * 2
    starts = [index % len(brokers) for index in range(first, first + count)]
    return [copies[start : start + replication_factor] for start in starts]


def _problem(image: Image, replication_factor: int) -> str | None:
    active = sum(broker.active for broker in image.brokers.values())
    if not active:
        return "All brokers are currently fenced."
    if replication_factor > active:
        reason = (
            f"because only {active} broker(s) are registered or some brokers have all their log directories cordoned."
        )
        return f"The target replication factor of {replication_factor} cannot be reached {reason}"
    return None


def checked(image: Image, index: int, replicas: Sequence[int], replication_factor: int | None) -> list[int]:
    """The replicas that somebody names for partition `index`. Refusal(INVALID_REPLICA_ASSIGNMENT) when they cannot be."""
    problem = _wrong(image, sorted(replicas), replication_factor)
    if problem is None and not any(image.brokers[broker].active for broker in replicas):
        problem = f"{index} are fenced or in controlled shutdown."
        problem = f"All brokers specified in the manual partition assignment for partition {problem}"
    if problem is not None:
        raise Refusal(error_codes.INVALID_REPLICA_ASSIGNMENT, problem)
    return list(replicas)


def _wrong(image: Image, brokers: list[int], replication_factor: int | None) -> str | None:
    says = "The manual partition assignment includes"
    if not brokers:
        return f"{says} an empty replica list."
    for at, broker in enumerate(brokers):
        if broker not in image.brokers:
            return f"{says} broker {broker}, but no such broker is registered."
        if at and broker == brokers[at - 1]:
            return f"{says} the broker {broker} more than once."
    if replication_factor not in (None, len(brokers)):
        others = f"previous partitions, which have {replication_factor} replica(s)."
        return f"{says} a partition with {len(brokers)} replica(s), but this is not consistent with {others}"
    return None


def partition_record(image: Image, topic_id: Uuid, index: int, replicas: Sequence[int]) -> PartitionRecord:
    """A new partition, led by the first of its replicas that is active."""
    in_sync = [broker for broker in replicas if image.brokers[broker].active]
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=in_sync,
        leader=in_sync[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=[_directory(image, broker) for broker in replicas],
    )


def _directory(image: Image, broker: int) -> Uuid:
    log_dirs = image.brokers[broker].log_dirs
    return log_dirs[0] if len(log_dirs) == 1 else UNASSIGNED
