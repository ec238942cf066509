"""The members of a consumer group (KIP-848), its epochs and its state: the coordinator computes its
assignment, and members reconcile with it in their heartbeats.

    Empty        no members
    Assigning    the target assignment is older than the group epoch
    Reconciling  a member has not reached the target assignment yet
    Stable       every member has its target assignment

Rules. The state is derived from the records, never stored. A partition is owned at one epoch at a
time: `current_partition_epochs` has the epoch of the member that has it, or must still revoke it.
Members may use the classic protocol while a group is upgraded or downgraded.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from kafkadouble.messages.uuid import Uuid

from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..coordinator_group import CONSUMER
from ..group_coordinator_shard import GroupCoordinatorShard
from ..modern.modern_group import ModernGroup
from ..modern.subscription_count import SubscribedTopicNames, add_regex_topics
from .consumer_group_member import ConsumerGroupMember, PartitionEpochs
from .current_assignment import NO_EPOCH
from .records import ResolvedRegularExpression

CONSUMER_PROTOCOL = "consumer"
"""The protocol type, also of classic members."""


class ConsumerGroupState(Enum):
    """The value is the name that Kafka shows."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class ConsumerGroupMembership(ModernGroup[ConsumerGroupMember]):
    """The members of one consumer group of a shard."""

    type = CONSUMER
    protocol_type = CONSUMER_PROTOCOL
    max_size_setting = "group.consumer.max.size"

    def __init__(self, shard: GroupCoordinatorShard, group_id: str) -> None:
        super().__init__(shard, group_id)
        self.server_assignors: Counter[str] = Counter()
        """Assignor name -> the members that prefer it."""
        self.current_partition_epochs: dict[Uuid, dict[int, int]] = {}
        self.subscribed_regular_expressions: Counter[str] = Counter()
        """Regular expression -> the members that subscribe with it."""
        self.resolved_regular_expressions: dict[str, ResolvedRegularExpression] = {}
        self.classic_protocols: Counter[str] = Counter()
        """Protocol name -> the classic members that support it."""
        self.has_subscription_metadata_record = False
        """Whether an older version left a record that must be deleted."""

    def new_member(self, member_id: str) -> ConsumerGroupMember:
        return ConsumerGroupMember(member_id=member_id)

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        is_stable = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return ConsumerGroupState.STABLE if is_stable else ConsumerGroupState.RECONCILING

    @property
    def state_name(self) -> str:
        return self.state.value

    def update_member(self, member: ConsumerGroupMember) -> None:
        old = self.members.get(member.member_id)
        super().update_member(member)
        self._count(old, -1)
        self._count(member, 1)
        if old is not None:
            self._remove_partition_epochs(old)
            if old.instance_id is not None:
                self.static_members.pop(old.instance_id, None)
        for topic_id, partitions in owned_partitions(member):
            epochs = self.current_partition_epochs.setdefault(topic_id, {})
            epochs.update(dict.fromkeys(partitions, member.member_epoch))
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def remove_member(self, member_id: str) -> None:
        old = self.members.get(member_id)
        super().remove_member(member_id)
        if old is not None:
            self._count(old, -1)
            self._remove_partition_epochs(old)
            if old.instance_id is not None:
                self.static_members.pop(old.instance_id, None)

    def _count(self, member: ConsumerGroupMember | None, delta: int) -> None:
        if member is None:
            return
        if member.server_assignor_name is not None:
            add_to(self.server_assignors, member.server_assignor_name, delta)
        if member.subscribed_topic_regex:
            add_to(self.subscribed_regular_expressions, member.subscribed_topic_regex, delta)
        for protocol in member.supported_classic_protocols:
            add_to(self.classic_protocols, protocol.name, delta)

    def _remove_partition_epochs(self, member: ConsumerGroupMember) -> None:
        for topic_id, partitions in owned_partitions(member):
            epochs = self.current_partition_epochs.get(topic_id, {})
            for partition in partitions:
                if epochs.get(partition) == member.member_epoch:
                    del epochs[partition]
            if not epochs:
                self.current_partition_epochs.pop(topic_id, None)

    def current_partition_epoch(self, topic_id: Uuid, partition: int) -> int:
        """Returns the epoch of the member that has the partition; NO_EPOCH if none has."""
        return self.current_partition_epochs.get(topic_id, {}).get(partition, NO_EPOCH)

    def target_assignment_of(self, member: ConsumerGroupMember) -> Assignment:
        """Returns the target assignment of a member; a static one inherits that of its instance."""
        member_id: str | None = member.member_id
        if member.instance_id is not None:
            member_id = self.static_members.get(member.instance_id)
        return EMPTY_ASSIGNMENT if member_id is None else self.target_assignment.get(member_id, EMPTY_ASSIGNMENT)

    @property
    def classic_member_count(self) -> int:
        return sum(member.uses_classic_protocol for member in self.members.values())

    def all_use_classic_protocol_except(self, members: Collection[ConsumerGroupMember]) -> bool:
        """Returns whether every other member uses the classic protocol."""
        others = self.members.keys() - {member.member_id for member in members}
        return all(self.members[id].uses_classic_protocol for id in others)

    def supports_classic_protocols(self, protocol_type: str, names: Collection[str]) -> bool:
        """Returns whether a classic client with these protocols can be a member."""
        if protocol_type != CONSUMER_PROTOCOL:
            return False
        if self.is_empty:
            return bool(names)
        return any(self.classic_protocols[name] == self.classic_member_count for name in names)

    def is_waiting_on_unreleased_partition(self, member: ConsumerGroupMember) -> bool:
        """Returns whether the member waits for a partition that another member still has."""
        assigned = member.assigned_partitions
        return any(
            partition not in assigned.get(topic_id, {})
            and self.current_partition_epoch(topic_id, partition) != NO_EPOCH
            for topic_id, partitions in self.target_assignment.get(member.member_id, EMPTY_ASSIGNMENT).items()
            for partition in partitions
        )

    def preferred_server_assignor(
        self, old: ConsumerGroupMember | None = None, new: ConsumerGroupMember | None = None
    ) -> str | None:
        """Returns the assignor that most members prefer, if `new` replaces `old`.

        Of two with the same count it is the first in Kafka's hash map: uniform before range, and
        before both an assignor that only `new` prefers. So if one member prefers uniform and one
        range, each heartbeat of the latter finds that the preferred assignor changes.
        """
        counts = Counter(self.server_assignors)
        before, after = (None if member is None else member.server_assignor_name for member in (old, new))
        if before is not None:
            add_to(counts, before, -1)
        first = None if after in counts else after
        if after is not None:
            add_to(counts, after, 1)
        names = sorted(counts, key=lambda name: (name == first, name), reverse=True)
        return max(names, key=counts.__getitem__) if counts else None

    @property
    def is_homogeneous(self) -> bool:
        return is_homogeneous(self.subscribed_regular_expressions, self.subscribed_topic_names, len(self.members))

    def set_resolved_regular_expression(self, regex: str, resolved: ResolvedRegularExpression | None) -> None:
        """Replaces or removes the topics of a regular expression (replay)."""
        if (old := self.resolved_regular_expressions.pop(regex, None)) is not None:
            add_regex_topics(self.subscribed_topic_names, old.topics, -1)
        if resolved is not None:
            self.resolved_regular_expressions[regex] = resolved
            add_regex_topics(self.subscribed_topic_names, resolved.topics, 1)

    def topics_of_regex(self, regex: str | None) -> frozenset[str]:
        """Returns the topics of a resolved regular expression; none if it is not resolved."""
        return self.resolved_regular_expressions.get(regex or "", ResolvedRegularExpression()).topics

    def subscribed_topics(self, member: ConsumerGroupMember) -> frozenset[str]:
        """Returns the topics to which a member subscribes by name or by regular expression."""
        return member.subscribed_topic_names | self.topics_of_regex(member.subscribed_topic_regex)

    def subscriptions_with(
        self, old: ConsumerGroupMember | None, new: ConsumerGroupMember | None
    ) -> SubscribedTopicNames:
        counts = super().subscriptions_with(old, new)
        old_regex = None if old is None else old.subscribed_topic_regex or None
        new_regex = None if new is None else new.subscribed_topic_regex or None
        if old_regex is not None and old_regex != new_regex and self.subscribed_regular_expressions[old_regex] == 1:
            add_regex_topics(counts, self.topics_of_regex(old_regex), -1)
        return counts

    def regular_expressions_with(
        self, old: ConsumerGroupMember | None, new: ConsumerGroupMember | None
    ) -> Counter[str]:
        """Returns how many members use each regular expression, if `new` replaces `old`."""
        counts = Counter(self.subscribed_regular_expressions)
        for member, delta in ((old, -1), (new, 1)):
            if member is not None and member.subscribed_topic_regex:
                add_to(counts, member.subscribed_topic_regex, delta)
        return counts

    @abstractmethod
    def fence_members(self, members: Sequence[ConsumerGroupMember]) -> None:
        """Removes the members, and writes that. Raises Refusal if it cannot be written."""


def add_to(counts: Counter[str], name: str, delta: int) -> None:
    """Adds to a count; a name that is not counted any more has no entry."""
    counts[name] += delta
    if counts[name] <= 0:
        del counts[name]


def owned_partitions(member: ConsumerGroupMember) -> Iterable[tuple[Uuid, Mapping[int, int]]]:
    """Iterates over what the member has, and what it must still revoke."""
    partitions: PartitionEpochs
    for partitions in (member.assigned_partitions, member.partitions_pending_revocation):
        yield from partitions.items()


def is_homogeneous(regexes: Counter[str], names: SubscribedTopicNames, member_count: int) -> bool:
    """Returns whether all members subscribe to the same topics (Kafka: `SubscriptionType`).

    That is so if they all use the same regular expression and no names, or the same names and no
    regular expression.
    """
    if not regexes:
        return all(count.by_name == member_count for count in names.values())
    ((_, using), *more) = regexes.items()
    return not more and using == member_count and all(not count.by_name for count in names.values())
