"""Headers, walking over batches, checksums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire.batch import (
    HEADER_SIZE,
    BatchHeader,
    Record,
    check_crc,
    encode_batch,
    increment_sequence,
    iter_batches,
    read_header,
)
from kafkadouble.wire.errors import BadLength, CorruptBatch, Truncated, UnsupportedMagic, WireError

THREE = [Record(offset, 1000 + offset, b"k", b"v") for offset in (5, 6, 9)]
BATCH = bytes(
    encode_batch(
        THREE,
        base_offset=5,
        producer_id=77,
        producer_epoch=3,
        base_sequence=2_147_483_646,
        partition_leader_epoch=4,
        is_transactional=True,
    )
)


def test_every_field() -> None:
    header = read_header(BATCH)
    assert (header.base_offset, header.size, header.partition_leader_epoch, header.magic) == (5, len(BATCH), 4, 2)
    assert (header.last_offset_delta, header.last_offset, header.next_offset, header.count) == (4, 9, 10, 3)
    assert (header.base_timestamp, header.max_timestamp, header.timestamp_type) == (1005, 1009, 0)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.last_sequence) == (
        77,
        3,
        2147483646,
        2,
    )
    assert (header.is_transactional, header.is_control, header.has_delete_horizon, header.compression) == (
        True,
        False,
        False,
        0,
    )
    assert header.crc == int.from_bytes(BATCH[17:21], "big")
    assert (
        repr(header) == f"BatchHeader(offsets 5 to 9, 3 records, {len(BATCH)} bytes, magic 2, epoch 4, transactional)"
    )


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_at_any_position(kind: type) -> None:
    assert read_header(kind(b"xyz" + BATCH + b"rest"), 3).size == len(BATCH)


def test_attributes_are_flags() -> None:
    header = read_header(BATCH)
    for attributes, seen in [
        (0x00, (0, 0, False, False, False)),
        (0x04, (4, 0, False, False, False)),
        (0x08, (0, 1, False, False, False)),
        (0x10, (0, 0, True, False, False)),
        (0x20, (0, 0, False, True, False)),
        (0x40, (0, 0, False, False, True)),
        (-1, (7, 1, True, True, True)),
    ]:
        header.attributes = attributes
        flags = (header.is_transactional, header.is_control, header.has_delete_horizon)
        assert (header.compression, header.timestamp_type, *flags) == seen


def test_sequences_wrap_to_zero() -> None:
    assert increment_sequence(0, 5) == 5
    assert increment_sequence(2_147_483_647, 1) == 0
    assert increment_sequence(2_147_483_640, 10) == 2
    assert increment_sequence(-255, 3) == -252
    assert read_header(encode_batch(THREE, base_offset=5)).last_sequence == -1


def broken(position: int, data: bytes) -> bytes:
    return BATCH[:position] + data + BATCH[position + len(data) :]


@pytest.mark.parametrize(
    ("data", "kind", "offset"),
    [
        (b"", Truncated, 0),
        (BATCH[:11], Truncated, 0),
        (BATCH[:16], Truncated, 0),
        (BATCH[:60], Truncated, 0),
        (BATCH[:-1], Truncated, 0),
        (broken(8, b"\xff\xff\xff\xff"), BadLength, 8),
        (broken(8, b"\x00\x00\x00\x0d")[:12], BadLength, 8),
        (broken(8, b"\x00\x00\x00\x30"), CorruptBatch, 8),
        (broken(8, b"\x7f\xff\xff\xff"), Truncated, 0),
        (broken(16, b"\x03"), UnsupportedMagic, 16),
        (broken(16, b"\xff"), UnsupportedMagic, 16),
    ],
)
def test_invalid_batch_header_is_refused(data: bytes, kind: type[WireError], offset: int) -> None:
    for position in (0, 10):
        with pytest.raises(WireError) as caught:
            read_header(bytes(position) + data, position)
        assert type(caught.value) is kind
        assert caught.value.offset == offset + position


def test_header_behind_the_end_of_a_buffer_is_truncated() -> None:
    with pytest.raises(Truncated):
        read_header(BATCH, len(BATCH) + 5)


def test_a_partial_batch_shows_its_header_on_request() -> None:
    assert read_header(BATCH[:HEADER_SIZE], partial=True).last_offset == 9
    with pytest.raises(Truncated):
        read_header(BATCH[: HEADER_SIZE - 1], partial=True)


def test_batches_lie_one_after_the_other() -> None:
    other = bytes(encode_batch([Record(20, 1, None, None)], base_offset=20))
    found = [(position, header.base_offset) for position, header in iter_batches(b"??" + BATCH + other + BATCH, 2)]
    assert found == [(2, 5), (2 + len(BATCH), 20), (2 + len(BATCH) + len(other), 5)]
    assert list(iter_batches(b"")) == []


@pytest.mark.parametrize("cut", [1, 11, 12, 30, 61, len(BATCH) - 1])
def test_a_last_batch_that_is_cut_off(cut: int) -> None:
    data = BATCH + BATCH[:cut]
    assert [position for position, _ in iter_batches(data, partial=True)] == [0]
    walk = iter_batches(data)
    assert next(walk)[0] == 0
    with pytest.raises(Truncated) as caught:
        next(walk)
    assert caught.value.offset == len(BATCH)


def test_partial_does_not_pass_over_damage() -> None:
    with pytest.raises(UnsupportedMagic):
        list(iter_batches(BATCH + broken(16, b"\x09"), partial=True))


def test_the_checksum_covers_the_attributes_and_all_behind_them() -> None:
    header = read_header(BATCH)
    check_crc(BATCH, 0, header)
    check_crc(memoryview(b"abc" + BATCH + b"rest"), 3, header)
    for position in range(len(BATCH)):
        changed = broken(position, bytes([BATCH[position] ^ 1]))
        if position < 17:
            check_crc(changed, 0, header)
        elif position >= 21:
            with pytest.raises(CorruptBatch, match="checksum"):
                check_crc(changed, 0, header)


@given(st.binary(max_size=120))
def test_any_bytes_give_a_header_or_a_wire_error(data: bytes) -> None:
    try:
        header = read_header(data)
    except WireError:
        return
    assert isinstance(header, BatchHeader)
    assert 26 <= header.size <= len(data)
