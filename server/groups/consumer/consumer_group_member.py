"""A member of a consumer group (KIP-848), also one that still uses the classic protocol.

A partition is assigned with the epoch at which the member got it: an offset commit with an older
epoch comes from a previous assignment (KIP-1251).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from ..modern.modern_group_member import ModernGroupMember

PartitionEpochs = Mapping[Uuid, Mapping[int, int]]
"""Topic id -> partition -> the epoch of its assignment to the member."""

LEAVE_GROUP_STATIC_MEMBER_EPOCH = -2
"""The epoch with which a static member leaves for a while; its partitions stay its own."""


class ClassicProtocol(NamedTuple):
    """An assignor that a classic member offered in JoinGroup, with its subscription."""

    name: str
    metadata: bytes


class ClassicMemberMetadata(NamedTuple):
    """The state that the coordinator keeps for a member that uses the classic protocol."""

    session_timeout_ms: int
    supported_protocols: tuple[ClassicProtocol, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupMember(ModernGroupMember):
    """One member. `rebalance_timeout_ms` is -1 until it is known. An empty `subscribed_topic_regex`
    is no subscription, as null is."""

    rebalance_timeout_ms: int = -1
    subscribed_topic_regex: str | None = ""
    server_assignor_name: str | None = None
    assigned_partitions: PartitionEpochs = field(default_factory=dict)
    partitions_pending_revocation: PartitionEpochs = field(default_factory=dict)
    classic_member_metadata: ClassicMemberMetadata | None = None

    @property
    def uses_classic_protocol(self) -> bool:
        return self.classic_member_metadata is not None

    @property
    def supported_classic_protocols(self) -> tuple[ClassicProtocol, ...]:
        """Returns the assignors of a classic member, best first."""
        return () if self.classic_member_metadata is None else self.classic_member_metadata.supported_protocols

    def assignment_epoch(self, topic_id: Uuid, partition: int) -> int | None:
        """Returns the epoch at which the member got a partition that it still has or must
        revoke."""
        for partitions in (self.assigned_partitions, self.partitions_pending_revocation):
            epoch = partitions.get(topic_id, {}).get(partition)
            if epoch is not None:
                return epoch
        return None

    def leaving_for_a_while(self) -> ConsumerGroupMember:
        """Returns the static member after it left with the epoch -2."""
        zeros = {id: dict.fromkeys(partitions, 0) for id, partitions in self.assigned_partitions.items()}
        epoch = LEAVE_GROUP_STATIC_MEMBER_EPOCH
        return replace(self, member_epoch=epoch, partitions_pending_revocation={}, assigned_partitions=zeros)
