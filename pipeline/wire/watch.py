"""The requests of a query's driver to the brokers: partitions, their first and last offsets, leader
epochs and topic ids.

Rules: only the ends of epochs are cached. Each request may fail `fetchOffset.numRetries` times. A
missing topic or partition is an error with its name when a query begins. Later it is a loss if the
query had a position in it, and the query waits for it with `failOnDataLoss=false`. A partition that
is deleted between two requests is left out of the second result. Topic ids are requested before
offsets, so an offset never belongs to an earlier topic than the id beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kafkadouble.messages.uuid import ZERO
from kafkadouble.wire.errors import UsageError

from ..client import (
    ApiError,
    BadAnswer,
    Client,
    NoSuchTopic,
    OffsetAndEpoch,
    PartitionLeader,
    TopicPartition,
)
from . import patterns
from .bounds import EARLIEST, LATEST, Bound
from .lineage import Lineage
from .losses import Now
from .offsets import Positions
from .options import QueryOptions

T = TypeVar("T")


def ids_of(leaders: Mapping[TopicPartition, PartitionLeader]) -> dict[str, str]:
    """The topic ids as Kafka prints them, as far as brokers send them."""
    return {tp.topic: str(leader.topic_id) for tp, leader in leaders.items() if leader.topic_id != ZERO}


@dataclass(frozen=True)
class EndOffsets:
    """The end offsets of partitions with the epochs of their leaders, and the topic ids from just
    before."""

    latest: Mapping[TopicPartition, OffsetAndEpoch]
    ids: Mapping[str, str]

    def offsets(self) -> dict[TopicPartition, int]:
        return {tp: end.offset for tp, end in self.latest.items()}


class Watch:
    """The brokers of one query, seen from its driver."""

    def __init__(self, client: Client, settings: QueryOptions) -> None:
        self._client, self._settings = client, settings
        self._isolation = settings.client.get("isolation.level", "read_uncommitted")
        self._lineage = Lineage(client.ends_of_epochs)
        self._ids: Mapping[str, str] = {}
        self._pattern = patterns.compiled(settings["subscribePattern"]) if settings["subscribePattern"] else None

    def partitions(self, stood: Collection[TopicPartition] | None = None) -> list[TopicPartition]:
        """The partitions that are read now; `stood` are those of a query that has begun. Raises
        NoSuchTopic or UsageError for a missing one that the query may neither lose nor wait for."""
        return self._patiently(lambda: self._partitions(stood))

    def ends(self, partitions: Collection[TopicPartition], stood: Mapping[TopicPartition, int]) -> EndOffsets:
        """The end offsets of the partitions, with the topic ids."""
        ids = self.ids(partitions)
        return EndOffsets(self.latest(partitions, stood), ids)

    def earliest(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {tp: offset.offset for tp, offset in self._offsets(partitions, EARLIEST).items()}

    def latest(
        self, partitions: Iterable[TopicPartition], stood: Mapping[TopicPartition, int] | None = None
    ) -> dict[TopicPartition, OffsetAndEpoch]:
        """The end offsets, with the epochs of the leaders. An end below the position of the query
        may come from an old leader: it is requested again."""
        stood = stood or {}
        for _ in range(self._settings["fetchOffset.numRetries"] - 1):
            offsets = self._offsets(partitions, LATEST)
            if not (back := {tp.topic for tp, end in offsets.items() if end.offset < stood.get(tp, 0)}):
                return offsets
            self._client.forget(back)
            self._pause()
        return self._offsets(partitions, LATEST)

    def resolved(self, bound: Bound, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """A bound as offsets. Raises UsageError when it does not name these partitions, or is
        strict and has a timestamp without a record."""
        if bound.everywhere is None and bound.each.keys() != set(partitions):
            unlike = ", ".join(map(str, sorted(bound.each.keys() ^ set(partitions))))
            raise UsageError(
                f"the option {bound.option} must name the partitions that are read, all and no others; {unlike} is in one of them only"
            )
        bounds = {tp: bound.each[tp] if bound.everywhere is None else bound.everywhere for tp in partitions}
        if bound.by == "timestamp":
            bounds = self._by_time(bound, bounds)
        open_ones = {tp: when for tp, when in bounds.items() if when < 0}
        answers = self._patiently(lambda: self._fetch_offsets(open_ones))
        return bounds | {tp: answer.offset for tp, answer in answers.items() if answer is not None}

    def positions(self, offsets: Mapping[TopicPartition, int], ends: EndOffsets) -> Positions:
        """Offsets with the values that make them comparable later: epochs and topic ids."""
        if ends.ids != self._ids:
            self._lineage, self._ids = Lineage(self._client.ends_of_epochs), ends.ids
        latest = {tp: end.epoch for tp, end in ends.latest.items() if tp in offsets}
        there = {tp: offset for tp, offset in offsets.items() if tp in latest}
        epochs = self._answered(there, lambda epochs_of: self._lineage.before(epochs_of, latest))
        return Positions(dict(offsets), epochs, ends.ids)

    def now(self, stood: Positions, partitions: Collection[TopicPartition]) -> Now:
        """The state that `losses` compares with a position."""
        leaders = self._patiently(lambda: self._client.leaders(partitions))
        ends = self.latest(partitions, stood.offsets)
        known = {tp: epoch for tp, epoch in stood.epochs.items() if tp in ends}
        epochs = self._answered(known, self._client.ends_of_epochs)
        latest = {tp: end.offset for tp, end in ends.items()}
        return Now(self.earliest(partitions), latest, epochs, ids_of(leaders), leaders)

    def now_certainly(
        self, stood: Positions, partitions: Collection[TopicPartition], suspicious: Callable[[Now], bool]
    ) -> Now:
        """The same, requested again with fresh metadata if it is suspicious: a topic may have been
        recreated since the last metadata."""
        found = self.now(stood, partitions)
        if suspicious(found):
            self._client.forget({tp.topic for tp in partitions})
            found = self.now(stood, partitions)
        return found

    def ids(self, partitions: Iterable[TopicPartition]) -> dict[str, str]:
        """The topic ids, as far as brokers send them."""
        return ids_of(self._patiently(lambda: self._client.leaders(partitions)))

    def _partitions(self, stood: Collection[TopicPartition] | None) -> list[TopicPartition]:
        if self._settings["assign"]:
            return self._assigned(self._settings["assign"], stood)
        found: list[TopicPartition] = []
        for topic in self._topics():
            try:
                found += [TopicPartition(topic, number) for number in self._client.partitions(topic)]
            except NoSuchTopic:
                if self._pattern is None and not self._may_miss(topic, stood):
                    raise
        return sorted(found)

    def _may_miss(self, topic: str, stood: Collection[TopicPartition] | None) -> bool:
        """Whether a query that has begun continues without this topic. Its losses are reported
        elsewhere."""
        if stood is None:
            return False
        return not self._settings["failOnDataLoss"] or any(tp.topic == topic for tp in stood)

    def _topics(self) -> Iterable[str]:
        if self._pattern is None:
            return tuple(self._settings["subscribe"])
        return [topic for topic in self._client.topics() if self._pattern.search(topic)]

    def _assigned(
        self, assigned: Collection[TopicPartition], stood: Collection[TopicPartition] | None
    ) -> list[TopicPartition]:
        there: set[TopicPartition] = set()
        for topic in {tp.topic for tp in assigned}:
            try:
                there |= {TopicPartition(topic, number) for number in self._client.partitions(topic)}
            except NoSuchTopic:
                if not self._may_miss(topic, stood):
                    raise
        missing = sorted(set(assigned) - there - set(stood or ()))
        if missing and (stood is None or self._settings["failOnDataLoss"]):
            raise UsageError(
                f"the option assign names {missing[0]}, and the topic {missing[0].topic} has no such partition"
            )
        return sorted(there & set(assigned))

    def _by_time(self, bound: Bound, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        found = self._patiently(lambda: self._fetch_offsets(times))
        if bound.strict and (missing := sorted(tp for tp in times if found.get(tp) is None)):
            tp = missing[0]
            raise UsageError(
                f"the option {bound.option}: {tp} has no record with timestamp {times[tp]} or later "
                "(startingOffsetsByTimestampStrategy=latest would begin at its end)"
            )
        return {tp: LATEST if (answer := found.get(tp)) is None else answer.offset for tp in times}

    def _offsets(self, partitions: Iterable[TopicPartition], when: int) -> dict[TopicPartition, OffsetAndEpoch]:
        found = self._answered(dict.fromkeys(partitions, when), self._fetch_offsets)
        return {tp: each for tp, each in found.items() if each is not None}

    def _fetch_offsets(self, requested: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch | None]:
        return self._client.offsets(requested, isolation=self._isolation) if requested else {}

    def _answered(
        self,
        requested: Mapping[TopicPartition, int],
        fetch: Callable[[Mapping[TopicPartition, int]], dict[TopicPartition, T]],
    ) -> dict[TopicPartition, T]:
        """The result for the existing partitions: one that is deleted meanwhile is left out."""
        rest = dict(requested)
        while rest:
            try:
                return self._patiently(lambda: fetch(rest))  # noqa: B023  # it is called before the next turn
            except NoSuchTopic as missing:
                there = {tp: each for tp, each in rest.items() if not missing.concerns(tp)}
                if there == rest:
                    raise
                rest = there
        return {}

    def _patiently(self, fetch: Callable[[], T]) -> T:
        for _ in range(self._settings["fetchOffset.numRetries"] - 1):
            try:
                return fetch()
            except (BadAnswer, ApiError):  # the client itself retries temporary errors
                self._pause()
        return fetch()

    def _pause(self) -> None:
        time.sleep(self._settings["fetchOffset.retryIntervalMs"] / 1000)
