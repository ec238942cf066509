"""What a query's driver asks the brokers: which partitions there are, where they begin and end, what their epochs and ids are.

Rules: nothing is kept but the ends of epochs; each question may fail as many times as `fetchOffset.numRetries` says; a subscribed topic or
an assigned partition that is not there is refused by its name unless the query stood in it, since then it is a loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from kafkadouble.messages.uuid import ZERO
from kafkadouble.wire.errors import UsageError

from ..client import (
    BadAnswer,
    Client,
    NoSuchTopic,
    OffsetAndEpoch,
    PartitionLeader,
    Refused,
    TopicPartition,
    TopicRecreated,
)
from . import patterns
from .bounds import EARLIEST, LATEST, Bound
from .lineage import Lineage
from .losses import Now
from .offsets import Positions
from .options import Settings

T = TypeVar("T")


def ids_of(leaders: Mapping[TopicPartition, PartitionLeader]) -> dict[str, str]:
    """Topics' ids as Kafka prints them, as far as brokers tell them."""
    return {tp.topic: str(each.topic_id) for tp, each in leaders.items() if each.topic_id != ZERO}


class Watch:
    """The brokers of one query, as its driver sees them."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client, self._settings = client, settings
        self._isolation = settings.client.get("isolation.level", "read_uncommitted")
        self._lineage = Lineage(client.ends_of_epochs)
        self._pattern = patterns.compiled(settings["subscribePattern"]) if settings["subscribePattern"] else None

    def partitions(self, stood: Collection[TopicPartition] = ()) -> list[TopicPartition]:
        """The partitions that are read now. UsageError: what is asked for is not there, and is not one in which the query stood."""
        return self._patiently(lambda: self._partitions(stood))

    def earliest(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return {tp: found.offset for tp, found in self._offsets(partitions, EARLIEST).items()}

    def latest(
        self, partitions: Iterable[TopicPartition], stood: Mapping[TopicPartition, int] | None = None
    ) -> dict[TopicPartition, OffsetAndEpoch]:
        """The ends, with the epochs of the leaders. An end before where the query stood may be a lagging leader's: it is asked again."""
        stood = stood or {}
        for _ in range(self._settings["fetchOffset.numRetries"] - 1):
            found = self._offsets(partitions, LATEST)
            if all(end.offset >= stood.get(tp, 0) for tp, end in found.items()):
                return found
            self._pause()
        return self._offsets(partitions, LATEST)

    def resolved(self, bound: Bound, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """A bound as offsets. UsageError: it does not name these partitions, or is strict and has a timestamp for which there is no record."""
        if bound.everywhere is None and bound.each.keys() != set(partitions):
            unlike = ", ".join(map(str, sorted(bound.each.keys() ^ set(partitions))))
            raise UsageError(
                f"the option {bound.option} must name the partitions that are read, all and no others; {unlike} is in one of them only"
            )
        asked = {tp: bound.each[tp] if bound.everywhere is None else bound.everywhere for tp in partitions}
        if bound.by == "timestamp":
            asked = self._by_time(bound, asked)
        open_ones = {tp: when for tp, when in asked.items() if when < 0}
        answers = self._ask(open_ones)
        return asked | {tp: found.offset for tp, found in answers.items() if found is not None}

    def positions(
        self, offsets: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, OffsetAndEpoch]
    ) -> Positions:
        """Offsets with what makes them comparable later: epochs and topic ids."""
        epochs = self._patiently(lambda: self._lineage.before(offsets, {tp: end.epoch for tp, end in ends.items()}))
        return Positions(dict(offsets), epochs, self.ids(offsets))

    def now(self, stood: Positions, partitions: Collection[TopicPartition]) -> Now:
        """All that `losses` compares a position with."""
        leaders = self._patiently(lambda: self._client.leaders(partitions))
        ends = self.latest(partitions, stood.offsets)
        known = {tp: epoch for tp, epoch in stood.epochs.items() if tp in ends}
        epochs = self._patiently(lambda: self._client.ends_of_epochs(known)) if known else {}
        latest = {tp: end.offset for tp, end in ends.items()}
        return Now(self.earliest(partitions), latest, epochs, ids_of(leaders), leaders)

    def ids(self, partitions: Iterable[TopicPartition]) -> dict[str, str]:
        """Topics' ids, as far as brokers tell them."""
        return ids_of(self._patiently(lambda: self._client.leaders(partitions)))

    def _partitions(self, stood: Collection[TopicPartition]) -> list[TopicPartition]:
        if self._settings["assign"]:
            return self._assigned(self._settings["assign"], stood)
        known = {tp.topic for tp in stood}
        found: list[TopicPartition] = []
        for topic in self._topics():
            try:
                found += [TopicPartition(topic, number) for number in self._client.partitions(topic)]
            except NoSuchTopic as problem:
                if isinstance(problem, TopicRecreated) or (topic not in known and self._pattern is None):
                    raise
        return sorted(found)

    def _topics(self) -> Iterable[str]:
        if self._pattern is None:
            return tuple(self._settings["subscribe"])
        return [topic for topic in self._client.topics() if self._pattern.search(topic)]

    def _assigned(self, asked: Collection[TopicPartition], stood: Collection[TopicPartition]) -> list[TopicPartition]:
        there: set[TopicPartition] = set()
        for topic in {tp.topic for tp in asked}:
            try:
                there |= {TopicPartition(topic, number) for number in self._client.partitions(topic)}
            except NoSuchTopic as problem:
                if isinstance(problem, TopicRecreated) or not any(tp.topic == topic for tp in stood):
                    raise
        if missing := sorted(set(asked) - there - set(stood)):
            raise UsageError(
                f"the option assign names {missing[0]}, and the topic {missing[0].topic} has no such partition"
            )
        return sorted(there & set(asked))

    def _by_time(self, bound: Bound, asked: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        found = self._ask(asked)
        if bound.strict and (missing := sorted(tp for tp in asked if found.get(tp) is None)):
            tp = missing[0]
            raise UsageError(
                f"the option {bound.option}: {tp} has no record with timestamp {asked[tp]} or later "
                "(startingOffsetsByTimestampStrategy=latest would begin at its end)"
            )
        return {tp: LATEST if (answer := found.get(tp)) is None else answer.offset for tp in asked}

    def _offsets(self, partitions: Iterable[TopicPartition], when: int) -> dict[TopicPartition, OffsetAndEpoch]:
        return {tp: found for tp, found in self._ask(dict.fromkeys(partitions, when)).items() if found is not None}

    def _ask(self, asked: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, OffsetAndEpoch | None]:
        return self._patiently(lambda: self._client.offsets(asked, isolation=self._isolation)) if asked else {}

    def _patiently(self, ask: Callable[[], T]) -> T:
        for _ in range(self._settings["fetchOffset.numRetries"] - 1):
            try:
                return ask()
            except (BadAnswer, Refused, TopicRecreated):  # the client itself is patient with all that passes
                self._pause()
        return ask()

    def _pause(self) -> None:
        time.sleep(self._settings["fetchOffset.retryIntervalMs"] / 1000)
