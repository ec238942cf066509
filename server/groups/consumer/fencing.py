"""Removes members from a consumer group: they left, or a timer of theirs ran out (KIP-848).

The group epoch grows, so the other members get the partitions. If only classic members remain, the
group becomes a classic group (`downgrade`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...coordinator.coordinator_record import CoordinatorRecord
from ..modern.subscription_count import add_regex_topics
from . import downgrade, records, timers
from .consumer_group_member import ConsumerGroupMember
from .membership import ConsumerGroupMembership


def fence_members(group: ConsumerGroupMembership, members: Sequence[ConsumerGroupMember]) -> None:
    """Removes the members, and writes that. Raises Refusal if it cannot be written."""
    if not members:
        return
    if downgrade.can_downgrade_without(group, members):
        downgrade.downgrade_without(group, members)
        return
    group.shard.write(_removal(group, members))
    for member in members:
        timers.cancel_all(group, member.member_id)


def _removal(group: ConsumerGroupMembership, members: Sequence[ConsumerGroupMember]) -> list[CoordinatorRecord]:
    group_id, epoch = group.group_id, group.group_epoch + 1
    removal = [tombstone for member in members for tombstone in records.member_tombstones(group_id, member.member_id)]
    unused = _regular_expressions_without(group, members)
    removal += [records.regular_expression_tombstone(group_id, regex) for regex in unused]
    counts = dict(group.subscribed_topic_names)
    for member in members:
        group.update_subscribed_topic_names(counts, member, None)
    for regex in unused:
        add_regex_topics(counts, group.topics_of_regex(regex), -1)
    removal.append(records.epoch_record(group_id, epoch, group.compute_metadata_hash(counts)))
    if len(members) == len(group.members):
        removal.append(records.target_assignment_metadata_record(group_id, epoch, 0))
    return removal


def _regular_expressions_without(group: ConsumerGroupMembership, members: Sequence[ConsumerGroupMember]) -> list[str]:
    """Returns the regular expressions that no other member uses."""
    used = Counter(member.subscribed_topic_regex for member in members if member.subscribed_topic_regex)
    return [regex for regex, count in used.items() if group.subscribed_regular_expressions[regex] == count]
