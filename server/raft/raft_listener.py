"""Who hears of what the quorum has decided: the metadata of a node, or a test."""

from __future__ import annotations

from typing import Any, Protocol

from ..log.storage import Slice


class RaftListener(Protocol):
    """Called in the order of the log, each offset once; never from within itself."""

    def committed(self, batches: Slice) -> None:
        """These batches, control batches among them, are committed; they go on where the last ones ended. One that this node wrote itself
        may have the checksum 0, as long as nobody else has asked for it."""
        ...

    def snapshot_loaded(self, reader: Any) -> None:
        """Forget everything: this snapshot is the state up to its end, and what is committed goes on there."""
        ...

    def became_leader(self, epoch: int) -> None:
        """This node leads, and everything that older leaders committed has been told."""
        ...

    def lost_leadership(self, epoch: int) -> None:
        """It leads no more. `epoch` is the one in which it led."""
        ...


class NullListener:
    """A listener that does nothing."""

    def committed(self, batches: Slice) -> None: ...

    def snapshot_loaded(self, reader: Any) -> None: ...

    def became_leader(self, epoch: int) -> None: ...

    def lost_leadership(self, epoch: int) -> None: ...
