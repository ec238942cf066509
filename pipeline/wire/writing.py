"""The work of a writing task: encodes rows as record batches, sends each to its partition's leader,
and ends when the brokers have them.

Rules: delivery is at least once, because a task that Spark repeats writes its rows again. Within a
task no row is written twice, because its producer is idempotent (KIP-98) unless the options disable
that. Batches are sent when there are enough of them, so that memory does not grow with the task.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafkadouble.wire import columns
from kafkadouble.wire.compression import codec_id
from kafkadouble.wire.errors import UsageError

from ..client import Client, TopicPartition
from ..client.settings import ClientSettings
from . import pool, sinking
from .options import QueryOptions
from .partitioning import Numbers, Partitioner

ENOUGH = 8 << 20
"""Batches are sent when they have this many bytes."""
LARGEST = 1_000_000
"""The default size of a batch in bytes before compression (`kafka.batch.size`): below the 1 MiB
that topics accept by default."""


def write(batches: Iterator[pa.RecordBatch], settings: QueryOptions) -> int:
    """Writes all rows and returns how many. Raises UsageError for a row that cannot be written, and
    kinds of ClientError."""
    task = _Task(pool.writing(settings), settings)
    return sum(task.write(batch) for batch in batches) + task.finish()


class _Task:
    """The producer of one task, and its batches that are not sent yet."""

    def __init__(self, client: Client, settings: QueryOptions) -> None:
        self._client, self._producer = client, client.producer()
        self._topic = settings["topic"]
        self._codec, self._level = _compression(client.settings)
        self._largest = max(client.settings.int("batch.size"), 1) if "batch.size" in client.settings.given else LARGEST
        self._enough = min(ENOUGH, client.settings.int("buffer.memory"))
        self._ignore_keys = client.settings.flag("partitioner.ignore.keys")
        self._partitioners: dict[str, Partitioner] = {}
        self._made: dict[TopicPartition, list[bytes]] = {}
        self._size = 0

    def write(self, rows: pa.RecordBatch) -> int:
        for topic, some in sinking.topics(rows, self._topic).items() if rows.num_rows else ():
            if topic not in self._partitioners:
                count = len(self._client.partitions(topic, create=True))
                self._partitioners[topic] = Partitioner(count, random.randrange(count))
            partitioner = self._partitioners[topic]
            chosen = partitioner.choose(sinking.keys(some, ignored=self._ignore_keys), sinking.partitions(some))
            self._check(topic, chosen, partitioner.partitions)
            order = np.argsort(chosen, kind="stable")
            numbers, starts = np.unique(chosen[order], return_index=True)
            records, ends = sinking.records(some).take(pa.array(order)), [*starts[1:], len(order)]
            for number, start, end in zip(numbers.tolist(), starts.tolist(), ends, strict=True):
                self._add(TopicPartition(topic, number), records.slice(start, end - start))
        if self._size >= self._enough:
            self.finish()
        return int(rows.num_rows)

    def finish(self) -> int:
        """Sends the rest; no rows follow."""
        if self._made:
            self._producer.send(self._made)
        self._made, self._size = {}, 0
        return 0

    def _check(self, topic: str, chosen: Numbers, partitions: int) -> None:
        """Raises UsageError when a row names a partition that the topic does not have, also after a
        metadata refresh."""
        if (wrong := chosen[(chosen < 0) | (chosen >= partitions)]).size and not self._has(topic, wrong):
            most = partitions - 1
            raise UsageError(f"a row has partition {wrong[0]} of the topic {topic}, which has partitions 0 to {most}")

    def _has(self, topic: str, partitions: Numbers) -> bool:
        """Whether the partitions were created since the last metadata of the topic."""
        self._client.forget([topic])
        del self._partitioners[topic]
        return set(partitions.tolist()) <= set(self._client.partitions(topic))

    def _add(self, tp: TopicPartition, records: pa.RecordBatch) -> None:
        made = columns.encode(
            records, codec=self._codec, level=self._level, now=int(time.time() * 1000), max_bytes=self._largest
        )
        self._made.setdefault(tp, []).extend(made)
        self._size += sum(map(len, made))


def _compression(settings: ClientSettings) -> tuple[int, int | None]:
    """The codec's id, and its level if there is a choice."""
    name = settings.text("compression.type") or ""
    level = f"compression.{name}.level"
    return codec_id(name), settings.int(level) if level in settings.given else None
