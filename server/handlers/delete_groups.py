"""DeleteGroups: groups without members go, and their offsets with them (KIP-229).

NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, each for its group. Version 3 has room for messages; Apache Kafka says nothing there about classic groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse

from ..groups.deletion import delete_groups
from ..groups.shard import GroupShard
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..node import Node

Result = DeleteGroupsResponse.DeletableGroupResult


def answer(node: Node, request: Request[DeleteGroupsRequest]) -> Wait[DeleteGroupsResponse]:
    results: list[Result] = []
    of_shard: dict[GroupShard, list[str]] = {}
    for group_id in dict.fromkeys(request.body.groups_names):
        try:
            of_shard.setdefault(node.groups.shard(group_id), []).append(group_id)
        except Refusal as refusal:
            results.append(Result(group_id=group_id, error_code=refusal.code))
    for shard, group_ids in of_shard.items():
        results += yield from _delete(shard, group_ids)
    return DeleteGroupsResponse(results=results)


def _delete(shard: GroupShard, group_ids: list[str]) -> Wait[list[Result]]:
    try:
        codes = yield from shard.settle(delete_groups(shard, group_ids))
    except Refusal as refusal:
        codes = dict.fromkeys(group_ids, refusal.code)
    return [Result(group_id=group_id, error_code=code) for group_id, code in codes.items()]


def refuse(request: Request[DeleteGroupsRequest], code: int, message: str | None) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[Result(group_id=group_id, error_code=code) for group_id in request.body.groups_names]
    )
