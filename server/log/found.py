"""What a log begins with: nothing, or what was found of it in files."""

from typing import NamedTuple

from .epochs import LeaderEpochCache
from .producer_state import ProducerState


class Found(NamedTuple):
    """All that a log knows beside its batches."""

    log_start_offset: int
    log_end_offset: int
    epochs: LeaderEpochCache
    state: ProducerState


def nothing() -> Found:
    """Of a log that was never written to."""
    return Found(0, 0, LeaderEpochCache(), ProducerState())
