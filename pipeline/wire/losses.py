"""Detects lost records: compares the position of a query, as in its checkpoint, with the brokers,
and reports each loss in one sentence.

Rules: a loss names topic, partition, offset. With `failOnDataLoss` it is raised. Without, it is a
warning, and the query continues from `start`, the nearest offset from which no existing record is
missed. The leader epoch of the position detects a truncation (KIP-101, KIP-320), even when the log
has grown again since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkadouble.wire.client_log import ClientLog

from ..client import OffsetAndEpoch, PartitionLeader, TopicPartition
from .offsets import Positions

_LOG = ClientLog(__name__)
_INSTRUCTION = "set the option failOnDataLoss to false to go on without what is lost"


class DataLoss(Exception):
    """Records that should be read are gone."""


class Loss(NamedTuple):
    """The loss of one partition: the text, and the offset to continue from, or None when the
    partition is gone."""

    tp: TopicPartition
    what: str
    start: int | None


@dataclass(frozen=True)
class Now:
    """The present state of the brokers. `ends`: the end offset of each position's leader epoch;
    partitions with an unknown epoch are missing.

    `leaders` and `ids` were requested first, so no offset here belongs to an earlier topic.
    """

    earliest: Mapping[TopicPartition, int]
    latest: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, OffsetAndEpoch] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    leaders: Mapping[TopicPartition, PartitionLeader] = field(default_factory=dict)


def report(losses: Iterable[Loss], fail: bool) -> None:
    """Raises DataLoss for the first loss, or logs a warning for each."""
    for loss in losses:
        if fail:
            raise DataLoss(f"{loss.what}; {_INSTRUCTION}")
        _LOG.warning("%s; failOnDataLoss is false, so the query goes on", loss.what)


def of_positions(stood: Positions, now: Now) -> list[Loss]:
    """The losses of a position."""
    return [loss for tp in sorted(stood.offsets) if (loss := _of(tp, stood, now)) is not None]


class OfBatch(NamedTuple):
    """The losses of a micro-batch: at its start, of recreated topics, and at its ends."""

    at_start: list[Loss]
    other: list[Loss]
    short: list[Loss]

    def __bool__(self) -> bool:
        return any(map(bool, self))


def of_batch(stood: Positions, aim: Positions, now: Now) -> OfBatch:
    """The losses between two positions."""
    other = of_other_topics(aim, now)
    same = {tp: end for tp, end in aim.offsets.items() if tp not in {loss.tp for loss in other}}
    return OfBatch(of_positions(stood, now) + of_new(stood, now), other, of_ends(same, now))


def of_new(stood: Positions, now: Now) -> list[Loss]:
    """The losses of new partitions: those whose first records were deleted already."""
    added = sorted(now.earliest.keys() - stood.offsets.keys())
    return [
        Loss(tp, f"the partition {tp} is new and begins at offset {first}, not at 0: what was before is lost", first)
        for tp in added
        if (first := now.earliest[tp]) > 0
    ]


def of_ends(aim: Mapping[TopicPartition, int], now: Now) -> list[Loss]:
    """The losses at the ends of a batch: ends that do not exist, or not any more. `start` is the
    possible end."""
    return [loss for tp, end in sorted(aim.items()) if (loss := _of_end(tp, end, now.latest.get(tp))) is not None]


def of_other_topics(aim: Positions, now: Now) -> list[Loss]:
    """The losses of a batch with recreated topics: they are not read, because their offsets mean
    other records. The next batch begins at the start of the new topic."""
    return [
        Loss(
            tp,
            f"{recreated(tp.topic, now)}: this batch must read up to offset {end} of {tp} in the topic {before}",
            None,
        )
        for tp, end in sorted(aim.offsets.items())
        if (before := aim.ids.get(tp.topic)) and now.ids.get(tp.topic, before) != before
    ]


def recreated(topic: str, now: Now) -> str:
    return f"the topic {topic} was deleted and recreated ({now.ids[topic]})"


def _of_end(tp: TopicPartition, end: int, latest: int | None) -> Loss | None:
    if latest is None:
        return Loss(tp, f"the partition {tp}, which this batch must read up to offset {end}, no longer exists", None)
    if latest >= end:
        return None
    what = f"the offsets {latest} to {end - 1} of {tp}, which this batch must read, are lost: its log ends at {latest}"
    return Loss(tp, what, latest)


def _of(tp: TopicPartition, stood: Positions, now: Now) -> Loss | None:
    offset, before, after = stood.offsets[tp], stood.ids.get(tp.topic), now.ids.get(tp.topic)
    if tp not in now.latest or tp not in now.earliest:
        return Loss(
            tp,
            f"the partition {tp} no longer exists, or is not read any more: the query was at its offset {offset}",
            None,
        )
    earliest, latest = now.earliest[tp], now.latest[tp]
    if before and after and before != after:
        was = f"the query stood at offset {offset} of {tp} in the topic {before}"
        return Loss(tp, f"{recreated(tp.topic, now)}: {was}", earliest)
    if (cut := _truncated(tp, stood, now.ends)) is not None:
        return Loss(tp, cut.what, max(cut.start or 0, earliest))
    if latest < offset:
        what = f"{tp} ends at offset {latest}, and the query is at {offset}: what lay between is lost, or never existed"
        return Loss(tp, what, latest)
    if offset < earliest:
        return Loss(
            tp, f"the offsets {offset} to {earliest - 1} of {tp} are lost: its log starts at {earliest}", earliest
        )
    return None


def _truncated(tp: TopicPartition, stood: Positions, ends: Mapping[TopicPartition, OffsetAndEpoch]) -> Loss | None:
    epoch, end = stood.epochs.get(tp), ends.get(tp)
    if epoch is None or end is None or end.offset < 0 or end.offset >= stood.offsets[tp]:
        return None
    what = (
        f"{tp} was truncated to offset {end.offset}: the query had read up to {stood.offsets[tp]} in leader epoch {epoch}, "
        f"the log has epoch {end.epoch} up to {end.offset}"
    )
    return Loss(tp, what, end.offset)
