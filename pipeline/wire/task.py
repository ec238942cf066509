"""What one task reads: a plain value, which goes from the driver to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..client import PartitionLeader, TopicPartition
from .options import QueryOptions
from .planning import OffsetRange, tasks


class ReadTask(NamedTuple):
    """The offsets from `start` to before `end`. `epoch` is that of the record before `start`, or -1: with it a truncation below is noticed.

    `leader` is what the driver knows of the partition's leader: a worker reads there at once, whatever it knows itself.
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
    """The tasks of one batch. Only the first piece of a partition knows the epoch before it."""
    starts = {span.tp: span.start for span in spans}
    pieces = tasks(spans, settings["minPartitions"], settings["maxRecordsPerPartition"])
    first = {span.tp: epochs.get(span.tp, -1) for span in spans}
    return [
        ReadTask(*piece, first[piece.tp] if starts[piece.tp] == piece.start else -1, leaders.get(piece.tp))
        for piece in pieces
    ]
