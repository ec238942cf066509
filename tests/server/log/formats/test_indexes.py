"""The three indexes of a segment: written and read back, and everything wrong found at its byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats import BadFile, offset_index, time_index, txn_index
from kafkadouble.server.log.transactions import AbortedTransaction

from .damage import every_cut, refused

INT31 = st.integers(1, 2**31 - 1)
BASES = st.sampled_from([0, 5, 1 << 40, 2**63 - 2**32])


def ascending(elements: st.SearchStrategy[int]) -> st.SearchStrategy[list[int]]:
    return st.lists(elements, max_size=20, unique=True).map(sorted)


@given(BASES, ascending(INT31), ascending(INT31), st.integers(0, 3))
def test_an_offset_index_comes_back_with_any_room_behind_it(
    base: int, offsets: list[int], positions: list[int], room: int
) -> None:
    pairs = list(zip(offsets, positions, strict=False))
    written = b"".join(offset_index.pack(*pair) for pair in pairs)
    data = written + bytes(8 * room)
    assert offset_index.used(data) == len(written)
    assert list(offset_index.entries(data, base)) == [(base + offset, position) for offset, position in pairs]
    assert offset_index.check(data, base, 2**31) == len(pairs)


@given(BASES, ascending(st.integers(0, 2**63 - 1)), ascending(st.integers(0, 2**31 - 1)), st.integers(0, 3))
def test_a_time_index_comes_back_with_any_room_behind_it(
    base: int, times: list[int], offsets: list[int], room: int
) -> None:
    pairs = list(zip(times, offsets, strict=False))
    if pairs == [(0, 0)]:
        room = 0
    data = b"".join(time_index.pack(*pair) for pair in pairs) + bytes(12 * room)
    if not pairs and room == 1:
        return
    assert list(time_index.entries(data, base)) == [(time, base + offset) for time, offset in pairs]
    assert time_index.check(data, base, base + 2**31) == len(pairs)


def test_a_record_of_1970_is_no_room() -> None:
    assert list(time_index.entries(time_index.pack(0, 0), 7)) == [(0, 7)]
    assert list(time_index.entries(bytes(120), 7)) == []


def test_large_rooms_are_passed_over() -> None:
    data = offset_index.pack(56, 4159) + offset_index.pack(113, 8192 << 8) + bytes(10 << 20)
    assert offset_index.used(data) == 16
    assert offset_index.used(memoryview(data)) == 16
    assert offset_index.used(bytes(10 << 20)) == 0
    assert offset_index.used(b"") == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 2**40), st.integers(0, 100), st.integers(-1, 2**63 - 1)),
        max_size=9,
    )
)
def test_a_transaction_index_comes_back(drawn: list[tuple[int, int, int, int]]) -> None:
    last, made = -1, []
    for producer_id, step, length, stable in drawn:
        last += step + 1
        made.append(AbortedTransaction(producer_id, max(last - length, 0), last, stable))
    data = txn_index.write(made)
    assert len(data) == len(made) * txn_index.SIZE == len(made) * 34
    assert txn_index.read(data) == made


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(offset_index.pack(5, 9) + offset_index.pack(5, 10), 8, id="the same offset"),
        pytest.param(offset_index.pack(5, 9) + offset_index.pack(6, 9), 12, id="the same position"),
        pytest.param(offset_index.pack(-1, 9), 0, id="a negative offset"),
        pytest.param(offset_index.pack(1, -9), 4, id="a negative position"),
        pytest.param(offset_index.pack(1, 9) + bytes(8) + offset_index.pack(2, 10), 8, id="a hole"),
        pytest.param(offset_index.pack(1, 9) + b"abc", 8, id="a piece of an entry"),
        pytest.param(offset_index.pack(1, 9) + bytes(3), 8, id="a piece of room"),
        pytest.param(offset_index.pack(1, 100), 4, id="past the end of the segment"),
    ],
)
def test_damaged_offset_index_is_reported(data: bytes, offset: int) -> None:
    with pytest.raises(BadFile) as caught:
        offset_index.check(data, 0, 100, "x.index")
    assert (caught.value.offset, caught.value.file) == (offset, "x.index")


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(time_index.pack(5, 9) + time_index.pack(5, 10), 12, id="the same time"),
        pytest.param(time_index.pack(5, 9) + time_index.pack(6, 8), 20, id="an earlier offset"),
        pytest.param(time_index.pack(-2, 9), 0, id="a negative time"),
        pytest.param(time_index.pack(1, -9), 8, id="a negative offset"),
        pytest.param(time_index.pack(1, 9) + b"abc", 12, id="a piece of an entry"),
        pytest.param(time_index.pack(1, 100), 8, id="past the end of the segment"),
    ],
)
def test_damaged_time_index_is_reported(data: bytes, offset: int) -> None:
    with pytest.raises(BadFile) as caught:
        time_index.check(data, 0, 100, "x.timeindex")
    assert (caught.value.offset, caught.value.file) == (offset, "x.timeindex")


GOOD = AbortedTransaction(7, 100, 120, 121)


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        pytest.param(b"\0\1" + txn_index.pack(GOOD)[2:], 0, id="another version"),
        pytest.param(txn_index.pack(GOOD._replace(producer_id=-1)), 2, id="no producer"),
        pytest.param(txn_index.pack(GOOD._replace(first_offset=121)), 10, id="begins after its end"),
        pytest.param(txn_index.pack(GOOD._replace(first_offset=-1)), 10, id="begins nowhere"),
        pytest.param(txn_index.pack(GOOD._replace(first_offset=1, last_offset=99)), 18, id="ends before the segment"),
        pytest.param(txn_index.pack(GOOD) * 2, 34 + 18, id="twice"),
        pytest.param(txn_index.pack(GOOD) + b"x" * 33, 34, id="a piece of an entry"),
    ],
)
def test_damaged_transaction_index_is_reported(data: bytes, offset: int) -> None:
    with pytest.raises(BadFile) as caught:
        txn_index.read(data, 100, "x.txnindex")
    assert (caught.value.offset, caught.value.file) == (offset, "x.txnindex")


@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    refused(lambda data, file: offset_index.check(data, 0, 1000, file), data)
    refused(lambda data, file: time_index.check(data, 0, 1000, file), data)
    refused(lambda data, file: txn_index.read(data, 0, file), data)


def test_an_index_that_was_cut_inside_an_entry_is_refused() -> None:
    data = txn_index.pack(GOOD) * 1
    assert [refused(lambda data, file: txn_index.read(data, 0, file), cut) for cut in every_cut(data)] == [
        False,
        *[True] * 33,
    ]
