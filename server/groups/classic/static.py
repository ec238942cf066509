"""A static member that comes back without its member id, for instance after a restart (KIP-345, KIP-814).

It takes the place of its former self under a new id; a request of the old one that still waits is told FENCED_INSTANCE_ID. In a stable group
whose protocol stays what it is nobody else is disturbed: only the new id is noted down. The leader then has nothing to assign; from version 9
on it is told so (skip_assignment), before that it is told the former leader's id, and takes itself for a follower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages.generated.join_group import JoinGroupResponse

from ...coordinator.promise import Promise
from . import answers, rebalance, records, sessions
from .state import State

if TYPE_CHECKING:
    from .group import ClassicGroup
    from .member import Joining, Member

SKIPS_ASSIGNMENT_FROM = 9


class Former(NamedTuple):
    """What the member was before, should the new id not get into the log."""

    member_id: str
    leader: str | None
    said: tuple[int, int, dict[str, bytes]]


def come_back(
    group: ClassicGroup, instance_id: str, new_id: str, joining: Joining, version: int
) -> Promise[JoinGroupResponse]:
    """The member that holds the instance id gets the new member id, and what the request says."""
    old = group.members[group.static_members[instance_id]]
    former = Former(old.id, group.leader, (old.session_timeout, old.rebalance_timeout, old.protocols))
    member = group.replace_static(instance_id, new_id)
    answer: Promise[JoinGroupResponse] = Promise()
    member.update(joining)
    member.joining = answer
    if group.state is State.STABLE and group.select_protocol() == group.protocol:
        _note_new_id(group, member, former, version)
    elif group.state is State.PREPARING_REBALANCE:
        rebalance.complete_if_all_joined(group)
    else:
        rebalance.prepare(group, f"{member!r} came back; its reason: {joining.reason}")
    return answer


def _note_new_id(group: ClassicGroup, member: Member, former: Former, version: int) -> None:
    assignments = {each.id: each.assignment for each in group.members.values()}
    new_id = member.id

    def noted(code: int) -> None:
        if group.members.get(new_id) is not member or member.joining is None:
            return
        if code:
            _become_former(group, member, former, code)
        else:
            member.answer_join(_unchanged_generation(group, member, former, version))
            sessions.keep(group, member)

    group.shard.note(records.group_record(group, assignments), noted)


def _unchanged_generation(group: ClassicGroup, member: Member, former: Former, version: int) -> JoinGroupResponse:
    leads = group.leader == member.id
    if version >= SKIPS_ASSIGNMENT_FROM:
        return answers.joined(group, member, skip_assignment=leads)
    answer = answers.joined(group, member)
    answer.leader, answer.members = former.leader or "", ()
    return answer


def _become_former(group: ClassicGroup, member: Member, former: Former, code: int) -> None:
    answer = answers.joined(group, member)
    answer.error_code, answer.member_id, answer.leader, answer.members = code, "", former.leader or "", ()
    member.answer_join(answer)
    del group.members[member.id]
    group.rename(member, former.member_id)
    member.session_timeout, member.rebalance_timeout, member.protocols = former.said
    sessions.keep(group, member)
