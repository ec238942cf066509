"""The groups of one type in a shard, for the replay of their records (KIP-848).

The records of one group may be replayed in any order that compaction leaves: each creates the group
if it does not exist yet, except a tombstone, which then has nothing to delete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ..coordinator_group import CoordinatorGroup

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

NO_ASSIGNMENT_EPOCH = -1
"""The assignment epoch of a group whose target assignment was deleted."""

G = TypeVar("G", bound=CoordinatorGroup)


class GroupKey(Protocol):
    """The key of a record of a group."""

    group_id: str


class ReplayedGroups(Generic[G]):
    """The groups whose class is `kind`."""

    def __init__(self, kind: type[G]) -> None:
        self._kind: Any = kind

    def group(self, shard: GroupCoordinatorShard, key: GroupKey) -> G:
        """Returns the group, created if it does not exist or only has committed offsets."""
        present = self.present(shard, key)
        if present is not None:
            return present
        made: G = self._kind(shard, key.group_id)
        shard.groups[key.group_id] = made
        return made

    def present(self, shard: GroupCoordinatorShard, key: GroupKey) -> G | None:
        """Returns the group if it exists."""
        group: Any = shard.groups.get(key.group_id)
        return group if isinstance(group, self._kind) else None

    def delete(self, shard: GroupCoordinatorShard, key: GroupKey) -> None:
        """Deletes the group if it exists."""
        if self.present(shard, key) is not None:
            del shard.groups[key.group_id]
