"""SyncGroup to a classic group: the leader brings the assignment, everybody takes his share home.

The assignment is a record first; when that is committed the group is stable and all who wait are answered. If it cannot be committed, all
start over. Whoever comes later gets his share at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from ...coordinator.promise import Promise
from ...requests.request import Refusal
from . import answers, rebalance, records, sessions
from .group import ClassicGroup
from .member import Member
from .state import State

if TYPE_CHECKING:
    from ..shard import GroupShard

Answer = Promise[SyncGroupResponse]


def sync(shard: GroupShard, body: SyncGroupRequest) -> Answer:
    """The answer to a SyncGroup request, which may have to wait for the leader. Raises Refusal."""
    group = shard.groups.get(body.group_id)
    if not isinstance(group, ClassicGroup) or group.is_empty:
        raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
    _check(group, body)
    member = group.members[body.member_id]
    if group.state is State.PREPARING_REBALANCE:
        raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
    rebalance.synced(group, member.id)
    if group.state is State.STABLE:
        return Promise(answers.assigned(group, member))
    return _sync(group, member, body)


def _check(group: ClassicGroup, body: SyncGroupRequest) -> None:
    group.check_member(body.member_id, body.group_instance_id)
    group.check_generation(body.generation_id)
    for said, is_so in ((body.protocol_type, group.protocol_type), (body.protocol_name, group.protocol)):
        if said is not None and is_so is not None and said != is_so:
            raise Refusal(error_codes.INCONSISTENT_GROUP_PROTOCOL)


def _sync(group: ClassicGroup, member: Member, body: SyncGroupRequest) -> Answer:
    answer: Answer = member.syncing or Promise()
    member.syncing = answer
    if member.id == group.leader:
        assignments = {each.member_id: bytes(each.assignment) for each in body.assignments}
        committed = partial(_committed, group, group.generation, assignments)
        group.shard.note(records.group_record(group, assignments), committed)
    return answer


def _committed(group: ClassicGroup, generation: int, assignments: Mapping[str, bytes], code: int) -> None:
    if group.state is not State.COMPLETING_REBALANCE or group.generation != generation:
        return
    if code:
        rebalance.refuse_assignments(group, code)
        rebalance.prepare(group, f"the assignment could not be stored: error {code}")
        return
    group.move_to(State.STABLE)
    for member in group.members.values():
        member.assignment = assignments.get(member.id, b"")
        if member.answer_sync(answers.assigned(group, member)):
            sessions.keep(group, member)
