"""A classic group: its members, its generation and its state (the rebalance protocol of clients, up to KIP-848).

Rules. The group knows who is in it and what that means; when it rebalances, and who is told, stands in `rebalance`. A member that goes takes
its timers along and leaves nobody waiting. The generation only grows. There is a leader whenever there are members.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.join_group import JoinGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

from ...coordinator.record import CoordinatorRecord
from ...requests.request import Refusal
from ...requests.timers import Timer
from ..committed import Committed
from ..group import CLASSIC, Group
from . import protocols, rebalance, records, sessions
from .member import Member
from .state import MAY_FOLLOW, State

if TYPE_CHECKING:
    from ..shard import GroupShard

CONSUMER_PROTOCOL = "consumer"
"""The protocol type of Kafka's consumers, whose metadata the coordinator can read."""


class ClassicGroup(Group):
    """One classic group in its shard."""

    type = CLASSIC

    def __init__(self, shard: GroupShard, group_id: str, *, state: State = State.EMPTY) -> None:
        self.shard, self.id = shard, group_id
        self.state, self.previous_state = state, State.DEAD
        self.state_since = shard.now
        """When it entered its state (ms); -1 when an old record does not say."""
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        """The protocol (for consumers: the assignor) of this generation."""
        self.generation = 0
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        """Instance id -> member id."""
        self.pending_joins: dict[str, Timer] = {}
        """Member ids that were handed out and not used yet (KIP-394) -> when they are given up."""
        self.pending_syncs: dict[str, None] = {}
        """Members that were told of this generation and have not sent SyncGroup yet, in the order of joining."""
        self.subscribed: frozenset[str] | None = None
        """The topics that the members subscribe to; None when their metadata does not say."""
        self.new_member_added = False
        """Whether somebody came since the initial rebalance was last prolonged."""
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    @property
    def is_consumers(self) -> bool:
        """Whether its members are Kafka consumers."""
        return self.protocol_type == CONSUMER_PROTOCOL

    @property
    def rebalance_timeout(self) -> int:
        """How long its slowest member may take to rejoin (ms)."""
        return max((member.rebalance_timeout for member in self.members.values()), default=0)

    @property
    def awaiting_join(self) -> int:
        """How many members wait for the answer to their JoinGroup."""
        return sum(member.joining is not None for member in self.members.values())

    @property
    def all_joined(self) -> bool:
        """Whether nobody is missing, not even one who only has a member id yet."""
        return not self.pending_joins and all(member.joining is not None for member in self.members.values())

    def move_to(self, state: State) -> None:
        assert self.state in MAY_FOLLOW[state], f"{self!r} cannot become {state.value}"
        self.previous_state, self.state, self.state_since = self.state, state, self.shard.now

    def add(self, member: Member) -> None:
        """A member comes in; the first is the leader, and its protocol type the group's."""
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id
        self.members[member.id] = member
        self.drop_pending(member.id)

    def drop_pending(self, member_id: str) -> None:
        """Wait no longer for the owner of a member id to join."""
        if (timer := self.pending_joins.pop(member_id, None)) is not None:
            timer.cancel()

    def remove(self, member_id: str) -> None:
        """A member goes, or an id that was handed out; the leader's office passes to the longest-standing member.

        If it waits for an answer it learns that it is no member: it may have gone by request of another connection.
        """
        self.drop_pending(member_id)
        self.pending_syncs.pop(member_id, None)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        member.end_session()
        if member.instance_id is not None:
            del self.static_members[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        member.answer_join(JoinGroupResponse(error_code=error_codes.UNKNOWN_MEMBER_ID))
        member.answer_sync(SyncGroupResponse(error_code=error_codes.UNKNOWN_MEMBER_ID))

    def replace_static(self, instance_id: str, new_id: str) -> Member:
        """A static member came back under a new id, and fences the old one, with all its duties and rights (KIP-345)."""
        old_id = self.static_members[instance_id]
        member = self.members.pop(old_id)
        member.answer_join(JoinGroupResponse(error_code=error_codes.FENCED_INSTANCE_ID, member_id=old_id))
        member.answer_sync(SyncGroupResponse(error_code=error_codes.FENCED_INSTANCE_ID))
        self.rename(member, new_id)
        return member

    def rename(self, member: Member, new_id: str) -> None:
        """Give a static member, who is out of `members` just now, another id."""
        if self.leader == member.id:
            self.leader = new_id
        if member.id in self.pending_syncs:
            del self.pending_syncs[member.id]
            self.pending_syncs[new_id] = None
        member.id, member.is_new = new_id, False
        self.members[new_id] = member
        assert member.instance_id is not None
        self.static_members[member.instance_id] = new_id

    def lose(self, member: Member) -> None:
        """A member's session ended."""
        rebalance.remove_member(self, member, f"{member!r} was not heard of for its session timeout")

    def give_up(self, member_id: str) -> None:
        """Nobody joined with a member id that was handed out."""
        rebalance.remove_pending(self, member_id)

    def elect_joined_leader(self) -> bool:
        """See that the leader is one who waits to hear of the new generation; False when nobody does."""
        if self.leader is None:
            return False
        if self.members[self.leader].joining is None:
            joined = next((member.id for member in self.members.values() if member.joining is not None), None)
            if joined is None:
                return False
            self.leader = joined
        return True

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether somebody with these protocols can be, or stay, a member."""
        if self.state is State.EMPTY:
            return bool(protocol_type) and bool(names)
        if protocol_type != self.protocol_type:
            return False
        return not protocols.common(self.members.values()).isdisjoint(names) if self.members else bool(names)

    def select_protocol(self) -> str:
        """What the members vote for."""
        return protocols.elected(self.members.values())

    def next_generation(self) -> None:
        """Everybody who is to be in it has joined: wait for the leader's assignment, or be empty."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.note_subscriptions()
        self.move_to(State.COMPLETING_REBALANCE if self.members else State.EMPTY)
        self.pending_syncs.clear()

    def note_subscriptions(self) -> None:
        """Read the members' metadata for the topics that they want, if the group's protocol is one that can be read."""
        protocol, self.subscribed = self.protocol, None
        if self.is_consumers and not self.members:
            self.subscribed = frozenset()
        elif self.is_consumers and protocol is not None:
            self.subscribed = protocols.subscribed_topics(m.protocols[protocol] for m in self.members.values())

    def check_member(self, member_id: str, instance_id: str | None) -> None:
        """Is this a member, and the one that holds the instance id? UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if instance_id is not None:
            holder = self.static_members.get(instance_id)
            if holder is not None and holder != member_id:
                raise Refusal(error_codes.FENCED_INSTANCE_ID)
            if holder is None:
                raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
        if member_id not in self.members:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID)

    def check_generation(self, generation: int) -> None:
        if generation != self.generation:
            raise Refusal(error_codes.ILLEGAL_GENERATION)

    def check_commit(self, member_id: str, instance_id: str | None, generation: int, *, transactional: bool) -> None:
        if generation < 0 and self.is_empty:
            return  # an admin client, or a consumer that manages its partitions itself
        if generation >= 0 or member_id or instance_id is not None:
            self.check_member(member_id, instance_id)
            self.check_generation(generation)
        elif not transactional:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
        if not transactional and self.state is State.COMPLETING_REBALANCE:
            raise Refusal(error_codes.REBALANCE_IN_PROGRESS)

    def committed_by(self, member_id: str) -> None:
        if self.state in (State.STABLE, State.PREPARING_REBALANCE) and member_id in self.members:
            sessions.keep(self, self.members[member_id])

    def check_offset_delete(self) -> None:
        if not self.is_empty and not self.is_consumers:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if not self.is_empty:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def subscribes_to(self, topic: str) -> bool:
        return self.is_consumers if self.subscribed is None else topic in self.subscribed

    def retained_since(self, offset: Committed) -> int | None:
        if self.protocol_type is None:
            return offset.committed_at
        if self.is_empty:
            return offset.committed_at if self.state_since == -1 else self.state_since
        if self.is_consumers and self.subscribed is not None and self.state is State.STABLE:
            return offset.committed_at
        return None

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return [records.group_tombstone(self.id)]

    def loaded(self) -> None:
        for member in self.members.values():
            sessions.keep(self, member)
        if len(self.members) > self.shard.node.settings.int("group.max.size"):
            rebalance.prepare(self, "it is over the greatest size that is allowed now")

    def unloaded(self) -> None:
        self.move_to(State.DEAD)
        for timer in (self.join_timer, self.sync_timer, *self.pending_joins.values()):
            if timer is not None:
                timer.cancel()
        for member in self.members.values():
            member.end_session()
            member.answer_join(JoinGroupResponse(error_code=error_codes.NOT_COORDINATOR, member_id=member.id))
            member.answer_sync(SyncGroupResponse(error_code=error_codes.NOT_COORDINATOR))

    def __repr__(self) -> str:
        return (
            f"classic group {self.id!r}, {self.state.value}, generation {self.generation}, {len(self.members)} members"
        )
