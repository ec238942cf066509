"""Which member epochs the coordinator accepts (KIP-848, KIP-1251).

Heartbeats: the current epoch; also the previous one, if the member owns nothing but what it has: it
did not receive the last response. Commits: an epoch that is not older than the assignment of the
partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ...requests.request import Refusal
from ..coordinator_group import CONSUMER, CommitPartitionValidator, accept_partition
from ..modern.heartbeat_group import fenced_member_epoch
from .consumer_group_member import ConsumerGroupMember, PartitionEpochs

JOIN_GROUP_MEMBER_EPOCH = 0
"""The epoch with which a member joins."""


def validate_heartbeat(member: ConsumerGroupMember, epoch: int, owned: Sequence[Any] | None) -> None:
    """Checks the epoch of a heartbeat. Raises Refusal(FENCED_MEMBER_EPOCH)."""
    current = member.member_epoch
    if epoch in (JOIN_GROUP_MEMBER_EPOCH, current):
        return
    if epoch != member.previous_member_epoch or not _is_subset(owned, member.assigned_partitions):
        raise fenced_member_epoch(CONSUMER, epoch, current)


def _is_subset(owned: Sequence[Any] | None, assigned: PartitionEpochs) -> bool:
    if owned is None:
        return False
    return all(each.topic_id in assigned and assigned[each.topic_id].keys() >= set(each.partitions) for each in owned)


def stale_code(member: ConsumerGroupMember) -> int:
    """Returns the error code of a wrong epoch in a request about offsets."""
    is_classic = member.uses_classic_protocol
    return error_codes.ILLEGAL_GENERATION if is_classic else error_codes.STALE_MEMBER_EPOCH


def validate_commit(member: ConsumerGroupMember, epoch: int) -> CommitPartitionValidator:
    """Checks the epoch of a commit; returns the check of each partition. Raises Refusal."""
    if epoch == member.member_epoch:
        return accept_partition
    if epoch > member.member_epoch:
        raise Refusal(stale_code(member))

    def validate_partition(topic: str, topic_id: Uuid, partition: int) -> None:
        assignment_epoch = member.assignment_epoch(topic_id, partition)
        if assignment_epoch is None or epoch < assignment_epoch:
            raise Refusal(stale_code(member))

    return validate_partition
