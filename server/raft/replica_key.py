"""Who a replica of the metadata log is: a node id, and the directory in which it keeps the log (KIP-853).

A node that lost its disk comes back with another directory id: it is another replica, and what its namesake promised (votes, flushed
records) does not bind it. Before version 1 of `kraft.version`, and in old versions of the requests, no directory id is known.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid


class ReplicaKey(NamedTuple):
    """A node id, and a directory id; the zero uuid where none is known."""

    id: int
    directory_id: Uuid = Uuid.ZERO

    def fits(self, other: ReplicaKey) -> bool:
        """Whether `other`, as somebody who may not know directories named it, can be meant for this replica."""
        return self.id == other.id and (
            other.directory_id == Uuid.ZERO or other.directory_id == self.directory_id or self.directory_id == Uuid.ZERO
        )

    def __repr__(self) -> str:
        return f"replica {self.id}" + ("" if self.directory_id == Uuid.ZERO else f" in {self.directory_id}")
