"""DeleteGroups: deletes groups without members, and their offsets (KIP-229).

Each group has its own error: NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND. Version 3 has room for an error
message; Apache Kafka sends none for classic groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

from ..groups.deletion import delete_groups
from ..groups.group_coordinator_shard import GroupCoordinatorShard
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Result = DeleteGroupsResponse.DeletableGroupResult


def answer(node: HandlerContext, request: Request[DeleteGroupsRequest]) -> Wait[DeleteGroupsResponse]:
    results: list[Result] = []
    by_shard: dict[GroupCoordinatorShard, list[str]] = {}
    for group_id in dict.fromkeys(request.body.groups_names):
        try:
            by_shard.setdefault(node.groups.shard(group_id), []).append(group_id)
        except Refusal as refusal:
            results.append(Result(group_id=group_id, error_code=refusal.code))
    for shard, group_ids in by_shard.items():
        results += yield from _delete(shard, group_ids)
    return DeleteGroupsResponse(results=results)


def _delete(shard: GroupCoordinatorShard, group_ids: list[str]) -> Wait[list[Result]]:
    try:
        codes = yield from shard.wait_for_commit(delete_groups(shard, group_ids))
    except Refusal as refusal:
        codes = dict.fromkeys(group_ids, refusal.code)
    return [Result(group_id=group_id, error_code=code) for group_id, code in codes.items()]


def refuse(request: Request[DeleteGroupsRequest], code: int, message: str | None) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[Result(group_id=group_id, error_code=code) for group_id in request.body.groups_names]
    )
