"""How a classic group gets from one generation to the next: gathering, and being done with it.

    prepare    everybody must (re)join; an empty group waits a little for more to come (group.initial.rebalance.delay.ms)
    complete   all have joined, or their time is up: those who did not come are out, the others are told of the new generation

Rules. Who has not come when the time is up is out, unless it is a static member (KIP-345). The first wait of a group is prolonged by the same
delay as long as members come in, up to the rebalance timeout. When nobody came who could lead, the gathering goes on until sessions end.
An empty generation is a record at once; another one is when the leader has assigned (`sync`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

from . import answers, records, sessions
from .state import State

if TYPE_CHECKING:
    from .group import ClassicGroup
    from .member import Member

log = logging.getLogger("kafkadouble.server.groups")

MAY_REBALANCE = (State.EMPTY, State.COMPLETING_REBALANCE, State.STABLE)


def prepare_or_complete(group: ClassicGroup, reason: str) -> None:
    """Begin a rebalance; if one goes on already, see whether it is complete now."""
    if group.state in MAY_REBALANCE:
        prepare(group, reason)
    else:
        complete_if_all_joined(group)


def prepare(group: ClassicGroup, reason: str) -> None:
    """Begin a rebalance."""
    log.info("%r prepares to rebalance: %s", group, reason)
    if group.state is State.COMPLETING_REBALANCE:
        refuse_assignments(group, error_codes.REBALANCE_IN_PROGRESS)
    _stop_waiting_for_syncs(group)
    initial = group.is_empty
    group.move_to(State.PREPARING_REBALANCE)
    if initial:
        delay = group.shard.node.settings.int("group.initial.rebalance.delay.ms")
        _gather_for(group, delay, max(group.rebalance_timeout - delay, 0))
    elif group.all_joined:
        complete(group)
    else:
        _complete_after_rebalance_timeout(group)


def _gather_for(group: ClassicGroup, delay: int, remaining: int) -> None:
    _set_join_timer(group, delay, lambda: _prolong_or_complete(group, delay, remaining))


def _prolong_or_complete(group: ClassicGroup, delay: int, remaining: int) -> None:
    if not group.new_member_added or not remaining:
        complete(group)
        return
    group.new_member_added = False
    more = min(group.shard.node.settings.int("group.initial.rebalance.delay.ms"), remaining)
    _gather_for(group, more, max(remaining - delay, 0))


def _complete_after_rebalance_timeout(group: ClassicGroup) -> None:
    _set_join_timer(group, group.rebalance_timeout, lambda: complete(group))


def _set_join_timer(group: ClassicGroup, delay: int, action: Callable[[], None]) -> None:
    if group.join_timer is not None:
        group.join_timer.cancel()
    group.join_timer = group.shard.at(delay, lambda now: action())


def complete_if_all_joined(group: ClassicGroup) -> None:
    """End the gathering when nobody is missing; the first one of a group goes on to its end, for more may come."""
    if group.state is State.PREPARING_REBALANCE and group.previous_state is not State.EMPTY and group.all_joined:
        complete(group)


def complete(group: ClassicGroup) -> None:
    """End the gathering with those who came."""
    if group.join_timer is not None:
        group.join_timer.cancel()
        group.join_timer = None
    for member in list(group.members.values()):
        if member.joining is None and member.instance_id is None:
            log.info("%r goes on without %r, who did not rejoin", group, member)
            group.remove(member.id)
    if not group.elect_joined_leader() and group.members:
        log.info("%r cannot go on: nobody rejoined", group)
        _complete_after_rebalance_timeout(group)
        return
    group.next_generation()
    if group.is_empty:
        group.shard.note(records.group_record(group, {}))
    else:
        _tell_everybody(group)


def _tell_everybody(group: ClassicGroup) -> None:
    for member in group.members.values():
        member.answer_join(answers.joined(group, member))
        sessions.keep(group, member)
        member.is_new = False
        group.pending_syncs[member.id] = None
    group.sync_timer = group.shard.at(group.rebalance_timeout, lambda now: _expire_syncs(group))


def _expire_syncs(group: ClassicGroup) -> None:
    missing = list(group.pending_syncs)
    for member_id in missing:
        group.remove(member_id)
    prepare(group, f"{missing} did not send SyncGroup in time")


def synced(group: ClassicGroup, member_id: str) -> None:
    """A member of this generation sent SyncGroup."""
    group.pending_syncs.pop(member_id, None)
    if not group.pending_syncs:
        _stop_waiting_for_syncs(group)


def _stop_waiting_for_syncs(group: ClassicGroup) -> None:
    group.pending_syncs.clear()
    if group.sync_timer is not None:
        group.sync_timer.cancel()
        group.sync_timer = None


def refuse_assignments(group: ClassicGroup, code: int) -> None:
    """There will be no assignment in this generation: whoever waits for one is told so."""
    for member in group.members.values():
        member.assignment = b""
        if member.answer_sync(SyncGroupResponse(error_code=code)):
            sessions.keep(group, member)


def remove_member(group: ClassicGroup, member: Member, reason: str) -> None:
    """A member is out; the others rebalance, or the rebalance waits no longer for it."""
    group.remove(member.id)
    if group.state in (State.STABLE, State.COMPLETING_REBALANCE):
        prepare(group, reason)
    else:
        _complete_without_the_missing(group)


def remove_pending(group: ClassicGroup, member_id: str) -> None:
    """A member id that was handed out counts no longer."""
    group.remove(member_id)
    _complete_without_the_missing(group)


def _complete_without_the_missing(group: ClassicGroup) -> None:
    if group.state is State.PREPARING_REBALANCE and group.all_joined:
        complete(group)
