"""Walking through a segment: every good batch, and then what is wrong with the first bad one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats import BadFile, TornTail, segment
from kafkadouble.wire.batch import seal
from tests.server.log.formats.one_segment import GOLDEN, LOG, ROW, SIZES, batch
from tests.wire.strategies import damaged

from .damage import every_cut, refused


def walked(data: bytes, base_offset: int | None = None) -> tuple[list[int], BadFile | None]:
    """Base offsets of the good batches, and what came after them."""
    found = []
    try:
        for _, header in segment.walk(data, base_offset, file="x.log"):
            found.append(header.base_offset)
    except BadFile as error:
        return found, error
    return found, None


def test_good_batches_with_their_positions() -> None:
    assert walked(ROW, 5) == ([5, 7, 9], None)
    assert walked(ROW) == ([5, 7, 9], None)
    assert walked(b"") == ([], None)
    assert [position for position, _ in segment.walk(memoryview(ROW))] == [0, SIZES[0], SIZES[0] + SIZES[1]]
    assert [header.base_offset for _, header in segment.walk(ROW, position=SIZES[0])] == [7, 9]


def test_a_real_segment() -> None:
    headers = [header for _, header in segment.walk(LOG, 0)]
    assert sum(header.size for header in headers) == len(LOG)
    assert headers[-1].next_offset == 131


@pytest.mark.parametrize("name", sorted(path.name for path in (GOLDEN / "batches").glob("*.bin")))
def test_batches_of_every_magic_and_codec(name: str) -> None:
    data = (GOLDEN / "batches" / name).read_bytes()
    assert sum(header.size for _, header in segment.walk(data)) == len(data)


def test_every_cut_is_a_torn_tail_where_the_whole_batches_end() -> None:
    ends = [0, SIZES[0], SIZES[0] + SIZES[1], len(ROW)]
    for cut in every_cut(ROW):
        found, error = walked(cut, 5)
        whole = max(end for end in ends if end <= len(cut))
        assert found == [5, 7, 9][: ends.index(whole)]
        if len(cut) in ends:
            assert error is None
        else:
            assert isinstance(error, TornTail)
            assert (error.offset, error.file) == (whole, "x.log")


@pytest.mark.parametrize("zeros", [1, 12, 17, 61, 200_000])
def test_room_that_was_never_written_is_a_torn_tail(zeros: int) -> None:
    found, error = walked(ROW + bytes(zeros))
    assert found == [5, 7, 9]
    assert isinstance(error, TornTail)
    assert error.offset == len(ROW)


def test_zeros_with_something_behind_them_are_no_room() -> None:
    _, error = walked(ROW + bytes(100) + b"x")
    assert type(error) is BadFile
    assert error.offset == len(ROW)


@pytest.mark.parametrize(
    ("data", "base_offset", "good", "what"),
    [
        pytest.param(batch(5), 6, [], "least", id="before the segment"),
        pytest.param(batch(5, 3) + batch(7), 5, [5], "least", id="twice the same offset"),
        pytest.param(batch(5 + 2**31), 5, [], "too far", id="past what an index can say"),
        pytest.param(batch(5) + batch(2**31 + 5), None, [5], "too far", id="past what an index can say, base unknown"),
        pytest.param(batch(2**63 - 1), 2**63 - 1, [], "too far", id="no offset can follow"),
        pytest.param(ROW[:16] + b"\3" + ROW[17:], 5, [], "magic 3", id="magic"),
        pytest.param(ROW[:8] + bytes(4) + ROW[12:], 5, [], "0 bytes", id="length"),
    ],
)
def test_the_first_batch_that_is_not_good_ends_the_walk(
    data: bytes, base_offset: int | None, good: list[int], what: str
) -> None:
    found, error = walked(data, base_offset)
    assert found == good
    assert type(error) is BadFile
    assert error.offset == (len(data) - len(batch(0)) if good else 0)
    assert what in str(error)


def test_a_last_offset_before_the_first() -> None:
    made = bytearray(batch(5))
    made[23:27] = (-1).to_bytes(4, "big", signed=True)
    seal(made)
    found, error = walked(bytes(made), 5)
    assert found == []
    assert error is not None
    assert "before the first" in error.problem


def test_every_flipped_bit_under_the_checksum_is_found() -> None:
    """Offset, length and leader epoch, the first 16 bytes, are not under it."""
    alone = batch(5, 2)
    for at in range(16, len(alone)):
        for bit in range(8):
            bad = alone[:at] + bytes((alone[at] ^ 1 << bit,)) + alone[at + 1 :]
            assert refused(lambda data, file: segment.walk(data, 5, file=file), bad), at


@given(st.data())
def test_damage_is_found_or_harmless_and_nothing_else(data: st.DataObject) -> None:
    bad = data.draw(damaged(ROW))
    refused(lambda read, file: segment.walk(read, 5, file=file), bad)
    refused(lambda read, file: segment.walk(read, file=file), bad)
