"""The identity of a replica of the metadata log: a node id, and the id of its metadata directory
(KIP-853).

A node that lost its disk returns with another directory id. It is another replica then: votes and
flushed records of the former one do not count for it. Before `kraft.version` 1, and in old versions
of requests, the directory id is unknown.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid


class ReplicaKey(NamedTuple):
    """A node id and a directory id; the zero uuid if that is unknown."""

    id: int
    directory_id: Uuid = Uuid.ZERO

    def fits(self, other: ReplicaKey) -> bool:
        """Whether `other`, which may lack the directory id, can mean this replica."""
        return self.id == other.id and (
            other.directory_id == Uuid.ZERO or other.directory_id == self.directory_id or self.directory_id == Uuid.ZERO
        )

    def __repr__(self) -> str:
        return f"replica {self.id}" + ("" if self.directory_id == Uuid.ZERO else f" in {self.directory_id}")
