"""The input of one reading task: a plain value, which the driver sends to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..client import PartitionLeader, TopicPartition
from .options import QueryOptions
from .planning import OffsetRange, tasks


class ReadTask(NamedTuple):
    """The offsets from `start`, before `end`. `epoch` is the leader epoch of the record before
    `start`, or -1; it detects a truncation below `start`.

    `leader` is the partition's leader that the driver knows: a worker reads there without a
    metadata request.
    """

    tp: TopicPartition
    start: int
    end: int
    epoch: int = -1
    leader: PartitionLeader | None = None


def divided(
    spans: list[OffsetRange],
    settings: QueryOptions,
    epochs: Mapping[TopicPartition, int],
    leaders: Mapping[TopicPartition, PartitionLeader],
) -> list[ReadTask]:
    """The tasks of one batch. Only the first task of a partition has the epoch before it."""
    starts = {span.tp: span.start for span in spans}
    pieces = tasks(spans, settings["minPartitions"], settings["maxRecordsPerPartition"])
    first = {span.tp: epochs.get(span.tp, -1) for span in spans}
    return [
        ReadTask(*piece, first[piece.tp] if starts[piece.tp] == piece.start else -1, leaders.get(piece.tp))
        for piece in pieces
    ]
