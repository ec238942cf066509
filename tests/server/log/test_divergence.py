"""The answer of Fetch to a replica that states the epoch of its last batch. The figures were
measured on Apache Kafka.
"""

import pytest

from kafkadouble.server.log.divergence import OUT_OF_RANGE, VALID, FetchPositionCheck, FetchPositionKind, compare
from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch


def diverging(epoch: int, end: int) -> FetchPositionCheck:
    return FetchPositionCheck(FetchPositionKind.DIVERGING, OffsetAndEpoch(end, epoch))


@pytest.mark.parametrize(
    ("fetch_offset", "epoch", "answer"),
    [
        pytest.param(500, 0, diverging(0, 13), id="past the end"),
        pytest.param(5, -1, VALID, id="no epoch, no comparison"),
        pytest.param(500, -1, VALID, id="no epoch: the range is for the read to check"),
        pytest.param(13, 0, VALID, id="at the end"),
        pytest.param(0, 0, VALID, id="at the start"),
        pytest.param(5, 1, OUT_OF_RANGE, id="an epoch that is not known"),
    ],
)
def test_a_log_of_one_epoch(fetch_offset: int, epoch: int, answer: FetchPositionCheck) -> None:
    assert compare(fetch_offset, epoch, LeaderEpochCache([OffsetAndEpoch(0, 0)]), 0, 13) == answer


@pytest.mark.parametrize(
    ("fetch_offset", "epoch", "answer"),
    [
        pytest.param(7, 1, diverging(1, 5), id="same epoch, ours is shorter"),
        pytest.param(5, 1, VALID, id="exactly where the epoch ends"),
        pytest.param(6, 2, diverging(1, 5), id="an epoch that we never had"),
        pytest.param(3, 2, diverging(1, 5), id="the same, although the offset is within ours"),
        pytest.param(5, 0, diverging(0, 2), id="an epoch below the first ends where that starts"),
        pytest.param(2, 0, VALID, id="and is valid up to there"),
        pytest.param(3, 1, VALID, id="within an epoch"),
        pytest.param(1, 1, OUT_OF_RANGE, id="below the start"),
        pytest.param(1, 2, OUT_OF_RANGE, id="below the start, diverging or not"),
        pytest.param(9, 3, VALID, id="the epoch we write in"),
    ],
)
def test_a_log_that_has_lost_its_start(fetch_offset: int, epoch: int, answer: FetchPositionCheck) -> None:
    epochs = LeaderEpochCache([OffsetAndEpoch(2, 1), OffsetAndEpoch(5, 3)])
    assert compare(fetch_offset, epoch, epochs, 2, 9) == answer


def test_empty_log_has_no_diverging_epoch() -> None:
    assert compare(0, 0, LeaderEpochCache(), 0, 0) == OUT_OF_RANGE
    assert compare(0, -1, LeaderEpochCache(), 0, 0) == VALID
