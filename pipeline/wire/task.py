"""What one task reads: a plain value, which goes from the driver to a worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..client import TopicPartition
from .options import Settings
from .planning import Span, tasks


class Task(NamedTuple):
    """The offsets from `start` to before `end`. `epoch` is that of the record before `start`, or -1: with it a truncation below is noticed."""

    tp: TopicPartition
    start: int
    end: int
    epoch: int = -1


def divided(spans: list[Span], settings: Settings, epochs: Mapping[TopicPartition, int]) -> list[Task]:
    """The tasks of one batch. Only the first piece of a partition knows the epoch before it."""
    starts = {span.tp: span.start for span in spans}
    pieces = tasks(spans, settings["minPartitions"], settings["maxRecordsPerPartition"])
    return [Task(*piece, epochs.get(piece.tp, -1) if starts[piece.tp] == piece.start else -1) for piece in pieces]
