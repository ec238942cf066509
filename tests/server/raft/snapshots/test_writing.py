"""Snapshots are written as by Apache Kafka, byte for byte, in bounded batches and slices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats.names import parse_checkpoint
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_reader import BytesSource, RecordsSnapshotReader
from kafkadouble.server.raft.snapshots.snapshot_writer import RecordsSnapshotWriter, write
from kafkadouble.wire.batch import encode_batch, iter_batches, records_of
from kafkadouble.wire.errors import UsageError

from .making import HEAD, ID, NOW, VOTERS, data, part_of, values

KAFKA_BATCH_SIZE_BYTES = 8 << 20
"""The size of Kafka's largest batch."""

GOLDEN = sorted((Path(__file__).resolve().parents[3] / "golden").rglob("*-*.checkpoint"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_records_of_a_real_kafkas_snapshot_are_written_as_it_wrote_them(path: Path) -> None:
    """Header, records and footer each have their time."""
    id, real = parse_checkpoint(path.name), path.read_bytes()
    assert id is not None
    times = [header.base_timestamp for _, header in iter_batches(real)]
    reader = RecordsSnapshotReader(id, BytesSource(real))
    store = MemorySnapshotStore()
    writer = RecordsSnapshotWriter(part_of(store, id), reader.head, times[0], KAFKA_BATCH_SIZE_BYTES)
    for some, time in zip(reader.values(), times[1:], strict=False):
        writer.append(some, time)
    writer.finish(times[-1])
    assert writer.freeze() == len(real)
    assert store.bytes_of(id) == real


def test_golden_snapshots_exist() -> None:
    assert len(GOLDEN) >= 3


def test_the_header_is_first_and_the_footer_last() -> None:
    batches = list(iter_batches(data(values(5))))
    assert [header.is_control for _, header in batches] == [True, False, True]
    assert [header.count for _, header in batches] == [3, 5, 1]
    assert [header.base_offset for _, header in batches] == [0, 3, 8]
    assert {header.partition_leader_epoch for _, header in batches} == {ID.epoch}


def test_a_snapshot_of_nothing_has_both_all_the_same() -> None:
    assert [header.count for _, header in iter_batches(data(head=SnapshotHeader(NOW)))] == [1, 1]


@pytest.mark.parametrize(
    ("head", "controls"),
    [(SnapshotHeader(NOW), 1), (SnapshotHeader(NOW, 1), 2), (SnapshotHeader(NOW, 1, VOTERS), 3)],
    ids=["0", "1", "voters"],
)
def test_the_header_is_read_back(head: SnapshotHeader, controls: int) -> None:
    written = data(head=head)
    assert next(iter_batches(written))[1].count == controls
    reader = RecordsSnapshotReader(ID, BytesSource(written))
    assert reader.head == head
    assert reader.voters == (head.voters, head.kraft_version)


def test_voters_cannot_be_written_where_the_quorum_is_static() -> None:
    with pytest.raises(UsageError):
        data(head=SnapshotHeader(NOW, 0, VOTERS))


@given(st.lists(st.binary(min_size=1, max_size=200), max_size=60), st.integers(70, 600))
def test_no_batch_is_larger_than_the_bound_but_one_of_a_single_record(of: list[bytes], most: int) -> None:
    written = data(of, most=most)
    found = []
    for position, header in iter_batches(written):
        if not header.is_control:
            assert header.size <= most or header.count == 1
            found += [record.value for record in records_of(written, position, header)]
    assert found == of


@given(st.lists(st.integers(1, 300), min_size=2, max_size=40))
def test_a_batch_is_ended_only_when_the_next_record_has_no_room(sizes: list[int]) -> None:
    written = data([bytes([1]) * size for size in sizes], most=500)
    batches = [(at, header) for at, header in iter_batches(written) if not header.is_control]
    for (at, first), (following_at, second) in pairwise(batches):
        following = records_of(written, following_at, second)[0]
        longer = encode_batch([*records_of(written, at, first), following], base_offset=first.base_offset)
        assert len(longer) > 500


def test_snapshot_is_written_in_slices_with_timestamps() -> None:
    store, taken = MemorySnapshotStore(), []

    def source() -> Iterator[bytes]:
        for number, each in enumerate(values(25)):
            taken.append(number)
            yield each

    steps = write(part_of(store), HEAD, source(), NOW, most=400, records=10)
    next(steps)
    assert len(taken) == 10
    assert store.ids() == []
    steps.send(NOW + 5)
    assert len(taken) == 20
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(NOW + 9)
    written = store.bytes_of(ID)
    assert end.value.value == len(written)
    times = [header.base_timestamp for _, header in iter_batches(written)]
    assert times[0] == NOW
    assert times[-1] == NOW + 9
    assert times == sorted(times)
    assert NOW + 5 in times


def test_a_writer_that_fails_leaves_nothing() -> None:
    def source() -> Iterator[bytes]:
        yield from values(3)
        raise RuntimeError("no more")

    store = MemorySnapshotStore()
    with pytest.raises(RuntimeError):
        list(write(part_of(store), HEAD, source(), NOW))
    assert store.ids() == []


def test_a_writer_that_is_closed_leaves_nothing() -> None:
    store = MemorySnapshotStore()
    steps = write(part_of(store), HEAD, iter(values(10)), NOW, records=2)
    next(steps)
    steps.close()
    assert store.ids() == []
