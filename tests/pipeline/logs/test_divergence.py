"""The offset at which replicas diverge and the one to which KIP-101 truncates: the KIPs' cases, and
random histories compared with our followers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kafkadouble import UsageError, open_log
from kafkadouble.pipeline.logs.diverging import NEEDED, SCHEMA, ReplicaBatches, divergence, first_difference, truncation
from kafkadouble.server.log.divergence import FetchPositionKind, compare
from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.offset_and_epoch import UNDEFINED, OffsetAndEpoch

from . import written

Batches = list[tuple[int, int, int]]
"""First offset, number of records, epoch."""


def table(replicas: dict[str, Batches], topic: str = "t") -> pa.Table:
    """A table of batches; equal batches in two replicas have the same checksum."""
    rows = [
        {
            "topic": topic, "partition": 0, "replica": name, "base_offset": first, "last_offset": first + count - 1,
            "leader_epoch": epoch, "crc": hash((first, count, epoch)) & 0xFFFFFFFF,
        }
        for name, batches in replicas.items()
        for first, count, epoch in batches
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, pa.schema([*list(SCHEMA)[:3], *((name, pa.int64()) for name in NEEDED[3:])]))


def only(table: pa.Table) -> dict[str, Any]:
    assert table.schema == SCHEMA
    rows: list[dict[str, Any]] = table.to_pylist()
    assert len(rows) == 1
    return rows[0]


CASES: dict[str, tuple[Batches, Batches, tuple[int | None, int | None, int | None, bool]]] = {
    "the same": ([(0, 2, 0), (2, 3, 0)], [(0, 2, 0), (2, 3, 0)], (None, 5, 0, True)),
    "behind": ([(0, 2, 0), (2, 3, 0)], [(0, 2, 0)], (None, 2, 0, True)),
    "ahead of a leader of a later epoch": ([(0, 2, 0), (2, 1, 1)], [(0, 2, 0), (2, 1, 0), (3, 1, 0)], (2, 2, 0, True)),
    "KIP-101, scenario 1: it lost nothing that the leader has": ([(0, 1, 0), (1, 1, 1)], [(0, 1, 0)], (None, 1, 0, True)),
    "KIP-101, scenario 2: both wrote at the same offset": ([(0, 1, 0), (1, 1, 1)], [(0, 1, 0), (1, 1, 0)], (1, 1, 0, True)),
    "KIP-279: its epoch is none of the leader's": (
        [(0, 10, 0), (10, 5, 2), (15, 1, 3)], [(0, 10, 0), (10, 3, 1), (13, 4, 1)], (10, 10, 0, True),
    ),
    "two rounds": ([(0, 4, 0), (4, 1, 3)], [(0, 4, 0), (4, 2, 1), (6, 2, 2)], (4, 4, 0, True)),
    "a leader that has retained less": ([(8, 2, 1), (10, 2, 1)], [(0, 8, 0), (8, 2, 1)], (None, 10, 1, True)),
    "the same epoch, another batch": ([(0, 2, 0), (2, 3, 0), (5, 1, 1)], [(0, 2, 0), (2, 1, 0)], (2, 3, 0, False)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_divergence_of_known_histories_is_found(case: str) -> None:
    leader, follower, expected = CASES[case]
    row = only(divergence(table({"b": leader, "a": follower} if case != "the same" else {"a": leader, "b": follower})))
    assert (row["first_difference"], row["truncation_offset"], row["truncation_epoch"], row["heals"]) == expected
    assert (row["end_offset"], row["leader_end_offset"]) == (sum(follower[-1][:2]), sum(leader[-1][:2]))


def test_epochs_that_the_leader_never_knew() -> None:
    """Batches without an epoch (magic 0 and 1) give no truncation offset."""
    row = only(divergence(table({"a": [(0, 5, -1)], "b": [(0, 2, -1), (2, 1, -1)]})))
    assert (row["leader"], row["first_difference"], row["truncation_offset"], row["heals"]) == ("a", 0, None, False)


@pytest.mark.parametrize("seed", range(40))
def test_random_histories_end_where_our_followers_end(seed: int) -> None:
    chance = random.Random(seed)
    leader, follower = _histories(chance)
    ours = _replica("leader", leader), _replica("follower", follower)
    if (ours[1].batches[-1, 2], ours[1].end) > (ours[0].batches[-1, 2], ours[0].end):
        ours = ours[1], ours[0]
    assert truncation(*ours) == _followed(*ours)
    difference = first_difference(ours[0].batches, ours[1].batches)
    assert difference == _first_difference(ours[0], ours[1])


def _histories(chance: random.Random) -> tuple[Batches, Batches]:
    """Two histories with a common beginning, which continue under the same leaders or under leaders
    of their own."""
    common, offset, epoch = [], 0, 0
    for _ in range(chance.randint(1, 8)):
        count = chance.randint(1, 4)
        common.append((offset, count, epoch))
        offset, epoch = offset + count, epoch + (chance.random() < 0.3)
    made = []
    for turn in range(2):
        end, now, batches = offset, epoch, list(common)
        for _ in range(chance.randint(0, 6)):
            now += 2 * chance.randint(0, 2) + (turn if now == epoch else 0)
            count = chance.randint(1, 4)
            batches.append((end, count, now))
            end += count
        made.append(batches)
    return made[0], made[1]


def _replica(name: str, batches: Batches) -> ReplicaBatches:
    rows = [
        (first, first + count - 1, epoch, hash((first, count, epoch)) & 0xFFFFFFFF) for first, count, epoch in batches
    ]
    return ReplicaBatches(name, np.array(rows, np.int64))


def _followed(leader: ReplicaBatches, follower: ReplicaBatches) -> OffsetAndEpoch:
    """Fetches again until the leader finds no divergence. Returns the end offset, and the epoch of
    the follower's last record."""
    theirs, ours, end = leader.epochs(), follower.epochs(), follower.end
    while (compared := compare(end, ours.latest, theirs, 0, leader.end)).kind is FetchPositionKind.DIVERGING:
        own = ours.end_offset_for(compared.end.epoch, end)
        end = min(compared.end.offset, own.offset) if own != UNDEFINED else compared.end.offset
        ours.truncate_from_end(end)
    assert compared.kind is FetchPositionKind.VALID
    return OffsetAndEpoch(end, ours.latest)


def _first_difference(leader: ReplicaBatches, follower: ReplicaBatches) -> int | None:
    """The first offset at which the batches differ, by a loop over all offsets."""
    batches: list[dict[int, tuple[int, ...]]] = [
        {offset: tuple(row) for row in each.batches.tolist() for offset in range(row[0], row[1] + 1)}
        for each in (leader, follower)
    ]
    for offset in range(min(leader.end, follower.end)):
        if batches[0][offset] != batches[1][offset]:
            return min(batches[0][offset][0], batches[1][offset][0])
    return None


def test_every_partition_for_itself_and_every_replica_but_the_leader() -> None:
    parts = [
        table({"a": [(0, 2, 0)], "b": [(0, 2, 0), (2, 1, 1)], "c": [(0, 2, 0), (2, 1, 0)]}, "u"),
        table({"a": [(0, 1, 0)]}, "t"),
    ]
    found = divergence(pa.concat_tables(parts)).select(["topic", "replica", "leader", "truncation_offset"]).to_pylist()
    assert found == [
        {"topic": "u", "replica": "a", "leader": "b", "truncation_offset": 2},
        {"topic": "u", "replica": "c", "leader": "b", "truncation_offset": 2},
    ]


def test_of_log_directories(tmp_path: Path) -> None:
    """The order of the rows does not matter, and other columns are ignored."""
    common = [written.batch(0, 3), written.batch(3, 2)]
    written.segment(tmp_path / "one" / "t-0", [*common, written.batch(5, 2, 1)])
    written.segment(tmp_path / "two" / "t-0", [*common, written.batch(5, 4), written.batch(9, 1)])
    batches = open_log([tmp_path / "two", tmp_path / "one"], level="batches").to_table()
    row = only(divergence(batches.take(np.random.default_rng(1).permutation(len(batches)))))
    assert row == {
        "topic": "t", "partition": 0, "replica": str(tmp_path / "two"), "leader": str(tmp_path / "one"), "first_difference": 5,
        "truncation_offset": 5, "truncation_epoch": 0, "end_offset": 10, "leader_end_offset": 7, "heals": True,
    }  # fmt: skip


def test_no_rows_and_a_column_that_is_missing() -> None:
    assert divergence(table({})).num_rows == 0
    with pytest.raises(
        UsageError, match=r"divergence is found in batches with the columns topic, .*, crc: crc is missing"
    ):
        divergence(table({"a": [(0, 1, 0)]}).drop_columns(["crc"]))


def test_epochs_are_those_of_the_batches() -> None:
    epochs = _replica("a", [(3, 2, 1), (5, 1, 1), (6, 1, 4)]).epochs()
    assert epochs.entries == LeaderEpochCache([OffsetAndEpoch(3, 1), OffsetAndEpoch(6, 4)]).entries
