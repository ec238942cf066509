"""The members that had each partition or task, in each epoch: what the clients of a group
received."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Protocol

from . import promises


class Owner(Protocol):
    """A client of the group. `owner` is its member id or, if it is static, its instance id;
    `is_over` says that it has gone. `using` is what it has in use."""

    is_over: bool

    @property
    def owner(self) -> str: ...
    @property
    def using(self) -> Collection[Hashable]: ...


class Owners:
    """`given` maps a partition or task, and an epoch -> the client that was given it.

    What a client had that has gone does not count: when a group is empty, a group of another
    protocol can replace it, and its epochs begin again.
    """

    def __init__(self) -> None:
        self.given: dict[tuple[Hashable, int], Owner] = {}

    @property
    def epochs(self) -> int:
        """The number of epochs in which something had an owner."""
        return len({epoch for _, epoch in self.given})

    def given_now(self, client: Owner, epoch: int, things: Collection[Hashable], others: Iterable[Owner]) -> None:
        """The client learned that it has these things in this epoch; `others` are the clients in
        their present epochs."""
        for thing in things:
            other = self.given.get((thing, epoch), client)
            if not other.is_over and other.owner != client.owner:
                promises.has_two_owners(thing, epoch, client, other)
            self.given[thing, epoch] = client
        for other in others:
            for thing in things:
                if thing in other.using:
                    promises.is_given_too_early(thing, client, other)
