"""The driver's side of a streaming query: decides what each micro-batch reads, when Spark asks.

Rules: a position that did not move is returned unchanged, so that Spark starts no batch. Losses are
detected at the first call, after a change of a leader or of a topic id, and before each batch is
planned. Only the first batch stores the start of the query (see `offsets`). A batch does not read a
topic that was recreated after its end was chosen.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from kafkadouble.wire.client_log import ClientLog

from ..client import Client, ClientError, OffsetAndEpoch, TopicPartition
from . import bounds, losses, planning
from .losses import Loss
from .offsets import Json, Positions, of_json, to_json
from .options import STREAM, QueryOptions
from .planning import OffsetRange
from .task import ReadTask, divided
from .watch import EndOffsets, Watch

_LOG = ClientLog(__name__)


MOST_REPORTED = 1000
"""How many reported losses a driver remembers."""


class MicroBatchStream:
    """The driver's side of one streaming query."""

    def __init__(self, client: Client, settings: QueryOptions) -> None:
        self._client, self._settings = client, settings
        self._watch = Watch(client, settings)
        self._bound = bounds.starting(settings, STREAM)
        self._admission = planning.Admission(settings["minOffsetsPerTrigger"], settings["maxTriggerDelay"])
        self._initial: Json | None = None
        self._available_now = False
        self._target: EndOffsets | None = None
        self._newest = EndOffsets({}, {})
        self._looked: dict[TopicPartition, tuple[int, str | None]] = {}
        self._first_ids: dict[str, str] = {}
        self._reported: deque[Loss] = deque(maxlen=MOST_REPORTED)
        self._committed: Mapping[TopicPartition, int] = {}

    def initial(self) -> Json:
        """The start of a new query; every call returns the same."""
        if self._initial is None:
            partitions = self._watch.partitions()
            offsets = self._watch.resolved(self._bound, partitions)
            position = self._watch.positions(offsets, self._watch.ends(partitions, {}))
            self._initial = to_json(replace(position, begun=position.offsets))
        return self._initial

    def until_now(self) -> None:
        """The next call fixes the end of the query (Trigger.AvailableNow)."""
        self._available_now = True

    def latest(self, start: Json, everything: bool) -> Json:
        """The end of the next micro-batch. `everything`: without the limits of the options."""
        stood = of_json(start)
        self._commit(stood)
        ends = self._ends(stood)
        stood = self._with_ids(stood, ends.ids)
        lost = self._look(stood, ends)
        offsets = ends.offsets()
        begin = {tp: offset for tp, offset in {**stood.offsets, **lost}.items() if tp in offsets}
        begin |= self._watch.earliest(offsets.keys() - begin.keys())
        if not everything:
            if not self._admitted(begin, offsets):
                return start
            if (most := self._settings["maxOffsetsPerTrigger"]) is not None:
                offsets = planning.limited(most, begin, offsets)
        if offsets == stood.offsets and not lost:
            return start
        return to_json(self._moved(stood, offsets, ends, lost))

    def newest(self) -> Json | None:
        """The end offsets of the partitions from the last request."""
        return to_json(Positions(offsets)) if (offsets := self._newest.offsets()) else None

    def plan(self, start: Json, end: Json) -> list[ReadTask]:
        """The tasks of the micro-batch between two positions. Raises DataLoss when some of its
        records are gone."""
        stood, aim = of_json(start), of_json(end)
        if aim.begun and stood.begun == stood.offsets:
            stood = _begun(stood, aim)
        partitions = sorted(set(self._watch.partitions({**stood.offsets, **aim.offsets})) & aim.offsets.keys())
        stood = self._with_ids(stood, self._watch.ids(partitions))
        now = self._watch.now_certainly(stood, partitions, lambda now: bool(losses.of_batch(stood, aim, now)))
        at_start, other, short = losses.of_batch(stood, aim, now)
        self._report(at_start + other + short)
        partitions = sorted(set(partitions) & now.earliest.keys() & now.latest.keys() - {loss.tp for loss in other})
        first = {**now.earliest, **{tp: offset for tp, offset in stood.offsets.items() if tp in now.earliest}}
        first |= {loss.tp: loss.start for loss in at_start if loss.start is not None}
        last = {**aim.offsets, **{loss.tp: loss.start for loss in short if loss.start is not None}}
        epochs = {tp: epoch for tp, epoch in stood.epochs.items() if first.get(tp) == stood.offsets[tp]}
        return divided([OffsetRange(tp, first[tp], last[tp]) for tp in partitions], self._settings, epochs, now.leaders)

    def commit(self, end: Json) -> None:
        """Handles the end of a micro-batch. Spark reports it only with the next one, so usually
        `latest` has committed it to the group already."""
        self._commit(of_json(end))

    def stop(self) -> None:
        self._client.close()

    def _commit(self, done: Positions) -> None:
        """Commits to the group of the option, if there is one. A failed commit is a warning, and
        does not stop the query."""
        if (group := self._settings["commitToGroup"]) is None or done.offsets == self._committed:
            return
        self._committed = done.offsets
        committed = {tp: OffsetAndEpoch(offset, done.epochs.get(tp, -1)) for tp, offset in done.offsets.items()}
        try:
            self._client.commit(group, committed)
        except ClientError as problem:
            _LOG.warning("the query's offsets were not committed to the group %s: %s", group, problem)

    def _ends(self, stood: Positions) -> EndOffsets:
        if self._target is not None:
            return self._target
        self._newest = self._watch.ends(self._watch.partitions(stood.offsets), stood.offsets)
        if self._available_now:
            self._target = self._newest
        return self._newest

    def _report(self, found: list[Loss]) -> None:
        """Reports each loss once: the same one is found when the end of a batch is chosen, and
        again when the batch is planned."""
        losses.report([loss for loss in found if loss not in self._reported], self._settings["failOnDataLoss"])
        self._reported.extend(found)

    def _with_ids(self, stood: Positions, now: Mapping[str, str]) -> Positions:
        """A position with the ids of its topics. A checkpoint of Spark's connector has none; then
        the first ids that were seen count."""
        for topic in {tp.topic for tp in stood.offsets} - stood.ids.keys():
            if topic in now:
                self._first_ids.setdefault(topic, now[topic])
        return replace(stood, ids={**self._first_ids, **stood.ids})

    def _look(self, stood: Positions, ends: EndOffsets) -> dict[TopicPartition, int]:
        """The losses since the last position, and the offsets to continue from. It sends no request
        while leaders, partitions and topic ids are the same, and no end offset went back."""
        latest = ends.latest
        seen = {tp: (end.epoch, ends.ids.get(tp.topic)) for tp, end in latest.items()}
        back = any(tp not in latest or latest[tp].offset < offset for tp, offset in stood.offsets.items())
        if seen == self._looked and not back:
            return {}
        now = self._watch.now_certainly(stood, list(latest), lambda now: bool(losses.of_positions(stood, now)))
        found = losses.of_positions(stood, now)
        self._report(found)
        self._looked = seen
        return {loss.tp: loss.start for loss in found if loss.start is not None}

    def _admitted(self, begin: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> bool:
        if self._available_now:
            return True  # no more records will be read, so there is nothing to wait for
        return self._admission.admits(planning.backlog(begin, end), int(time.time() * 1000))

    def _moved(
        self,
        stood: Positions,
        offsets: Mapping[TopicPartition, int],
        ends: EndOffsets,
        lost: Mapping[TopicPartition, int],
    ) -> Positions:
        """The new position. A partition that did not move keeps its epoch, because the leader may
        have forgotten the epoch of its record."""
        found = self._watch.positions(offsets, ends)
        still = {tp for tp, offset in offsets.items() if stood.offsets.get(tp) == offset and tp not in lost}
        epochs = {**found.epochs, **{tp: stood.epochs[tp] for tp in still if tp in stood.epochs}}
        first = stood.begun == stood.offsets
        return replace(found, epochs=epochs, begun=stood.begun if first else {})


def _begun(stood: Positions, aim: Positions) -> Positions:
    """The real start of the query, from the first batch when it is repeated."""
    epochs = {tp: epoch for tp, epoch in stood.epochs.items() if aim.begun.get(tp) == stood.offsets[tp]}
    return replace(stood, offsets=aim.begun, epochs=epochs)
