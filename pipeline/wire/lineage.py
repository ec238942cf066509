"""Finds the leader epoch of the record before an offset without reading it, by
OffsetsForLeaderEpoch (KIP-101, KIP-320).

The latest epoch of a partition is not enough: a fork of the log may have ended in an epoch between
that of the record and the latest, and would not be detected. Rules: while the leader epoch of a
partition does not change, the ends of earlier epochs do not either, so each is requested once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..client import OffsetAndEpoch, TopicPartition

EndsRequest = Callable[[Mapping[TopicPartition, int]], Mapping[TopicPartition, OffsetAndEpoch]]

STEPS = 32
"""The largest number of elections that are followed back: for epochs that the leader has forgotten,
each step would be a request."""


class Lineage:
    """The leader epochs of many partitions; `fetch_ends` requests the ends of epochs."""

    def __init__(self, fetch_ends: EndsRequest) -> None:
        self._fetch_ends = fetch_ends
        self._latest: dict[TopicPartition, int] = {}
        self._ends: dict[TopicPartition, dict[int, OffsetAndEpoch]] = {}

    def before(
        self, offsets: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """The epoch of the record before each offset, given the leader's epoch. Partitions without
        such a record, or without an epoch, are left out."""
        found = {tp: latest[tp] for tp, offset in offsets.items() if offset > 0 and latest.get(tp, -1) >= 0}
        self._forget_old(found)
        going = set(found)
        for _ in range(STEPS):
            self._learn({tp: found[tp] - 1 for tp in going if found[tp] > 0})
            going = {tp for tp in going if self._step(tp, offsets[tp], found)}
        return found

    def _step(self, tp: TopicPartition, offset: int, found: dict[TopicPartition, int]) -> bool:
        """Steps to an earlier epoch if that one has the record, too. Returns whether it did."""
        end = self._ends[tp].get(found[tp] - 1)
        if end is None or not 0 <= end.epoch < found[tp] or end.offset < offset:
            return False
        found[tp] = end.epoch
        return True

    def _learn(self, epochs: Mapping[TopicPartition, int]) -> None:
        unknown = {tp: epoch for tp, epoch in epochs.items() if epoch not in self._ends[tp]}
        if unknown:
            answers = self._fetch_ends(unknown)
            for tp, epoch in unknown.items():
                self._ends[tp][epoch] = answers.get(tp, OffsetAndEpoch(-1, -1))

    def _forget_old(self, latest: Mapping[TopicPartition, int]) -> None:
        for tp, epoch in latest.items():
            if self._latest.get(tp) != epoch:
                self._latest[tp], self._ends[tp] = epoch, {}
