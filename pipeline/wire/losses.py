"""What is gone since a query stood where it stands: found by comparing what a checkpoint says with what the brokers say, and told in one
sentence each.

Rules: a loss names topic, partition, offset. With `failOnDataLoss` it is raised; without, it is a warning, and the query goes on from
`start`, the nearest place from which nothing that is there is missed. A truncation is found by the leader epoch of the position (KIP-101,
KIP-320), even when the log has become longer again since.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..client import OffsetAndEpoch, PartitionLeader, TopicPartition
from .offsets import Positions

_LOG = logging.getLogger(__name__)
_INSTRUCTION = "set the option failOnDataLoss to false to go on without what is lost"


class DataLoss(Exception):
    """Records that should be read are gone."""


class Loss(NamedTuple):
    """One partition's: what happened, and from where to go on, or None when there is nothing to go on with."""

    tp: TopicPartition
    what: str
    start: int | None


@dataclass(frozen=True)
class Now:
    """What the brokers say. `ends`: of the epoch that each position has, where it ends now; it lacks partitions whose epoch is not known.

    `leaders` and `ids` were asked for first, so no offset here is of an earlier topic than they are.
    """

    earliest: Mapping[TopicPartition, int]
    latest: Mapping[TopicPartition, int]
    ends: Mapping[TopicPartition, OffsetAndEpoch] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    leaders: Mapping[TopicPartition, PartitionLeader] = field(default_factory=dict)


def report(losses: Iterable[Loss], fail: bool) -> None:
    """Raises DataLoss for the first of them, or warns of each."""
    for loss in losses:
        if fail:
            raise DataLoss(f"{loss.what}; {_INSTRUCTION}")
        _LOG.warning("%s; failOnDataLoss is false, so the query goes on", loss.what)


def of_positions(stood: Positions, now: Now) -> list[Loss]:
    """What is gone of the partitions of a position."""
    return [loss for tp in sorted(stood.offsets) if (loss := _of(tp, stood, now)) is not None]


class OfBatch(NamedTuple):
    """What is gone of a micro-batch: of its beginning, of topics that are others by now, and of its ends."""

    gone: list[Loss]
    other: list[Loss]
    short: list[Loss]

    def __bool__(self) -> bool:
        return any(map(bool, self))


def of_batch(stood: Positions, aim: Positions, now: Now) -> OfBatch:
    """What is gone between two positions."""
    other = of_other_topics(aim, now)
    same = {tp: end for tp, end in aim.offsets.items() if tp not in {loss.tp for loss in other}}
    return OfBatch(of_positions(stood, now) + of_new(stood, now), other, of_ends(same, now))


def of_new(stood: Positions, now: Now) -> list[Loss]:
    """Of partitions that came since: those whose first records are gone already."""
    added = sorted(now.earliest.keys() - stood.offsets.keys())
    return [
        Loss(tp, f"the partition {tp} is new and begins at offset {first}, not at 0: what was before is gone", first)
        for tp in added
        if (first := now.earliest[tp]) > 0
    ]


def of_ends(aim: Mapping[TopicPartition, int], now: Now) -> list[Loss]:
    """Of the ends of a batch: those that are not there, or not any more. `start` is where it can end."""
    return [loss for tp, end in sorted(aim.items()) if (loss := _of_end(tp, end, now.latest.get(tp))) is not None]


def of_other_topics(aim: Positions, now: Now) -> list[Loss]:
    """Of a batch that ends in topics which are others by now: nothing of them is read, since their offsets mean other records. The next
    batch begins where the new topic does."""
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
    return f"the topic {topic} was deleted and made anew ({now.ids[topic]})"


def _of_end(tp: TopicPartition, end: int, latest: int | None) -> Loss | None:
    if latest is None:
        return Loss(tp, f"the partition {tp}, which this batch must read up to offset {end}, is gone", None)
    if latest >= end:
        return None
    what = f"the offsets {latest} to {end - 1} of {tp}, which this batch must read, are gone: its log ends at {latest}"
    return Loss(tp, what, latest)


def _of(tp: TopicPartition, stood: Positions, now: Now) -> Loss | None:
    offset, before, after = stood.offsets[tp], stood.ids.get(tp.topic), now.ids.get(tp.topic)
    if tp not in now.latest or tp not in now.earliest:
        return Loss(
            tp, f"the partition {tp} is gone, or not read any more: the query stood at its offset {offset}", None
        )
    earliest, latest = now.earliest[tp], now.latest[tp]
    if before and after and before != after:
        was = f"the query stood at offset {offset} of {tp} in the topic {before}"
        return Loss(tp, f"{recreated(tp.topic, now)}: {was}", earliest)
    if (cut := _truncated(tp, stood, now.ends)) is not None:
        return Loss(tp, cut.what, max(cut.start or 0, earliest))
    if latest < offset:
        what = f"{tp} ends at offset {latest}, and the query stands at {offset}: what lay between is gone, or never was"
        return Loss(tp, what, latest)
    if offset < earliest:
        return Loss(
            tp, f"the offsets {offset} to {earliest - 1} of {tp} are gone: its log starts at {earliest}", earliest
        )
    return None


def _truncated(tp: TopicPartition, stood: Positions, ends: Mapping[TopicPartition, OffsetAndEpoch]) -> Loss | None:
    epoch, end = stood.epochs.get(tp), ends.get(tp)
    if epoch is None or end is None or end.offset < 0 or end.offset >= stood.offsets[tp]:
        return None
    what = (
        f"{tp} was truncated to offset {end.offset}: the query had read up to {stood.offsets[tp]} in leader epoch {epoch}, "
        f"the log knows epoch {end.epoch} up to {end.offset}"
    )
    return Loss(tp, what, end.offset)
