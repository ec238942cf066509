"""The listener of committed records: the controller of a node, or a test (Kafka's
RaftClient.Listener).
"""

from __future__ import annotations

from typing import Any, Protocol

from ..log.storage import Slice


class RaftListener(Protocol):
    """Called in the order of the log, once per offset; never from within a call."""

    def committed(self, batches: Slice) -> None:
        """These batches, including control batches, are committed; they continue the previous ones.
        A batch of this node may have the checksum 0 while no other node has fetched it.
        """
        ...

    def snapshot_loaded(self, reader: Any) -> None:
        """Replaces all state: the snapshot is the state up to its end, and committed batches
        continue from there.
        """
        ...

    def became_leader(self, epoch: int) -> None:
        """This node leads, and was notified of everything that earlier leaders committed."""
        ...

    def lost_leadership(self, epoch: int) -> None:
        """This node has stopped leading. `epoch` is the one in which it led."""
        ...


class NullListener:
    """A listener that does nothing."""

    def committed(self, batches: Slice) -> None: ...

    def snapshot_loaded(self, reader: Any) -> None: ...

    def became_leader(self, epoch: int) -> None: ...

    def lost_leadership(self, epoch: int) -> None: ...
