"""Finds where replicas of a partition differ, and where a follower would truncate its log (KIP-101,
KIP-279).

Replicas hold the leader's batches unchanged, so replicas diverge at the first batch with other
offsets, another leader epoch or another checksum. A follower does not compare batches: it sends its
last leader epoch, receives the end offset of that epoch at the leader, and truncates there. If that
is not above the first difference, following repairs the replica; otherwise the difference stays.
Compaction rewrites batches at each replica separately, so this works for logs that are not
compacted. This file is pure: tables in, a table out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.offset_and_epoch import NO_EPOCH, UNDEFINED, OffsetAndEpoch
from kafkadouble.wire.errors import UsageError

SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("replica", pa.string()),
        ("leader", pa.string()),
        ("first_difference", pa.int64()),
        ("truncation_offset", pa.int64()),
        ("truncation_epoch", pa.int32()),
        ("end_offset", pa.int64()),
        ("leader_end_offset", pa.int64()),
        ("heals", pa.bool_()),
    ]
)
"""A row for each replica except the leader. `first_difference`: the offset of the first batch that
only one of them has, null when the shorter log is the beginning of the longer one.
`truncation_offset`: the offset to which the replica will truncate, null when the leader has none of
its epochs; `truncation_epoch`: the last epoch that both have. `heals`: whether no difference is
left below it."""

NEEDED = ("topic", "partition", "replica", "base_offset", "last_offset", "leader_epoch", "crc")
"""The columns of `level=batches` that are used."""

Ints = npt.NDArray[np.int64]


class ReplicaBatches(NamedTuple):
    """One replica of a partition: its batches, a row of (first offset, last offset, leader epoch,
    checksum) each, in order."""

    name: str
    batches: Ints

    @property
    def end(self) -> int:
        return int(self.batches[-1, 1]) + 1

    def epochs(self) -> LeaderEpochCache:
        """The start offset of each leader epoch."""
        starts = self.batches[np.flatnonzero(np.diff(self.batches[:, 2], prepend=NO_EPOCH))]
        return LeaderEpochCache(OffsetAndEpoch(int(row[0]), int(row[2])) for row in starts if row[2] >= 0)


def divergence(batches: pa.Table) -> pa.Table:
    """Every replica against the leader of its partition, from the batches of them all
    (`level=batches`). The leader is the replica whose last batch has the newest leader epoch, and
    among those the one with the longest log, as in an election. Raises UsageError when a column is
    missing."""
    missing = [name for name in NEEDED if name not in batches.schema.names]
    if missing:
        raise UsageError(
            f"divergence is found in batches with the columns {', '.join(NEEDED)}: {missing[0]} is missing"
        )
    known = batches.select(NEEDED).filter(compute.is_valid(batches["base_offset"]))
    found: dict[tuple[Any, Any], list[ReplicaBatches]] = {}
    for rows in _groups(known.sort_by([(name, "ascending") for name in NEEDED[:4]])):
        topic, partition, name = (rows[column][0].as_py() for column in NEEDED[:3])
        table = np.stack([rows[column].to_numpy().astype(np.int64) for column in NEEDED[3:]], axis=1)
        found.setdefault((topic, partition), []).append(ReplicaBatches(name, table))
    return pa.Table.from_pylist([row for key in found for row in _of_partition(key, found[key])], SCHEMA)


def _groups(table: pa.Table) -> Iterator[pa.Table]:
    """Neighbouring rows of the same partition and replica."""
    changes = np.zeros(table.num_rows, bool)
    for name in NEEDED[:3]:
        codes = table[name].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
        changes |= np.diff(codes, prepend=-2) != 0
    for start, end in pairwise([*np.flatnonzero(changes).tolist(), table.num_rows]):
        yield table.slice(start, end - start)


def _of_partition(key: tuple[Any, Any], replicas: list[ReplicaBatches]) -> list[dict[str, Any]]:
    leader = max(replicas, key=lambda replica: (int(replica.batches[-1, 2]), replica.end))
    return [
        {"topic": key[0], "partition": key[1], **_against(leader, replica)}
        for replica in sorted(replicas, key=lambda replica: replica.name)
        if replica is not leader
    ]


def _against(leader: ReplicaBatches, replica: ReplicaBatches) -> dict[str, Any]:
    difference, cut = first_difference(leader.batches, replica.batches), truncation(leader, replica)
    return {
        "replica": replica.name,
        "leader": leader.name,
        "first_difference": difference,
        "truncation_offset": cut.offset if cut != UNDEFINED else None,
        "truncation_epoch": cut.epoch if cut != UNDEFINED else None,
        "end_offset": replica.end,
        "leader_end_offset": leader.end,
        "heals": difference is None or (cut != UNDEFINED and cut.offset <= difference),
    }


def first_difference(ours: Ints, theirs: Ints) -> int | None:
    """The offset of the first batch that only one has, among the offsets that both have; None when
    there is none."""
    start, end = max(ours[0, 0], theirs[0, 0]), min(ours[-1, 1], theirs[-1, 1])
    first, second = (each[(each[:, 0] >= start) & (each[:, 0] <= end)] for each in (ours, theirs))
    both = min(len(first), len(second))
    others = np.flatnonzero((first[:both] != second[:both]).any(axis=1))
    if len(others):
        return int(min(first[others[0], 0], second[others[0], 0]))
    longer = first if len(first) > len(second) else second
    return int(longer[both, 0]) if len(longer) > both else None


def truncation(leader: ReplicaBatches, replica: ReplicaBatches) -> OffsetAndEpoch:
    """The offset to which a follower truncates, which repeats its request until it has the epoch in
    the response. UNDEFINED when the leader has none of its epochs; Kafka then uses the high
    watermark."""
    theirs, ours, end = leader.epochs(), replica.epochs(), replica.end
    while ours.latest != NO_EPOCH and (answer := theirs.end_offset_for(ours.latest, leader.end)) != UNDEFINED:
        own = ours.end_offset_for(answer.epoch, end)
        if own.epoch == answer.epoch:
            return OffsetAndEpoch(min(end, own.offset, answer.offset), answer.epoch)
        end = own.offset
        ours.truncate_from_end(end)
    return UNDEFINED
