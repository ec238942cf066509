"""Decides whether a fetching replica has the same history as this log (KIP-595; on data partitions
KIP-279 by way of Fetch, from version 12 on).

Pure: the answer follows from the leader epochs, the log start offset and the log end offset.
KRaft's other answer, "fetch a snapshot", is given by the quorum.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from .epochs import LeaderEpochCache
from .offset_and_epoch import UNDEFINED, OffsetAndEpoch

if TYPE_CHECKING:
    from .log import PartitionLog


class FetchPositionKind(Enum):
    """How the position of a fetching replica relates to this log."""

    VALID = "valid"
    DIVERGING = "diverging"
    OUT_OF_RANGE = "out of range"


class FetchPositionCheck(NamedTuple):
    """The result of a comparison. When DIVERGING, `end` is the epoch and end offset for the
    response, else UNDEFINED."""

    kind: FetchPositionKind
    end: OffsetAndEpoch = UNDEFINED


VALID = FetchPositionCheck(FetchPositionKind.VALID)
OUT_OF_RANGE = FetchPositionCheck(FetchPositionKind.OUT_OF_RANGE)


def compare_with(log: PartitionLog, fetch_offset: int, last_fetched_epoch: int) -> FetchPositionCheck:
    """Compares the position of a fetcher, whose last batch was of `last_fetched_epoch`, with a
    log."""
    return compare(fetch_offset, last_fetched_epoch, log.epochs, log.log_start_offset, log.log_end_offset)


def compare(
    fetch_offset: int, last_fetched_epoch: int, epochs: LeaderEpochCache, log_start_offset: int, log_end_offset: int
) -> FetchPositionCheck:
    """Compares the position of a fetching replica with a log. A `last_fetched_epoch` below 0 asks
    for no comparison.

    An unknown epoch is OUT_OF_RANGE, and so is an offset below the log start offset, whether or not
    the epochs diverge. Past the log end offset the replica diverges.
    """
    if last_fetched_epoch < 0:
        return VALID
    # The common case first.
    if last_fetched_epoch == epochs.latest and log_start_offset <= fetch_offset <= log_end_offset:
        return VALID
    end = epochs.end_offset_for(last_fetched_epoch, log_end_offset)
    if end == UNDEFINED or fetch_offset < log_start_offset:
        return OUT_OF_RANGE
    if end.epoch < last_fetched_epoch or end.offset < fetch_offset:
        return FetchPositionCheck(FetchPositionKind.DIVERGING, end)
    return VALID
