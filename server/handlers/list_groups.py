"""ListGroups: the groups that this broker coordinates (KIP-518, KIP-848).

From version 4 on a request may filter by state, from 5 on by type. Filters ignore case; an unknown
state or type matches no group. A client that may not describe the cluster sees the groups that it
may describe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.list_groups import ListGroupsRequest, ListGroupsResponse

from ..groups.coordinator_group import CoordinatorGroup
from ..requests.request import Request
from ..requests.slices import begun, divided
from ..requests.waiting import Wait, sliced
from ..security.acls import GROUP
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

ListedGroup = ListGroupsResponse.ListedGroup


@begun
def answer(node: HandlerContext, request: Request[ListGroupsRequest]) -> Wait[ListGroupsResponse]:
    states = {state.lower().strip() for state in request.body.states_filter}
    types = {type.lower() for type in request.body.types_filter}
    rights = client_rights(node, request)
    if rights is not None and rights.may_on_cluster(DESCRIBE):
        rights = None

    def is_listed(group: CoordinatorGroup) -> bool:
        return (
            (not states or group.state_filter_name in states)
            and (not types or group.type in types)
            and (rights is None or rights.may(DESCRIBE, GROUP, group.group_id))
        )

    every = [group for shard in node.groups for group in shard.groups.values()]
    listed, _ = yield from divided(is_listed, every)
    groups = yield from sliced(_listed, listed)
    return ListGroupsResponse(groups=groups)


def _listed(group: CoordinatorGroup) -> ListedGroup:
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state_name,
        group_type=group.type,
    )
