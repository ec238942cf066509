"""The members that had each partition, in each epoch: what the clients of a group received."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from . import promises


class Owner(Protocol):
    """A client of the group. `owner` is its member id or, if it is static, its instance id;
    `is_over` says that it has gone."""

    is_over: bool

    @property
    def owner(self) -> str: ...


class Owners:
    """`given` maps partition and epoch -> the client that was given the partition.

    What a client had that has gone does not count: when a group is empty, a group of the other
    protocol can replace it, and its epochs begin again.
    """

    def __init__(self) -> None:
        self.given: dict[tuple[int, int], Owner] = {}

    def has(self, client: Owner, epoch: int, partitions: Iterable[int]) -> None:
        """The client has these partitions in this epoch."""
        for partition in partitions:
            other = self.given.get((partition, epoch), client)
            if not other.is_over and other.owner != client.owner:
                promises.has_two_owners(partition, epoch, client, other)
            self.given[partition, epoch] = client
