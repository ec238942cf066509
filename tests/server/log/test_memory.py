"""Chunks, segments and the storage that they make up."""

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.memory import LARGEST_CHUNK, SMALLEST_CHUNK, MemoryStorage
from kafkadouble.server.log.memory_chunk import MemoryChunk
from kafkadouble.server.log.storage import ANY_TIMESTAMP, INDEX_INTERVAL, LogAppendInfo
from kafkadouble.wire.batch import Record, check_crc, encode_batch, read_header

from .batches import NOW, offsets, produced


def put(chunk: MemoryChunk, *batches: tuple[int, int], timestamp: int = NOW) -> int:
    """Appends a batch for each (base offset, last offset); gives how many went in."""
    count = 0
    for base, last in batches:
        batch = encode_batch([Record(base, timestamp, None, b"v" * 100)], base_offset=base, last_offset=last)
        count += chunk.append(batch, LogAppendInfo(base, last, 3, timestamp))
    return count


def chunk_of(*batches: tuple[int, int], capacity: int = 1 << 20) -> MemoryChunk:
    chunk = MemoryChunk(batches[0][0], capacity)
    assert put(chunk, *batches) == len(batches)
    return chunk


SINGLE = [(offset, offset) for offset in range(200)]  # over several entries of the index


class TestChunk:
    def test_a_batch_is_stamped_with_offset_and_epoch(self) -> None:
        chunk = MemoryChunk(40, 1000)
        chunk.append(produced(3), LogAppendInfo(40, 42, 5, NOW))
        found = chunk.read(40, 1000, 43, True)
        assert found is not None
        header = read_header(found.records)
        assert (header.base_offset, header.partition_leader_epoch) == (40, 5)
        check_crc(found.records, 0, header)

    def test_the_callers_batch_is_not_changed(self) -> None:
        batch = produced(3)
        before = bytes(batch)
        MemoryChunk(0, 1000).append(batch, LogAppendInfo(7, 9, 5, NOW))
        assert batch == before

    def test_batch_beyond_the_memory_limit_is_not_appended(self) -> None:
        size = len(produced(1))
        chunk = MemoryChunk(0, 2 * size - 1)
        assert chunk.append(produced(1), LogAppendInfo(0, 0, 0, NOW))
        assert not chunk.append(produced(1), LogAppendInfo(1, 1, 0, NOW))
        assert (chunk.size, chunk.next_offset) == (size, 1)

    @pytest.mark.parametrize("offset", [0, 1, 57, 199])
    def test_any_batch_is_found(self, offset: int) -> None:
        found = chunk_of(*SINGLE).read(offset, 1, 200, True)
        assert found is not None
        assert (offsets(found.records), found.offset, found.next_offset) == ([offset], offset, offset + 1)

    def test_an_offset_inside_a_batch_gives_the_batch(self) -> None:
        found = chunk_of((0, 4), (5, 9), (10, 14)).read(7, 1000, 15, False)
        assert found is not None
        assert (found.offset, found.next_offset) == (5, 15)

    def test_an_offset_in_a_gap_gives_the_next_batch(self) -> None:
        chunk = chunk_of((0, 4), (20, 24))
        for offset in (5, 12, 20):
            found = chunk.read(offset, 1000, 25, False)
            assert found is not None
            assert found.offset == 20

    def test_only_whole_batches_below_the_bound(self) -> None:
        chunk = chunk_of((0, 4), (5, 9), (10, 14))
        one = chunk.size // 3
        for bound, next_offset in ((5, 5), (7, 5), (9, 5), (10, 10), (15, 15), (99, 15)):
            found = chunk.read(0, 1000, bound, True)
            assert found is not None
            assert found.next_offset == next_offset
        assert chunk.read(0, 1000, 4, True) is None
        assert chunk.read(5, one - 1, 15, False) is None

    def test_the_size_bounds_but_for_the_first_batch(self) -> None:
        chunk = chunk_of(*SINGLE)
        one = chunk.size // 200
        for max_bytes, batches in (
            (0, 1),
            (one, 1),
            (2 * one - 1, 1),
            (2 * one, 2),
            (100 * one + 1, 100),
            (1 << 30, 150),
        ):
            found = chunk.read(50, max_bytes, 200, True)
            assert found is not None
            assert offsets(found.records) == list(range(50, 50 + batches))
        assert chunk.read(50, one - 1, 200, False) is None

    def test_the_index_has_an_entry_for_each_4_kib(self) -> None:
        chunk = chunk_of(*SINGLE)
        assert len(chunk._positions) == pytest.approx(chunk.size / INDEX_INTERVAL, abs=2)

    def test_batches_as_late_as_a_timestamp(self) -> None:
        chunk = MemoryChunk(0, 1 << 20)
        for offset in range(200):
            put(chunk, (offset, offset), timestamp=NOW + (offset * 7) % 100)
        for timestamp in (ANY_TIMESTAMP, NOW, NOW + 50, NOW + 98, NOW + 99, NOW + 100):
            expected = [offset for offset in range(30, 200) if NOW + (offset * 7) % 100 >= timestamp]
            assert [read_header(batch).base_offset for batch in chunk.batches(30, timestamp)] == expected

    @pytest.mark.parametrize("offset", [0, 1, 36, 37, 38, 100, 199, 200])
    def test_memory_chunk_is_truncated_at_any_offset(self, offset: int) -> None:
        chunk = MemoryChunk(0, 1 << 20)
        for number in range(200):
            put(chunk, (number, number), timestamp=NOW + number)
        chunk.cut(offset)
        assert [read_header(batch).base_offset for batch in chunk.batches(0, ANY_TIMESTAMP)] == list(range(offset))
        assert chunk.next_offset == offset
        assert chunk.max_timestamp == (NOW + offset - 1 if offset else -1)
        assert not put(chunk, (offset, offset))  # views of what was cut off may be about

    @pytest.mark.parametrize("offset", [1, 37, 120, 199])
    def test_memory_chunk_is_truncated_behind_its_largest_timestamp(self, offset: int) -> None:
        chunk = MemoryChunk(0, 1 << 20)
        for number in range(200):
            put(chunk, (number, number), timestamp=NOW - number)
        chunk.cut(offset)
        assert chunk.max_timestamp == NOW
        assert [read_header(batch).base_offset for batch in chunk.batches(0, NOW)] == [0]

    def test_a_batch_without_checksum_gets_it_before_it_is_read(self) -> None:
        chunk = MemoryChunk(0, 1000)
        raw = encode_batch([Record(0, NOW, b"k", b"v")], seal=False)
        for offset in range(3):
            chunk.append(raw, LogAppendInfo(offset, offset, 0, NOW, sealed=False))
        found = chunk.read(0, 1000, 3, True)
        assert found is not None
        assert offsets(found.records) == [0, 1, 2]
        chunk.append(raw, LogAppendInfo(3, 3, 0, NOW, sealed=False))
        (last,) = chunk.batches(3, ANY_TIMESTAMP)
        assert offsets(last) == [3]
        for offset in (4, 5):
            chunk.append(raw, LogAppendInfo(offset, offset, 0, NOW, sealed=False))
        chunk.cut(5)
        assert [offsets(batch) for batch in chunk.batches(3, ANY_TIMESTAMP)] == [[3], [4]]

    def test_bytes_read_from_memory_are_read_only(self) -> None:
        found = chunk_of((0, 0)).read(0, 1000, 1, True)
        assert found is not None
        assert isinstance(found.records, memoryview)
        assert found.records.readonly


def fill(storage: MemoryStorage, start: int, count: int, size: int = 100) -> None:
    """That many batches of one record."""
    for offset in range(start, start + count):
        batch = produced(1, size=size, timestamp=NOW + offset)
        storage.append(batch, LogAppendInfo(offset, offset, 0, NOW + offset), NOW)


def held(storage: MemoryStorage, offset: int = 0) -> list[int]:
    return [
        read_header(batch).base_offset
        for segment in storage.segments
        for batch in segment.batches(offset, ANY_TIMESTAMP)
    ]


class TestStorage:
    def test_chunks_grow_with_the_log(self) -> None:
        storage = MemoryStorage()
        assert storage.segments[0].chunks == []
        fill(storage, 0, 30, size=500)
        assert [len(chunk._memory) for chunk in storage.segments[0].chunks] == [
            SMALLEST_CHUNK,
            2 * SMALLEST_CHUNK,
            4 * SMALLEST_CHUNK,
        ]

    def test_chunks_stop_growing(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 30, size=1_000_000)
        assert max(len(chunk._memory) for chunk in storage.segments[0].chunks) == LARGEST_CHUNK

    def test_a_batch_larger_than_a_chunk_gets_its_own(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 1, size=5_000_000)
        fill(storage, 1, 1)
        assert held(storage) == [0, 1]

    def test_a_read_goes_on_over_the_end_of_a_small_chunk(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 200)
        segment = storage.segments[0]
        for start, max_bytes, bound in ((0, 1 << 30, 200), (3, 10_000, 200), (3, 1 << 30, 77), (50, 1, 200)):
            found = segment.read(start, max_bytes, bound, True)
            assert found is not None
            count = max(1, min(bound - start, max_bytes // len(produced(1, size=100))))
            assert offsets(found.records) == list(range(start, start + count))
            assert (found.offset, found.next_offset) == (start, start + count)

    def test_memory_read_does_not_skip_a_large_batch(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 1, size=SMALLEST_CHUNK - 100)
        fill(storage, 1, 1, size=50)
        segment = storage.segments[0]
        assert [chunk.base_offset for chunk in segment.chunks] == [0, 1]
        assert segment.read(0, len(produced(1, size=50)), 2, False) is None

    def test_a_read_stops_at_the_end_of_a_large_chunk(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 12, size=1_000_000)
        (*_, first, second) = storage.segments[0].chunks
        found = storage.segments[0].read(first.base_offset, 1 << 30, 12, True)
        assert found is not None
        assert isinstance(found.records, memoryview)
        assert found.next_offset == second.base_offset

    def test_a_view_stays_good_when_what_it_shows_is_truncated_and_written_again(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 20)
        found = storage.segments[0].read(5, 10_000, 20, True)
        assert found is not None
        before = bytes(found.records)
        storage.truncate(7)
        fill(storage, 7, 50, size=77)
        storage.restart(0)
        fill(storage, 0, 50, size=3)
        assert found.records == before

    @pytest.mark.parametrize("offset", [0, 5, 10, 11, 19, 20, 25, 30])
    def test_truncation_over_segments(self, offset: int) -> None:
        storage = MemoryStorage()
        for base in (0, 10, 20):
            if base:
                storage.roll(base, LogConfig())
            fill(storage, base, 10)
        storage.truncate(offset)
        assert held(storage) == list(range(offset))
        assert [segment.base_offset for segment in storage.segments] == [base for base in (0, 10, 20) if base <= offset]
        assert storage.segments[-1].next_offset == offset
        assert sum(segment.size for segment in storage.segments) == offset * len(produced(1, size=100))
        fill(storage, offset, 3)
        assert held(storage) == list(range(offset + 3))

    def test_released_chunks_still_count(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 200)
        segment = storage.segments[0]
        size, latest, chunks = segment.size, segment.max_timestamp, len(segment.chunks)
        storage.release(150)
        assert (segment.size, segment.max_timestamp) == (size, latest)
        assert len(segment.chunks) < chunks
        assert held(storage, 150) == list(range(150, 200))
        storage.truncate(160)
        assert segment.size == size // 200 * 160

    def test_the_latest_timestamp_may_be_in_a_released_chunk(self) -> None:
        storage = MemoryStorage()
        for offset in range(200):
            batch = produced(1, size=100, timestamp=NOW - offset)
            storage.append(batch, LogAppendInfo(offset, offset, 0, NOW - offset), NOW)
        storage.release(150)
        storage.truncate(160)
        assert storage.segments[0].max_timestamp == NOW

    def test_the_last_chunk_is_never_released(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 200)
        storage.release(200)
        assert len(storage.segments[0].chunks) == 1
        fill(storage, 200, 1)
        assert held(storage, 200) == [200]

    def test_the_active_segment_is_never_dropped(self) -> None:
        storage = MemoryStorage()
        fill(storage, 0, 3)
        storage.roll(3, LogConfig())
        storage.drop_oldest(5)
        assert [segment.base_offset for segment in storage.segments] == [3]

    def test_memory_storage_has_a_repr(self) -> None:
        storage = MemoryStorage()
        assert repr(storage) == "0 KB in 0 chunks"
        fill(storage, 0, 30, size=500)
        assert repr(storage) == "17 KB in 3 chunks"
        assert repr(storage.segments[0]) == "MemorySegment from 0 to 30, 17100 bytes in 3 chunks"
