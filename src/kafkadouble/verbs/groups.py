"""The methods of KafkaDouble about groups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .host import VerbHost
from .registry import verb

if TYPE_CHECKING:
    from kafkadouble.groups import Group


class GroupVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def groups(self) -> dict[str, Group]:
        """The groups, by id: their state, members and committed offsets."""
        from kafkadouble.groups import groups

        members = self._call(lambda: self._serving().broker.members)
        return {id: group for at in members for id, group in groups(partial(self._ask, at=at)).items()}

    @verb
    def move_coordinator(self, group: str, to: int) -> int:
        """Makes another broker the coordinator of a group: the leader of the group's partition of
        __consumer_offsets. Returns the index of that partition."""
        from kafkadouble import placement

        return self._call(placement.move_coordinator, self._serving().broker, group, to)
