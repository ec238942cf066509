"""Which partitions are behind which user endpoint of a streams group, and its epoch (KIP-1071).

A member that has seen another epoch gets the information of all members. It is in memory only: the
epoch begins with 0 again when another broker coordinates the group.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...metadata.image import Image
from .members.streams_group_member import StreamsGroupMember
from .topics.configured_topology import ConfiguredTopology
from .topics.endpoint_to_partitions import EndpointToPartitions, endpoint_to_partitions


class EndpointInformation:
    """The endpoints of one group. `epoch` grows when an endpoint or the tasks behind it change."""

    def __init__(self) -> None:
        self.epoch = 0
        self._by_member: dict[str, EndpointToPartitions] = {}

    def of_members(
        self, members: Iterable[StreamsGroupMember], configured: ConfiguredTopology | None, image: Image
    ) -> list[EndpointToPartitions]:
        """Returns the information of those members that have an endpoint. Raises Refusal."""
        found = []
        for member in members:
            known = self._by_member.get(member.member_id)
            if known is None:
                known = endpoint_to_partitions(member, configured, image)
            if known is not None:
                self._by_member[member.member_id] = known
                found.append(known)
        return found

    def invalidate(self, member_id: str) -> None:
        """Computes the information of a member again when it is needed."""
        self._by_member.pop(member_id, None)

    def invalidate_all(self) -> None:
        """Computes all of it again: the subtopologies have changed."""
        self._by_member.clear()

    def __repr__(self) -> str:
        return f"endpoints in epoch {self.epoch}"
