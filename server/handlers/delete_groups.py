"""DeleteGroups: deletes groups without members, and their offsets (KIP-229).

Each group has its own error: NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND. Before a share group, its state
at the share coordinator is deleted (KIP-932); if that fails, the group stays. Version 3 has room
for an error message; Apache Kafka sends none for classic groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

from ..groups.coordinator_group import SHARE
from ..groups.group_coordinator_shard import GroupCoordinatorShard
from ..groups.service.deletion import delete_groups
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Result = DeleteGroupsResponse.DeletableGroupResult


def answer(node: HandlerContext, request: Request[DeleteGroupsRequest]) -> Wait[DeleteGroupsResponse]:
    results: list[Result] = []
    by_shard: dict[GroupCoordinatorShard, list[str]] = {}
    slices = Slices()
    for group_id in dict.fromkeys(request.body.groups_names):
        if slices.end():
            yield OTHERS_FIRST
        try:
            by_shard.setdefault(node.groups.shard(group_id), []).append(group_id)
        except Refusal as refusal:
            results.append(Result(group_id=group_id, error_code=refusal.code))
    for shard, group_ids in by_shard.items():
        results += yield from _delete(shard, group_ids)
        if slices.end(len(group_ids)):
            yield OTHERS_FIRST
    return DeleteGroupsResponse(results=results)


def _delete(shard: GroupCoordinatorShard, group_ids: list[str]) -> Wait[list[Result]]:
    codes: dict[str, int] = {}
    try:
        if any(group_id in shard.groups and shard.groups[group_id].type == SHARE for group_id in group_ids):
            from ..groups.share.deletion import delete_share_groups_state

            codes = yield from delete_share_groups_state(shard, group_ids)
        others = [group_id for group_id in group_ids if group_id not in codes]
        codes |= yield from shard.wait_for_commit(delete_groups(shard, others))
    except Refusal as refusal:
        codes = dict.fromkeys(group_ids, refusal.code)
    return (yield from sliced(lambda each: Result(group_id=each[0], error_code=each[1]), codes.items()))


def refuse(request: Request[DeleteGroupsRequest], code: int, message: str | None) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[Result(group_id=group_id, error_code=code) for group_id in request.body.groups_names]
    )
