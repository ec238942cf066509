"""Who was given each partition, in each epoch: what the clients of a group received, all in all."""

from __future__ import annotations

from collections.abc import Iterable

from . import promises


class Owners:
    """`given` maps partition and epoch -> the owner: a member id or, for a static member, its
    instance id."""

    def __init__(self) -> None:
        self.given: dict[tuple[int, int], str] = {}

    def has(self, owner: str, epoch: int, partitions: Iterable[int]) -> None:
        """The owner uses these partitions in this epoch."""
        for partition in partitions:
            promises.owner_is_one(partition, epoch, owner, self.given.setdefault((partition, epoch), owner))
