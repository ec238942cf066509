"""Finds the epoch of the record before an offset, with the end offsets of the leader's epochs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafkadouble.pipeline.client import OffsetAndEpoch, TopicPartition
from kafkadouble.pipeline.wire.lineage import STEPS, Lineage

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ENDS = {0: 10, 2: 10, 3: 25, 7: 40}
"""Epoch -> its end offset; epoch 2 has no records."""


class Leader:
    """Answers as in KIP-101, and counts the requests."""

    def __init__(self, ends: Mapping[int, int]) -> None:
        self.ends, self.requests = ends, 0

    def __call__(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch]:
        self.requests += 1
        return {tp: self._end(epoch) for tp, epoch in epochs.items()}

    def _end(self, epoch: int) -> OffsetAndEpoch:
        known = [end for end in self.ends if end <= epoch]
        return OffsetAndEpoch(self.ends[max(known)], max(known)) if known else OffsetAndEpoch(-1, -1)


@pytest.mark.parametrize(("offset", "epoch"), [(40, 7), (26, 7), (25, 3), (11, 3), (10, 0), (1, 0)])
def test_lineage_epoch_is_the_earliest_that_has_the_record(offset: int, epoch: int) -> None:
    assert Lineage(Leader(ENDS)).before({T0: offset}, {T0: 7}) == {T0: epoch}


def test_lineage_has_no_epoch_before_the_first_record_or_without_epochs() -> None:
    assert Lineage(Leader(ENDS)).before({T0: 0, T1: 5}, {T0: 7, T1: -1}) == {}


def test_epoch_ends_are_requested_once_per_leader_epoch() -> None:
    leader = Leader(ENDS)
    lineage = Lineage(leader)
    for _ in range(3):
        assert lineage.before({T0: 30, T1: 26}, {T0: 7, T1: 7}) == {T0: 7, T1: 7}
    assert leader.requests == 1
    leader.ends = {**ENDS, 9: 50}
    assert lineage.before({T0: 45}, {T0: 9}) == {T0: 9}
    assert leader.requests == 2


def test_leader_with_deleted_epochs_is_queried_a_limited_number_of_times() -> None:
    leader = Leader({})
    leader._end = lambda epoch: OffsetAndEpoch(100, epoch)  # type: ignore[method-assign]  # Kafka's answer for epochs older than its log
    Lineage(leader).before({T0: 100}, {T0: 1_000_000})
    assert leader.requests == STEPS
