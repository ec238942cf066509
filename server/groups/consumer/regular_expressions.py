"""Regular expressions that members of a consumer group subscribe with (KIP-848, KIP-1043).

The coordinator resolves them, and writes which topics match. They are resolved again after topics
were created, and every `group.consumer.regex.refresh.interval.ms`, at most every REFRESH_PAUSE_MS.
Kafka resolves them on another thread; the group epoch grows when that is done, so here it is done
right after the heartbeat that needs it was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import Protocol

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.regular_expression import InvalidRegularExpression, compile_pattern
from ...requests.request import Refusal
from ..group_coordinator_shard import GroupCoordinatorShard
from ..modern.subscription_count import add_regex_topics
from . import records
from .consumer_group_member import ConsumerGroupMember
from .membership import ConsumerGroupMembership
from .records import ResolvedRegularExpression

log = ClientLog("kafkadouble.server.groups")

REFRESH_PAUSE_MS = 10_000
"""The least time between two resolutions; a constant in Kafka."""


class MemberChange(Protocol):
    """The change that a request makes, as far as the regular expression of its member goes."""

    @property
    def group(self) -> ConsumerGroupMembership: ...

    shard: GroupCoordinatorShard
    member: ConsumerGroupMember
    updated: ConsumerGroupMember
    records: list[CoordinatorRecord]

    def after_write(self, action: Callable[[], None]) -> None: ...


class RegexUpdate(Enum):
    """The change that a request made to the regular expression of its member."""

    NO_CHANGE = "no change"
    UPDATED = "updated"
    UPDATED_AND_RESOLVED = "updated and resolved"

    @property
    def is_updated(self) -> bool:
        return self is not RegexUpdate.NO_CHANGE


def maybe_update_regular_expressions(change: MemberChange) -> RegexUpdate:
    """Takes over the regular expression of the member, and lets it be resolved if that is needed.

    Raises Refusal(INVALID_REGULAR_EXPRESSION).
    """
    group = change.group
    old, new = change.member.subscribed_topic_regex, change.updated.subscribed_topic_regex
    update, is_new = _update(change, old, new) if old != new else (RegexUpdate.NO_CHANGE, False)
    if not is_new and not group.subscribed_regular_expressions:
        return update
    last = next(iter(group.resolved_regular_expressions.values()), None)
    if last is not None and change.shard.now <= last.timestamp + REFRESH_PAUSE_MS:
        return update
    used = group.regular_expressions_with(change.member, change.updated)
    if used and (is_new or _needs_refresh(group, used, last)):
        change.after_write(partial(_resolve_or_log, change.shard, group.group_id, list(used)))
    return update


def _update(change: MemberChange, old: str | None, new: str | None) -> tuple[RegexUpdate, bool]:
    """Returns what the change of a regular expression is, and whether it is new to the group."""
    group, count = change.group, change.group.subscribed_regular_expressions
    if old and count[old] == 1:
        change.records.append(records.regular_expression_tombstone(group.group_id, old))
    if new and not count[new]:
        try:
            compile_pattern(new)
        except InvalidRegularExpression as problem:
            message = f"SubscribedTopicRegex `{new}` is not a valid regular expression: {problem}."
            raise Refusal(error_codes.INVALID_REGULAR_EXPRESSION, message) from problem
        return RegexUpdate.UPDATED, True
    is_resolved = new in group.resolved_regular_expressions if new else bool(old)
    return (RegexUpdate.UPDATED_AND_RESOLVED if is_resolved else RegexUpdate.UPDATED), False


def _needs_refresh(group: ConsumerGroupMembership, used: Counter[str], last: ResolvedRegularExpression | None) -> bool:
    shard = group.shard
    refresh_ms = shard.node.settings.int("group.consumer.regex.refresh.interval.ms")
    return (
        last is None
        or len(used) != len(group.resolved_regular_expressions)
        or last.version < shard.topics_created_at
        or shard.now > last.timestamp + refresh_ms
    )


def _resolve_or_log(shard: GroupCoordinatorShard, group_id: str, regexes: Iterable[str]) -> None:
    """Resolves them; if that cannot be written, a later heartbeat does it. The heartbeat that
    needs it is written already."""
    try:
        _resolve(shard, group_id, regexes)
    except Refusal as refusal:
        log.warning("group %s: its regular expressions were not written: error %s", group_id, refusal.code)


def _resolve(shard: GroupCoordinatorShard, group_id: str, regexes: Iterable[str]) -> None:
    """Writes which topics match; bumps the group epoch if others match than before."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ConsumerGroupMembership):
        return
    names, changed, found = dict(group.subscribed_topic_names), False, []
    for regex in regexes:
        if not group.subscribed_regular_expressions[regex]:
            continue
        resolved = _matching(shard, regex)
        before = group.topics_of_regex(regex)
        if before != resolved.topics:
            changed = True
            add_regex_topics(names, before, -1)
            add_regex_topics(names, resolved.topics, 1)
        found.append(records.regular_expression_record(group_id, regex, resolved))
    metadata_hash = group.compute_metadata_hash(names)
    if changed or metadata_hash != group.metadata_hash:
        found.append(records.epoch_record(group_id, group.group_epoch + 1, metadata_hash))
    shard.write(found)
    group.set_metadata_refresh_deadline(shard.now, group.group_epoch)


def _matching(shard: GroupCoordinatorShard, regex: str) -> ResolvedRegularExpression:
    image = shard.node.image
    try:
        pattern = compile_pattern(regex)
    except InvalidRegularExpression:
        topics: frozenset[str] = frozenset()
    else:
        topics = frozenset(name for name in image.topic_ids if pattern.matches(name))
    return ResolvedRegularExpression(topics, image.end.offset, shard.now)
