"""Keeps records after the end of a task that its last Fetch returned: the next task of the
partition begins with them.

Rules. Whole batches are kept as a broker sent them, with the aborted transactions that reach into
them. The key identifies the records: the client's properties (with isolation level and
credentials), the topic id, the partition, the leader epoch, and the offset at which a task must
begin. Topics without an id are not kept. Above `MOST_BYTES`, the least recently used are removed
first.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from kafkadouble.messages.uuid import ZERO
from kafkadouble.wire import columns

from ..client import Fetched
from .options import QueryOptions
from .task import ReadTask

MOST_BYTES = 32 << 20
MAGIC = 2
"""The magic of batches with a leader epoch."""

Key = tuple[object, ...]


class SurplusRecords(NamedTuple):
    """The records for a later task, and the leader epoch of the last one."""

    fetched: Fetched
    epoch: int


class Surplus:
    """The kept records of one worker process."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, SurplusRecords] = OrderedDict()
        self.size_bytes = 0

    def keep(self, task: ReadTask, settings: QueryOptions, fetched: Fetched) -> None:
        """Keeps the batches from the end of a task."""
        headers = columns.walk(fetched.buffer)
        behind = headers[headers.last_offset >= task.end]
        if (key := _key(task, settings, task.end)) is None or not len(behind) or (behind.magic != MAGIC).any():
            return
        start, end = int(behind.position[0]), int(behind.position[-1] + behind.size[-1])
        if end - start <= self._most_bytes:
            self._drop(key)
            copied = fetched._replace(
                buffer=memoryview(bytes(fetched.buffer[start:end])),
                position=task.end,
                aborted=_aborted_behind(fetched, headers, task.end),
            )
            self._kept[key] = SurplusRecords(copied, int(behind.leader_epoch[-1]))
            self.size_bytes += end - start
        while self.size_bytes > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def take(self, task: ReadTask, settings: QueryOptions) -> SurplusRecords | None:
        """Takes the kept records for the start of a task."""
        key = _key(task, settings, task.start)
        return None if key is None else self._drop(key)

    def clear(self) -> None:
        self._kept.clear()
        self.size_bytes = 0

    def _drop(self, key: Key) -> SurplusRecords | None:
        records = self._kept.pop(key, None)
        if records is not None:
            self.size_bytes -= len(records.fetched.buffer)
        return records


def _aborted_behind(fetched: Fetched, headers: columns.Headers, offset: int) -> tuple[tuple[int, int], ...]:
    """The aborted transactions whose markers are not before this offset. A transaction that ended
    before it would count as the next transaction of its producer."""
    markers = headers[headers.control & (headers.last_offset < offset)]
    return tuple(
        (producer_id, first_offset)
        for producer_id, first_offset in fetched.aborted
        if not ((markers.producer_id == producer_id) & (markers.base_offset >= first_offset)).any()
    )


def _key(task: ReadTask, settings: QueryOptions, offset: int) -> Key | None:
    leader = task.leader
    if leader is None or leader.topic_id == ZERO or leader.epoch < 0:
        return None
    return tuple(sorted(settings.client.items())), leader.topic_id, task.tp.partition, leader.epoch, offset


of_process = Surplus()
"""Spark reuses its workers, so this lasts between micro-batches."""
