"""The epoch of the record before an offset, asked of a leader that knows where its epochs end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafkadouble.pipeline.client import OffsetAndEpoch, TopicPartition
from kafkadouble.pipeline.wire.lineage import STEPS, Lineage

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ENDS = {0: 10, 2: 10, 3: 25, 7: 40}
"""Each epoch's end; in epoch 2 nothing was written."""


class Leader:
    """Answers as KIP-101 says, and counts."""

    def __init__(self, ends: Mapping[int, int]) -> None:
        self.ends, self.asked = ends, 0

    def __call__(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch]:
        self.asked += 1
        return {tp: self._end(epoch) for tp, epoch in epochs.items()}

    def _end(self, epoch: int) -> OffsetAndEpoch:
        known = [end for end in self.ends if end <= epoch]
        return OffsetAndEpoch(self.ends[max(known)], max(known)) if known else OffsetAndEpoch(-1, -1)


@pytest.mark.parametrize(("offset", "epoch"), [(40, 7), (26, 7), (25, 3), (11, 3), (10, 0), (1, 0)])
def test_lineage_epoch_is_the_earliest_that_has_the_record(offset: int, epoch: int) -> None:
    assert Lineage(Leader(ENDS)).before({T0: offset}, {T0: 7}) == {T0: epoch}


def test_lineage_has_no_epoch_before_the_first_record_or_without_epochs() -> None:
    assert Lineage(Leader(ENDS)).before({T0: 0, T1: 5}, {T0: 7, T1: -1}) == {}


def test_ends_are_requested_once_while_the_leader_stays() -> None:
    leader = Leader(ENDS)
    lineage = Lineage(leader)
    for _ in range(3):
        assert lineage.before({T0: 30, T1: 26}, {T0: 7, T1: 7}) == {T0: 7, T1: 7}
    assert leader.asked == 1
    leader.ends = {**ENDS, 9: 50}
    assert lineage.before({T0: 45}, {T0: 9}) == {T0: 9}
    assert leader.asked == 2


def test_a_leader_that_has_forgotten_is_not_queried_without_end() -> None:
    leader = Leader({})
    leader._end = lambda epoch: OffsetAndEpoch(100, epoch)  # type: ignore[method-assign]  # what Kafka says of epochs older than its log
    Lineage(leader).before({T0: 100}, {T0: 1_000_000})
    assert leader.asked == STEPS
