"""The common base of consumer, share and streams groups (KIP-848, KIP-932, KIP-1071): members that
send heartbeats, and static members (KIP-345), which share groups do not have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from kafkadouble.messages import error_codes

from ...coordinator.timeline_hash_map import TimelineHashMap
from ...java.strings import java_hash
from ...requests.request import Refusal
from ..coordinator_group import CoordinatorGroup
from ..offset_and_metadata import OffsetAndMetadata

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


class HeartbeatMember(Protocol):
    """A member, as its group sees it."""

    @property
    def member_id(self) -> str: ...


M = TypeVar("M", bound=HeartbeatMember)


class HeartbeatGroup(CoordinatorGroup, Generic[M]):
    """One group whose members send heartbeats of its own API."""

    max_size_setting: ClassVar[str]
    """How many members it may have."""

    def __init__(self, shard: GroupCoordinatorShard, group_id: str) -> None:
        self.shard, self.group_id = shard, group_id
        """Neither changes. The shard need not have the group: the first records create it there."""
        self.members: TimelineHashMap[str, M] = TimelineHashMap(java_hash)
        """In the order in which Java iterates over them, which assignors see."""
        self.static_members: dict[str, str] = {}
        """Group instance id -> the id of the member of `members` that has it."""

    @abstractmethod
    def new_member(self, member_id: str) -> M:
        """Returns a member that has no subscription yet."""

    def member(self, member_id: str) -> M:
        """Returns a member. Raises Refusal(UNKNOWN_MEMBER_ID)."""
        found = self.members.get(member_id)
        if found is None:
            message = f"Member {member_id} is not a member of group {self.group_id}."
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, message)
        return found

    def member_or_new(self, member_id: str) -> M:
        """Returns a member, or a new one, which is not added to the group."""
        return self.members.get(member_id) or self.new_member(member_id)

    def named_member(self, name: str) -> M:
        """Returns a member by its id or its instance id. Raises Refusal(UNKNOWN_MEMBER_ID)."""
        found = self.static_member(name) or self.members.get(name)
        if found is None:
            members = ", ".join(self.members) or "no members"
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{self.group_id} has the members {members}")
        return found

    def static_member(self, instance_id: str | None) -> M | None:
        member_id = None if instance_id is None else self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def validated_static_member(self, member_id: str, instance_id: str) -> M:
        """Returns the static member. Raises Refusal: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        member = self.static_member(instance_id)
        if member is None:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.member_id != member_id:
            owner = f"was fenced by member {member.member_id}"
            message = f"Static member {member_id} with instance id {instance_id} {owner}."
            raise Refusal(error_codes.FENCED_INSTANCE_ID, message)
        return member

    def refuse_if_full(self, member_id: str, instance_id: str | None = None) -> None:
        """Raises Refusal(GROUP_MAX_SIZE_REACHED) for a member that would be one too many."""
        most = self.shard.node.settings.int(self.max_size_setting)
        is_known = member_id in self.members or instance_id in self.static_members
        if len(self.members) >= most and not is_known:
            message = f"The {self.type} group has reached its maximum capacity of {most} members."
            raise Refusal(error_codes.GROUP_MAX_SIZE_REACHED, message)

    def refuse_to_rebalance_empty(self) -> None:
        """Raises Refusal(UNKNOWN_MEMBER_ID) if the group has no members."""
        if not self.members:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{self.group_id} has no members")

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def member_ids(self) -> Iterable[str]:
        return self.members

    def validate_delete_group(self) -> None:
        if self.members:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def on_offset_commit(self, member_id: str) -> None:
        """Only heartbeats restart the session of a member."""

    def offset_retention_start(self, offset: OffsetAndMetadata) -> int | None:
        return offset.commit_timestamp

    def on_unloaded(self) -> None:
        """Nothing waits, and the shard cancels its timers."""


def unreleased_instance_id(member_id: str, instance_id: str, owner_id: str) -> Refusal:
    """The refusal of a member whose instance id another member has."""
    message = (
        f"Static member {member_id} with instance id {instance_id} cannot join the group because the instance id"
        f" is owned by {owner_id} member."
    )
    return Refusal(error_codes.UNRELEASED_INSTANCE_ID, message)


def fenced_member_epoch(type: str, epoch: int, current: int, reason: str = "") -> Refusal:
    """The refusal of a heartbeat with another epoch than the current one."""
    how = "greater" if epoch > current else "smaller"
    message = (
        f"The {type} group member has a {how} member epoch ({epoch}) than the one known by the group coordinator"
        f" ({current}){reason}. The member must abandon all its partitions and rejoin."
    )
    return Refusal(error_codes.FENCED_MEMBER_EPOCH, message)
