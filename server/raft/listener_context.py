"""Notifies the listener: committed batches in order, and a snapshot first if the log has its
records no more (Kafka's ListenerContext).
"""

from __future__ import annotations

from .leader_state import LeaderState
from .raft_listener import RaftListener
from .raft_log import BOOTSTRAP, RaftLog

MAX_BYTES_PER_CALL = 8 << 20
"""The most bytes per call, except for one larger batch."""


class ListenerContext:
    """The listener and its position in the log."""

    __slots__ = ("_firing", "_led", "_listener", "_log", "next_offset")

    def __init__(self, listener: RaftListener, log: RaftLog) -> None:
        self._listener, self._log = listener, log
        self.next_offset: int | None = None  # the next offset; None before the first call
        self._led: int | None = None  # the epoch for which `became_leader` was called
        self._firing = False

    def fire_events(self, state: object) -> None:
        """Notifies the listener of everything committed, then of leadership. A nested call is left
        to the outer one.
        """
        if self._firing:
            return
        self._firing = True
        try:
            self._fire_lost_leadership(state)
            self._fire_snapshot()
            self._fire_committed()
            self._fire_became_leader(state)
        finally:
            self._firing = False

    def fire_resigned(self) -> None:
        """This replica has failed: it leads in no epoch."""
        self._fire_lost_leadership(None)

    def _fire_lost_leadership(self, state: object) -> None:
        if self._led is not None and not (isinstance(state, LeaderState) and state.epoch == self._led):
            lost, self._led = self._led, None
            self._listener.lost_leadership(lost)

    def _fire_became_leader(self, state: object) -> None:
        """Only after the first record of the epoch, and so everything before it."""
        if not isinstance(state, LeaderState) or state.is_announced or state.high_watermark is None:
            return
        if self.next_offset is not None and self.next_offset > state.epoch_start:
            state.is_announced, self._led = True, state.epoch
            self._listener.became_leader(state.epoch)

    def _fire_snapshot(self) -> None:
        id = self._log.latest_snapshot
        committed = self._log.high_watermark
        if id is None or id.offset > committed or committed == BOOTSTRAP.offset:
            return
        if self.next_offset is None or self.next_offset < self._log.start_offset:
            reader = self._log.snapshots.open(id)
            if reader is not None:
                self.next_offset = id.offset
                self._listener.snapshot_loaded(reader)

    def _fire_committed(self) -> None:
        end = self._log.high_watermark
        if self.next_offset is None:
            if end == BOOTSTRAP.offset:
                return
            self.next_offset = self._log.start_offset
        while self.next_offset < end:
            found = self._log.read_for_itself(self.next_offset, MAX_BYTES_PER_CALL)
            if not found.records:
                return
            self.next_offset = found.next_offset
            self._listener.committed(found)
