"""Frames out of a stream that is cut anywhere."""

import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire.errors import BadLength, TooLarge
from kafkadouble.wire.frame import MAX_SIZE, Frames


def framed(*payloads: bytes) -> bytes:
    return b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)


@given(
    st.lists(st.binary(max_size=40), max_size=8),
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from([bytes, bytearray, memoryview]),
)
def test_any_slicing_gives_the_same_frames(payloads: list[bytes], cuts: list[int], kind: type) -> None:
    stream = framed(*payloads)
    frames, out, fed = Frames(), [], 0
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in pairwise(places):
        out += frames.feed(kind(stream[start:end]))
        fed += end - start
        assert frames.buffered == fed - sum(len(payload) + 4 for payload in out)
    assert out == payloads
    assert all(type(frame) is bytes for frame in out)
    assert frames.buffered == 0


def test_byte_by_byte() -> None:
    frames = Frames()
    out = [frame for byte in framed(b"ab", b"", b"c") for frame in frames.feed(bytes([byte]))]
    assert out == [b"ab", b"", b"c"]


def test_the_callers_buffer_may_be_used_again() -> None:
    frames, buffer = Frames(), bytearray(framed(b"abc")[:5])
    assert frames.feed(buffer) == []
    buffer[:] = b"xxxxx"
    assert frames.feed(b"bc") == [b"abc"]


@pytest.mark.parametrize("size", [-1, -(1 << 31)])
def test_a_negative_length_is_refused(size: int) -> None:
    with pytest.raises(BadLength) as caught:
        Frames().feed(size.to_bytes(4, "big", signed=True))
    assert caught.value.offset == 0


def test_frame_size_bound_is_inclusive() -> None:
    assert Frames(5).feed(framed(b"12345")) == [b"12345"]
    with pytest.raises(TooLarge):
        Frames(5).feed(framed(b"123456"))
    assert Frames().feed(MAX_SIZE.to_bytes(4, "big")) == []
    with pytest.raises(TooLarge):
        Frames().feed((MAX_SIZE + 1).to_bytes(4, "big"))


def test_the_offset_counts_from_the_first_byte_of_the_connection() -> None:
    frames = Frames(10)
    frames.feed(framed(b"one"))
    frames.feed(framed(b"two", b"three")[:-1])
    frames.feed(b"e")
    with pytest.raises(TooLarge) as caught:
        frames.feed(b"\x7f\xff\xff\xff")
    assert caught.value.offset == len(framed(b"one", b"two", b"three"))


@pytest.mark.parametrize("cut", [0, 2])
def test_frames_before_a_bad_length_are_returned(cut: int) -> None:
    frames = Frames(10)
    stream = framed(b"one", b"two") + b"\xff\xff\xff\xff" + b"rest"
    assert frames.feed(stream[:cut]) == []
    assert frames.feed(stream[cut:]) == [b"one", b"two"]
    assert isinstance(frames.error, BadLength)
    assert frames.error.offset == 14
    assert frames.buffered == 0
    for _ in range(2):
        with pytest.raises(BadLength):
            frames.feed(framed(b"more"))


def test_an_announced_frame_costs_nothing_until_it_comes() -> None:
    tracemalloc.start()
    try:
        crowd = [Frames() for _ in range(50)]
        for frames in crowd:
            frames.feed(MAX_SIZE.to_bytes(4, "big") + b"start")
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert sum(frames.buffered for frames in crowd) == 50 * 9


def test_a_large_frame_in_small_pieces_costs_linear_time_and_memory() -> None:
    size, piece = 32 << 20, bytes(4096)
    frames = Frames()
    tracemalloc.start()
    try:
        began = time.perf_counter()
        out = frames.feed(size.to_bytes(4, "big"))
        for _ in range(size // len(piece)):
            out += frames.feed(piece)
        took, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [len(frame) for frame in out] == [size]
    assert peak < 2.5 * size
    assert took < 5  # copying all that is held for every piece would move 130 GB


def test_cleared_bytes_are_not_in_a_later_frame() -> None:
    frames = Frames()
    assert frames.feed(b"\0\0\0\x09abc") == []
    frames.clear()
    assert frames.buffered == 0
    assert frames.feed(b"\0\0\0\1x") == [b"x"]
