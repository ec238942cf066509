"""What the listener has been told, and what is due to it: committed batches in order, after a snapshot where the log has them no more."""

from __future__ import annotations

from .leader import Leader
from .listener import Listener
from .raft_log import BOOTSTRAP, RaftLog

BYTES_AT_ONCE = 8 << 20
"""At most so much of the log in one call, or one larger batch."""


class Telling:
    """The listener and its place in the log."""

    __slots__ = ("_led", "_listener", "_log", "_telling", "next_offset")

    def __init__(self, listener: Listener, log: RaftLog) -> None:
        self._listener, self._log = listener, log
        self.next_offset: int | None = None  # what it hears next; None until it has heard anything
        self._led: int | None = None  # the epoch in which it believes to lead
        self._telling = False

    def tell(self, state: object) -> None:
        """Whatever is committed and not told; then whether this node leads. A call from within a call is left to the outer one."""
        if self._telling:
            return
        self._telling = True
        try:
            self._tell_lost(state)
            self._tell_snapshot()
            self._tell_committed()
            self._tell_won(state)
        finally:
            self._telling = False

    def lose(self) -> None:
        """This node can do nothing any more: it leads in no epoch."""
        self._tell_lost(None)

    def _tell_lost(self, state: object) -> None:
        if self._led is not None and not (isinstance(state, Leader) and state.epoch == self._led):
            lost, self._led = self._led, None
            self._listener.lost_leadership(lost)

    def _tell_won(self, state: object) -> None:
        """Only when it has heard the first record of its own epoch, and so all before."""
        if not isinstance(state, Leader) or state.is_announced or state.high_watermark is None:
            return
        if self.next_offset is not None and self.next_offset > state.epoch_start:
            state.is_announced, self._led = True, state.epoch
            self._listener.became_leader(state.epoch)

    def _tell_snapshot(self) -> None:
        id = self._log.latest_snapshot
        committed = self._log.high_watermark
        if id is None or id.offset > committed or committed == BOOTSTRAP.offset:
            return
        if self.next_offset is None or self.next_offset < self._log.start_offset:
            reader = self._log.snapshots.open(id)
            if reader is not None:
                self.next_offset = id.offset
                self._listener.snapshot_loaded(reader)

    def _tell_committed(self) -> None:
        end = self._log.high_watermark
        if self.next_offset is None:
            if end == BOOTSTRAP.offset:
                return
            self.next_offset = self._log.start_offset
        while self.next_offset < end:
            found = self._log.read_for_itself(self.next_offset, BYTES_AT_ONCE)
            if not found.records:
                return
            self.next_offset = found.next_offset
            self._listener.committed(found)
