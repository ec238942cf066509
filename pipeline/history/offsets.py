"""`level=offsets`: `__consumer_offsets` (KIP-211 for its expiry, KIP-848 for its newer records):
every record, every commit, or the lag of each group at each commit.

Commits of aborted transactions are included, unless `isolation=read_committed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey, OffsetCommitValue

from ..logs.options import LogOptions
from . import record_rows
from .chain import Chain, HistoryRecord
from .coordinated import CoordinatorEntry, decoded
from .ends import LogDirectoryEnds
from .level import TIME, HistoryTable, level, time

TOPIC = "__consumer_offsets"

_COMMIT = {
    "group": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "committed_offset": pa.int64(),
    "committed_leader_epoch": pa.int32(),
    "commit_time": TIME,
}
_RECORD_POSITION = {
    "offset": pa.int64(),
    "offsets_partition": pa.int32(),
    "transactional": pa.bool_(),
    "replica": pa.string(),
}

COMMITS = {
    **_COMMIT,
    "metadata": pa.string(),
    "expire_time": TIME,
    "topic_id": pa.string(),
    "removed": pa.bool_(),
    "timestamp": TIME,
    **_RECORD_POSITION,
}
"""`removed` is true if the commit was deleted or has expired; `timestamp` is then the only time.
`offset` is the offset of the record."""

LAG = {
    **_COMMIT,
    "end_offset": pa.int64(),
    "lag": pa.int64(),
    "end_offset_now": pa.int64(),
    "lag_now": pa.int64(),
    "current": pa.bool_(),
    **_RECORD_POSITION,
}
"""`end_offset` is the end offset of the partition at the time of the commit, from the timestamps of
its batches. `end_offset_now` is the end offset in its files. Both are null if the partition is not
in the same log directory. `current` is true for the newest commit, if it was not removed."""


def _commits(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
    for decoded_entry in decoded(log, TOPIC, options):
        # `topics` and `partitions` select by the partitions in the commits.
        if isinstance(decoded_entry.key, OffsetCommitKey) and (
            (not options.topics or decoded_entry.key.topic in options.topics)
            and (not options.partitions or any(decoded_entry.key.partition in each for each in options.partitions))
        ):
            yield _commit(decoded_entry, decoded_entry.key, chain)


def _commit(decoded_entry: CoordinatorEntry, key: OffsetCommitKey, chain: Chain) -> dict[str, Any]:
    entry, value = decoded_entry.entry, decoded_entry.value
    row = {
        "group": key.group,
        "topic": key.topic,
        "partition": key.partition,
        "removed": value is None,
        "timestamp": time(entry.timestamp),
        "offset": entry.offset,
        "offsets_partition": chain.partition,
        "transactional": entry.transactional,
    }
    return row | _value(value) if isinstance(value, OffsetCommitValue) else row


def _value(value: OffsetCommitValue) -> dict[str, Any]:
    return {
        "committed_offset": value.offset,
        "committed_leader_epoch": value.leader_epoch if value.leader_epoch >= 0 else None,
        "metadata": value.metadata,
        "commit_time": time(value.commit_timestamp),
        "expire_time": time(value.expire_timestamp),
        "topic_id": None if value.topic_id == type(value.topic_id).ZERO else str(value.topic_id),
    }


def _lag(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
    commits = list(_commits(log, chain, options))
    newest = {(row["group"], row["topic"], row["partition"]): row for row in commits}
    ends = LogDirectoryEnds(chain.replica, options)
    for row in commits:
        if not row["removed"]:
            current = newest[row["group"], row["topic"], row["partition"]] is row
            yield {**row, **_behind(row, ends), "current": current}


def _behind(row: dict[str, Any], ends: LogDirectoryEnds) -> dict[str, Any]:
    end = ends.of(row["topic"], row["partition"])
    if end is None:
        return {}
    then, now, reached = end.at(row["commit_time"] // 1000), end.now, row["committed_offset"]
    return {"end_offset": then, "lag": max(then - reached, 0), "end_offset_now": now, "lag_now": max(now - reached, 0)}


TABLES = {
    "commits": HistoryTable(COMMITS, _commits, whole=False),
    "lag": HistoryTable(LAG, _lag),
    "records": record_rows.table("offsets"),
}

LEVEL = level(TOPIC, TABLES, "commits")
