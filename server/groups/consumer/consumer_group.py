"""A consumer group (KIP-848): what commits, deletions, loading and a test do to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from kafkadouble.messages import error_codes

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..coordinator_group import CommitPartitionValidator, accept_partition
from . import member_epochs, records, timers
from .consumer_group_member import ConsumerGroupMember
from .fencing import fence_members
from .membership import ConsumerGroupMembership

COMMIT_VERSION_FROM = 9
"""The first version of OffsetCommit that has a member epoch."""


class ConsumerGroup(ConsumerGroupMembership):
    """One consumer group of a shard."""

    records: ClassVar[Any] = records

    def validate_offset_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int, *, transactional: bool, version: int
    ) -> CommitPartitionValidator:
        if generation_id < 0 and self.is_empty:
            return accept_partition
        if transactional and generation_id == -1 and not member_id and group_instance_id is None:
            return accept_partition
        member = self.member(member_id)
        if not transactional and not member.uses_classic_protocol and version < COMMIT_VERSION_FROM:
            raise Refusal(error_codes.UNSUPPORTED_VERSION)
        return member_epochs.validate_commit(member, generation_id)

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        if member_id is None:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        member = self.member(member_id)
        if member_epoch != member.member_epoch:
            raise Refusal(member_epochs.stale_code(member))

    def fence_members(self, members: Sequence[ConsumerGroupMember]) -> None:
        fence_members(self, members)

    def expire_member(self, name: str) -> None:
        fence_members(self, [self.named_member(name)])

    def validate_offset_delete(self) -> None:
        """As in Kafka, offsets of topics without a subscription may be deleted at any time."""

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return records.group_tombstones(self.group_id, self.members, self.resolved_regular_expressions)

    def on_loaded(self) -> None:
        timers.schedule_all(self)
