"""The members of a classic group, its generation and its state machine.

It implements the rebalance protocol in which a client computes the assignment; KIP-848 replaces it.
This module holds what the group is. `rebalance` decides when it moves from one state to the next.

Rules. A removed member loses its timers, and its waiting requests are answered. The generation id
only grows. A group with members has a leader.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

from ...requests.request import Refusal
from ...requests.timers import Timer
from ..coordinator_group import CLASSIC, CoordinatorGroup
from ..group_coordinator_shard import GroupCoordinatorShard
from . import protocols
from .member import ClassicGroupMember
from .state import VALID_PREVIOUS_STATES, ClassicGroupState

CONSUMER_PROTOCOL_TYPE = "consumer"
"""The protocol type of Kafka's consumers. The coordinator can decode their metadata."""


class ClassicGroupMembership(CoordinatorGroup):
    """The members of one classic group of a shard."""

    type = CLASSIC

    def __init__(
        self, shard: GroupCoordinatorShard, group_id: str, *, state: ClassicGroupState = ClassicGroupState.EMPTY
    ) -> None:
        self.shard, self.group_id = shard, group_id
        self.state, self.previous_state = state, ClassicGroupState.DEAD
        self.current_state_timestamp = shard.now
        """When the group entered its state (ms); -1 if it was loaded from a record without it."""
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        """The protocol of this generation; for consumers, the assignor."""
        self.generation_id = 0
        self.leader_id: str | None = None
        self.members: dict[str, ClassicGroupMember] = {}
        self.static_members: dict[str, str] = {}
        """Group instance id -> member id."""
        self.pending_join_members: dict[str, Timer] = {}
        """Member ids that were assigned and have not joined yet (KIP-394) -> their expiration."""
        self.pending_sync_members: dict[str, None] = {}
        """Members of this generation that have not sent SyncGroup yet, in the order of joining."""
        self.subscribed_topics: frozenset[str] | None = None
        """The topics that the members subscribe to; None if their metadata cannot be decoded."""
        self.new_member_added = False
        """Whether a member joined since the initial rebalance delay was last extended."""
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicGroupState.EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        """Returns whether its members are Kafka consumers."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def rebalance_timeout_ms(self) -> int:
        """Returns the largest rebalance timeout of a member."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def awaiting_join_count(self) -> int:
        """Returns the number of members whose JoinGroup waits for a response."""
        return sum(member.is_awaiting_join for member in self.members.values())

    @property
    def member_ids(self) -> Iterable[str]:
        return self.members

    @property
    def has_all_members_joined(self) -> bool:
        """Returns whether every member, and every owner of a pending member id, has joined."""
        return not self.pending_join_members and all(m.is_awaiting_join for m in self.members.values())

    def transition_to(self, state: ClassicGroupState) -> None:
        assert self.state in VALID_PREVIOUS_STATES[state], f"{self!r} cannot become {state.value}"
        self.previous_state, self.state = self.state, state
        self.current_state_timestamp = self.shard.now

    def add(self, member: ClassicGroupMember) -> None:
        """Adds a member. The first member becomes the leader."""
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._remove_pending_join(member.member_id)

    def _remove_pending_join(self, member_id: str) -> None:
        if (timer := self.pending_join_members.pop(member_id, None)) is not None:
            timer.cancel()

    def remove(self, member_id: str) -> None:
        """Removes a member or a pending member id. After a leader, the oldest member leads.

        Its waiting requests get UNKNOWN_MEMBER_ID: another connection may have removed it.
        """
        self._remove_pending_join(member_id)
        self.pending_sync_members.pop(member_id, None)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        member.cancel_session()
        if member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        member.fail(error_codes.UNKNOWN_MEMBER_ID)

    def replace_static_member(self, group_instance_id: str, new_id: str) -> ClassicGroupMember:
        """Gives the static member a new id and fences the old one (KIP-345).

        Requests of the old id that still wait get FENCED_INSTANCE_ID. Leadership and the duty to
        send SyncGroup pass to the new id.
        """
        member = self.members[self.static_members[group_instance_id]]
        member.fail(error_codes.FENCED_INSTANCE_ID, join_member_id=member.member_id)
        self.rename_static_member(member, new_id)
        return member

    def rename_static_member(self, member: ClassicGroupMember, new_id: str) -> None:
        """Moves a static member to another member id. It becomes the last in order of joining."""
        del self.members[member.member_id]
        if self.leader_id == member.member_id:
            self.leader_id = new_id
        if member.member_id in self.pending_sync_members:
            del self.pending_sync_members[member.member_id]
            self.pending_sync_members[new_id] = None
        member.member_id, member.is_new = new_id, False
        self.members[new_id] = member
        assert member.group_instance_id is not None
        self.static_members[member.group_instance_id] = new_id

    def maybe_elect_new_joined_leader(self) -> bool:
        """Elects a joined member if the leader has not joined; returns whether one leads."""
        if self.leader_id is None:
            return False
        if not self.members[self.leader_id].is_awaiting_join:
            joined = next((id for id, member in self.members.items() if member.is_awaiting_join), None)
            if joined is None:
                return False
            self.leader_id = joined
        return True

    def supports_protocols(self, protocol_type: str, names: Collection[str]) -> bool:
        """Returns whether a client with these protocols can be a member."""
        if self.state is ClassicGroupState.EMPTY:
            return bool(protocol_type) and bool(names)
        if protocol_type != self.protocol_type:
            return False
        if not self.members:
            return bool(names)
        return not protocols.candidate_protocols(self.members.values()).isdisjoint(names)

    def init_next_generation(self) -> None:
        """Begins the next generation: awaits the leader's assignment, or is empty."""
        self.generation_id += 1
        self.protocol_name = protocols.select_protocol(self.members.values()) if self.members else None
        self.subscribed_topics = self.compute_subscribed_topics()
        completing, empty = ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.EMPTY
        self.transition_to(completing if self.members else empty)
        self.pending_sync_members.clear()

    def compute_subscribed_topics(self) -> frozenset[str] | None:
        """Returns the topics in the members' metadata; None if it cannot be decoded."""
        if not self.uses_consumer_protocol:
            return None
        if not self.members:
            return frozenset()
        name = self.protocol_name
        if name is None:
            return None
        return protocols.topics_of(member.supported_protocols[name] for member in self.members.values())

    def join_response(self, member: ClassicGroupMember, *, skip_assignment: bool = False) -> JoinGroupResponse:
        """Returns the JoinGroup response. Only the leader gets the member list."""
        assert self.leader_id is not None
        is_leader = self.leader_id == member.member_id
        return JoinGroupResponse(
            generation_id=self.generation_id,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            leader=self.leader_id,
            skip_assignment=skip_assignment,
            member_id=member.member_id,
            members=self._join_response_members() if is_leader else (),
        )

    def _join_response_members(self) -> list[JoinGroupResponse.JoinGroupResponseMember]:
        assert self.protocol_name is not None
        return [
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.supported_protocols[self.protocol_name],
            )
            for member in self.members.values()
        ]

    def sync_response(self, member: ClassicGroupMember) -> SyncGroupResponse:
        """Returns the SyncGroup response with the member's assignment."""
        return SyncGroupResponse(
            protocol_type=self.protocol_type,
            protocol_name=self.protocol_name,
            assignment=member.assignment,
        )

    def validate_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Checks that the ids name one member. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if group_instance_id is not None:
            owner = self.static_members.get(group_instance_id)
            if owner is not None and owner != member_id:
                raise Refusal(error_codes.FENCED_INSTANCE_ID)
            if owner is None:
                raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID)

    def validate_generation(self, generation_id: int) -> None:
        if generation_id != self.generation_id:
            raise Refusal(error_codes.ILLEGAL_GENERATION)

    def __repr__(self) -> str:
        return (
            f"classic group {self.group_id!r}, {self.state.value}, generation {self.generation_id}, "
            f"{len(self.members)} members"
        )
