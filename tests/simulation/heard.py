"""What a listener is told, and that it is told in order: each offset once, leadership in pairs."""

from __future__ import annotations

from typing import Any

from kafkadouble.server.log.storage import Slice

from .world import Broken


class Heard:
    """The listener of one life of a node; `take` gives what has come since it was last asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.next_offset = 0
        self.leads: int | None = None  # the epoch in which it was told that it leads
        self._new: list[tuple[int, bytes]] = []

    def committed(self, batches: Slice) -> None:
        if batches.offset != self.next_offset:
            raise Broken(f"{self.name} is told of offset {batches.offset}, where {self.next_offset} is due")
        self._new.append((batches.offset, bytes(batches.records)))
        self.next_offset = batches.next_offset

    def snapshot_loaded(self, reader: Any) -> None:
        """Only the bootstrap snapshot so far, which says nothing but who votes."""
        if self.next_offset:
            raise Broken(f"{self.name} is told of a snapshot after offset {self.next_offset}")

    def became_leader(self, epoch: int) -> None:
        if self.leads is not None:
            raise Broken(f"{self.name} is told that it leads in epoch {epoch}, and it led in {self.leads} already")
        self.leads = epoch

    def lost_leadership(self, epoch: int) -> None:
        if self.leads != epoch:
            raise Broken(f"{self.name} is told that it lost epoch {epoch}, and it led in {self.leads}")
        self.leads = None

    def take(self) -> list[tuple[int, bytes]]:
        taken, self._new = self._new, []
        return taken
