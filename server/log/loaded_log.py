"""The state of a log when it is opened (Kafka's LoadedLogOffsets)."""

from typing import NamedTuple

from .epochs import LeaderEpochCache
from .producer_state_manager import ProducerStateManager


class LoadedLog(NamedTuple):
    """Everything that a log knows besides its batches."""

    log_start_offset: int
    log_end_offset: int
    epochs: LeaderEpochCache
    state: ProducerStateManager


def empty_log() -> LoadedLog:
    """The state of a log that was never written to."""
    return LoadedLog(0, 0, LeaderEpochCache(), ProducerStateManager())
