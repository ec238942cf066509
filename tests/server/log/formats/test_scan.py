"""Reading all of a damaged segment: what is good is found on both sides of what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats import TornTail, segment
from kafkadouble.server.log.formats.scan import ScannedBatch, UnreadableBytes, next_batch, scan
from tests.server.log.formats.one_segment import LOG, ROW, SIZES, batch
from tests.wire.strategies import damaged


def good(data: bytes, base_offset: int | None = None) -> list[int]:
    """Base offsets of the batches with which nothing is wrong."""
    return [
        found.header.base_offset
        for found in scan(data, base_offset)
        if isinstance(found, ScannedBatch) and found.problem is None
    ]


def lost(data: bytes) -> list[tuple[int, int]]:
    return [(found.position, found.end) for found in scan(data) if isinstance(found, UnreadableBytes)]


def test_a_good_segment_is_complete_for_recovery() -> None:
    for data in (LOG, ROW):
        found = list(scan(data))
        walked = list(segment.walk(data))
        assert [(each.position, each.header.base_offset) for each in found if isinstance(each, ScannedBatch)] == [
            (position, header.base_offset) for position, header in walked
        ]
        assert b"".join(each.data for each in found if isinstance(each, ScannedBatch)) == data


@pytest.mark.parametrize("at", [*range(12, 17), 17, 21, 40, 61, 70])
def test_a_damaged_batch_costs_no_other(at: int) -> None:
    start = SIZES[0]
    for mask in (0x01, 0x10, 0x80):
        bad = bytearray(ROW)
        bad[start + at] ^= mask
        assert {5, 9} <= set(good(bytes(bad), 5)), (at, mask)


def test_a_length_that_leads_nowhere_costs_one_batch() -> None:
    for length in (0, -5, 13, 40, 2**31 - 1, SIZES[1] - 11, SIZES[1] + 7):
        bad = bytearray(ROW)
        bad[SIZES[0] + 8 : SIZES[0] + 12] = length.to_bytes(4, "big", signed=True)
        assert good(bytes(bad), 5) == [5, 9], length
        assert lost(bytes(bad)) == [(SIZES[0], SIZES[0] + SIZES[1])]
        assert not any(
            isinstance(each, UnreadableBytes) and isinstance(each.problem, TornTail) for each in scan(bytes(bad))
        )


def test_an_offset_that_is_too_large_is_blamed_and_not_the_batches_behind_it() -> None:
    bad = bytearray(ROW)
    bad[3] ^= 1
    problems = [each.problem for each in scan(bytes(bad), 5) if isinstance(each, ScannedBatch)]
    assert problems[0] is not None
    assert "the next batch begins at 7" in problems[0].problem
    assert problems[1:] == [None, None]


def test_garbage_between_batches_is_passed_over() -> None:
    data = batch(5) + b"\x02garbage\x02" * 50 + batch(6)
    assert good(data, 5) == [5, 6]
    assert lost(data) == [(len(batch(5)), len(data) - len(batch(6)))]


@pytest.mark.parametrize("window", range((1 << 20) - 130, (1 << 20) + 70, 7))
def test_the_next_batch_is_found_wherever_it_begins(window: int) -> None:
    assert next_batch(b"\xaa" * window + batch(5), 0) == window


def test_a_search_ends_though_every_byte_may_be_the_beginning_of_a_batch() -> None:
    header = bytearray(batch(0)[:61])
    header[8:12] = (40_000_000).to_bytes(4, "big")
    data = bytes(header) * (50_000_000 // 61)
    assert next_batch(data, 1) == len(data)


def test_torn_last_batch_ends_a_scan_of_a_segment() -> None:
    found = list(scan(ROW[:-1], 5))
    assert isinstance(found[-1], UnreadableBytes)
    assert isinstance(found[-1].problem, TornTail)
    assert (found[-1].position, found[-1].end) == (SIZES[0] + SIZES[1], len(ROW) - 1)
    room = list(scan(ROW + bytes(5000)))
    assert isinstance(room[-1], UnreadableBytes)
    assert isinstance(room[-1].problem, TornTail)


@given(st.data())
def test_every_byte_is_accounted_for_whatever_was_done_to_them(data: st.DataObject) -> None:
    bad = data.draw(damaged(ROW))
    position = 0
    for found in scan(bad, 5):
        assert found.position == position
        position = found.end if isinstance(found, UnreadableBytes) else position + len(found.data)
        if found.problem is not None:
            assert 0 <= found.problem.offset <= len(bad)
    assert position == len(bad)


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert sum(
        each.end - each.position if isinstance(each, UnreadableBytes) else len(each.data) for each in scan(data)
    ) == len(data)
