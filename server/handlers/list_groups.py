"""ListGroups: the groups that this node coordinates (KIP-518, KIP-848).

From version 4 on the states that are wanted may be named, from 5 on the types; upper and lower case are one, an unknown word finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.list_groups import ListGroupsRequest, ListGroupsResponse

from ..groups.group import Group
from ..requests.request import Request

if TYPE_CHECKING:
    from ..node import Node

Listed = ListGroupsResponse.ListedGroup


def answer(node: Node, request: Request[ListGroupsRequest]) -> ListGroupsResponse:
    states = {state.lower().strip() for state in request.body.states_filter}
    types = {kind.lower() for kind in request.body.types_filter}
    return ListGroupsResponse(
        groups=[
            _listed(group)
            for shard in node.groups
            for group in shard.groups.values()
            if (not states or group.state_name.lower() in states) and (not types or group.type in types)
        ]
    )


def _listed(group: Group) -> Listed:
    return Listed(
        group_id=group.id,
        protocol_type=group.protocol_type or "",
        group_state=group.state_name,
        group_type=group.type,
    )


def refuse(request: Request[ListGroupsRequest], code: int, message: str | None) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=code)
