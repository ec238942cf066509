"""The work of a reading task: one range of offsets, as Arrow.

Rules: only the requested columns are made. Control records are left out, and with read_committed
those of aborted transactions. Records that are lost during the read are reported like earlier
losses (`losses`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..client import Fetched, LogTruncated, NoSuchTopic, OffsetOutOfRange
from ..fetched_rows import rows
from . import losses, pool, surplus
from .losses import Loss
from .options import QueryOptions
from .task import ReadTask

if TYPE_CHECKING:
    import pyarrow as pa


def read(task: ReadTask, names: Sequence[str], settings: QueryOptions) -> Iterator[pa.RecordBatch]:
    """The rows of a task, in the order of their offsets. Raises DataLoss, and kinds of
    ClientError."""
    committed = settings.client.get("isolation.level") == "read_committed"
    rest: ReadTask | None = task
    while rest is not None:
        at = rest.start
        try:
            for fetched in _kept_then_fetched(rest, settings) if rest is task else _fetched(rest, settings):
                yield from rows(fetched, rest.tp, rest.start, rest.end, names, committed)
                at = fetched.next_offset
                if at > rest.end:
                    surplus.of_process.keep(rest, settings, fetched)
            return
        except OffsetOutOfRange as problem:
            # The rest of the task after a loss that may be skipped.
            start = problem.log_start_offset
            losses.report([Loss(rest.tp, str(problem), start)], settings["failOnDataLoss"])
            rest = rest._replace(start=start, epoch=-1) if at < start < rest.end else None
        except NoSuchTopic as problem:
            losses.report([Loss(task.tp, str(problem), None)], settings["failOnDataLoss"])
            return
        except LogTruncated as problem:
            losses.report([Loss(task.tp, str(problem), problem.end.offset)], settings["failOnDataLoss"])
            rest = rest._replace(start=min(at, problem.end.offset), epoch=-1)


def _kept_then_fetched(task: ReadTask, settings: QueryOptions) -> Iterator[Fetched]:
    """The records that an earlier task left, then those that the brokers send."""
    if (kept := surplus.of_process.take(task, settings)) is not None:
        yield kept.fetched
        task = task._replace(start=kept.fetched.next_offset, epoch=kept.epoch)
    if task.start < task.end:
        yield from _fetched(task, settings)


def _fetched(task: ReadTask, settings: QueryOptions) -> Iterator[Fetched]:
    client = pool.reading(settings)
    isolation = settings.client.get("isolation.level", "read_uncommitted")
    return client.read(task.tp, task.start, task.end, leader_epoch=task.epoch, leader=task.leader, isolation=isolation)
