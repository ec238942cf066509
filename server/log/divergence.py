"""Whether a replica that fetches has the same history as we have (KIP-595; on data partitions KIP-279 done by Fetch, from version 12 on).

Pure: the answer follows from the epochs and the two ends of the log. KRaft's third answer, "take a snapshot", is the quorum's to give.
"""

from enum import Enum
from typing import NamedTuple

from .epochs import LeaderEpochCache
from .offset_and_epoch import UNDEFINED, OffsetAndEpoch


class Verdict(Enum):
    """How the fetcher's position relates to our log."""

    VALID = "valid"
    DIVERGING = "diverging"
    OUT_OF_RANGE = "out of range"


class Comparison(NamedTuple):
    """A verdict; when DIVERGING, `end` is the epoch and end offset that the response names, else UNDEFINED."""

    verdict: Verdict
    end: OffsetAndEpoch = UNDEFINED


VALID = Comparison(Verdict.VALID)
OUT_OF_RANGE = Comparison(Verdict.OUT_OF_RANGE)


def compare(
    fetch_offset: int, last_fetched_epoch: int, epochs: LeaderEpochCache, log_start_offset: int, log_end_offset: int
) -> Comparison:
    """Compare a fetcher's position with a log. A `last_fetched_epoch` below 0 asks for no comparison.

    An epoch that we do not know is OUT_OF_RANGE, and so is an offset below the start, whether or not the epochs diverge; past the end the
    fetcher diverges.
    """
    if last_fetched_epoch < 0:
        return VALID
    if last_fetched_epoch == epochs.latest and log_start_offset <= fetch_offset <= log_end_offset:  # as mostly
        return VALID
    end = epochs.end_offset_for(last_fetched_epoch, log_end_offset)
    if end == UNDEFINED or fetch_offset < log_start_offset:
        return OUT_OF_RANGE
    if end.epoch < last_fetched_epoch or end.offset < fetch_offset:
        return Comparison(Verdict.DIVERGING, end)
    return VALID
