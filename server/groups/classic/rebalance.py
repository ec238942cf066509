"""The rebalance of a classic group, and its timers: what moves a group from state to state.

    prepare_rebalance      every member must rejoin; the first rebalance of an empty group also
                           waits for more members (group.initial.rebalance.delay.ms)
    complete_join_phase    every member has joined, or the rebalance timeout is over: begin the next
                           generation and answer the waiting JoinGroup requests

Rules. A dynamic member that has not rejoined when the join phase completes is removed; a static
member stays (KIP-345). The initial delay is extended while new members join, up to the rebalance
timeout. If no member rejoined that could lead, the join phase continues until sessions expire. An
empty generation is persisted at once; any other with the leader's assignment (`member_requests`).

Sessions. JoinGroup, SyncGroup, Heartbeat and OffsetCommit each restart the member's session. A
member whose request waits for a response needs no heartbeat. A new member is the exception: it does
not heartbeat yet, so its first JoinGroup may take NEW_MEMBER_JOIN_TIMEOUT_MS. A pending member id
expires after one session timeout (KIP-394).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sync_group import SyncGroupResponse
from kafkadouble.wire.client_log import ClientLog

from . import records
from .state import VALID_PREVIOUS_STATES, ClassicGroupState

if TYPE_CHECKING:
    from .member import ClassicGroupMember
    from .membership import ClassicGroupMembership

log = ClientLog("kafkadouble.server.groups")

INITIAL_DELAY = "group.initial.rebalance.delay.ms"

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""How long a new member may wait for the end of a rebalance; a constant in Kafka."""


def maybe_prepare_rebalance_or_complete_join(group: ClassicGroupMembership, reason: str) -> None:
    """Begins a rebalance; during one, complete the join phase if every member has joined."""
    if group.state in VALID_PREVIOUS_STATES[ClassicGroupState.PREPARING_REBALANCE]:
        prepare_rebalance(group, reason)
    else:
        maybe_complete_join_phase(group)


def prepare_rebalance(group: ClassicGroupMembership, reason: str) -> None:
    """Begins a rebalance."""
    log.info("%r prepares to rebalance: %s", group, reason)
    if group.state is ClassicGroupState.COMPLETING_REBALANCE:
        fail_sync_requests(group, error_codes.REBALANCE_IN_PROGRESS)
    _cancel_pending_syncs(group)
    is_initial = group.is_empty
    group.transition_to(ClassicGroupState.PREPARING_REBALANCE)
    if is_initial:
        delay_ms = group.shard.node.settings.int(INITIAL_DELAY)
        _start_initial_delay(group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
    elif group.has_all_members_joined:
        complete_join_phase(group)
    else:
        _start_join_timer(group, group.rebalance_timeout_ms, partial(complete_join_phase, group))


def _start_initial_delay(group: ClassicGroupMembership, delay_ms: int, remaining_ms: int) -> None:
    _start_join_timer(group, delay_ms, partial(_end_initial_delay, group, delay_ms, remaining_ms))


def _end_initial_delay(group: ClassicGroupMembership, delay_ms: int, remaining_ms: int) -> None:
    if not group.new_member_added or not remaining_ms:
        complete_join_phase(group)
        return
    group.new_member_added = False
    next_delay_ms = min(group.shard.node.settings.int(INITIAL_DELAY), remaining_ms)
    _start_initial_delay(group, next_delay_ms, max(remaining_ms - delay_ms, 0))


def _start_join_timer(group: ClassicGroupMembership, delay_ms: int, action: Callable[[], None]) -> None:
    if group.join_timer is not None:
        group.join_timer.cancel()
    group.join_timer = group.shard.schedule(delay_ms, lambda now: action())


def maybe_complete_join_phase(group: ClassicGroupMembership) -> None:
    """Completes the join phase if every member has joined, unless the initial delay still runs."""
    is_preparing = group.state is ClassicGroupState.PREPARING_REBALANCE
    was_empty = group.previous_state is ClassicGroupState.EMPTY
    if is_preparing and not was_empty and group.has_all_members_joined:
        complete_join_phase(group)


def complete_join_phase(group: ClassicGroupMembership) -> None:
    """Begins the next generation with the members that have joined."""
    if group.join_timer is not None:
        group.join_timer.cancel()
        group.join_timer = None
    _remove_dynamic_members_not_rejoined(group)
    if not group.maybe_elect_new_joined_leader() and group.members:
        log.info("%r cannot complete the rebalance: no member rejoined", group)
        _start_join_timer(group, group.rebalance_timeout_ms, partial(complete_join_phase, group))
        return
    group.init_next_generation()
    if group.is_empty:
        group.shard.append_without_replay(records.group_metadata_record(group, {}))
    else:
        _answer_join_requests(group)


def _remove_dynamic_members_not_rejoined(group: ClassicGroupMembership) -> None:
    for member in list(group.members.values()):
        if not member.is_awaiting_join and member.group_instance_id is None:
            log.info("%r continues without %r, which did not rejoin", group, member)
            group.remove(member.member_id)


def _answer_join_requests(group: ClassicGroupMembership) -> None:
    for member in group.members.values():
        member.complete_join(group.join_response(member))
        reschedule_session(group, member)
        member.is_new = False
        group.pending_sync_members[member.member_id] = None
    timeout_ms = group.rebalance_timeout_ms
    group.sync_timer = group.shard.schedule(timeout_ms, lambda now: _expire_pending_syncs(group))


def _expire_pending_syncs(group: ClassicGroupMembership) -> None:
    missing = list(group.pending_sync_members)
    for member_id in missing:
        group.remove(member_id)
    prepare_rebalance(group, f"{missing} did not send SyncGroup in time")


def remove_pending_sync(group: ClassicGroupMembership, member_id: str) -> None:
    """A member of this generation sent SyncGroup."""
    group.pending_sync_members.pop(member_id, None)
    if not group.pending_sync_members:
        _cancel_pending_syncs(group)


def _cancel_pending_syncs(group: ClassicGroupMembership) -> None:
    group.pending_sync_members.clear()
    if group.sync_timer is not None:
        group.sync_timer.cancel()
        group.sync_timer = None


def fail_sync_requests(group: ClassicGroupMembership, code: int) -> None:
    """This generation gets no assignment: clear it, and answer waiting SyncGroup requests."""
    for member in group.members.values():
        member.assignment = b""
        if member.complete_sync(SyncGroupResponse(error_code=code)):
            reschedule_session(group, member)


def reschedule_session(
    group: ClassicGroupMembership, member: ClassicGroupMember, timeout_ms: int | None = None
) -> None:
    """Restarts the member's session, for its session timeout or for `timeout_ms`."""
    member.cancel_session()
    delay_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
    member.session_timer = group.shard.schedule(delay_ms, lambda now: _expire_session(group, member))


def _expire_session(group: ClassicGroupMembership, member: ClassicGroupMember) -> None:
    member.session_timer = None
    if not member.has_satisfied_heartbeat:
        expire_member(group, member)


def expire_member(group: ClassicGroupMembership, member: ClassicGroupMember) -> None:
    """Ends the session of a member: the group continues without it."""
    group.remove(member.member_id)
    if group.state in (ClassicGroupState.STABLE, ClassicGroupState.COMPLETING_REBALANCE):
        prepare_rebalance(group, f"the session of {member!r} expired")
    else:
        _complete_join_phase_without_removed(group)


def add_pending_join(group: ClassicGroupMembership, member_id: str, timeout_ms: int) -> None:
    """A new member id was assigned; it expires unless its owner joins within `timeout_ms`."""
    expire = partial(_expire_pending_join, group, member_id)
    group.pending_join_members[member_id] = group.shard.schedule(timeout_ms, lambda now: expire())


def _expire_pending_join(group: ClassicGroupMembership, member_id: str) -> None:
    group.remove(member_id)
    _complete_join_phase_without_removed(group)


def _complete_join_phase_without_removed(group: ClassicGroupMembership) -> None:
    if group.state is ClassicGroupState.PREPARING_REBALANCE and group.has_all_members_joined:
        complete_join_phase(group)
