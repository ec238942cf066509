"""Message sets of magic 0 and 1: wrappers, relative offsets, and what Kafka refuses. `test_golden`
reads message sets that Java wrote."""

from contextlib import suppress
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire.batch import (
    Record,
    check_crc,
    decode_all,
    decode_records,
    encode_batch,
    iter_batches,
    read_header,
)
from kafkadouble.wire.compression import compress
from kafkadouble.wire.errors import (
    BadCompression,
    BadLength,
    CorruptBatch,
    InvalidRecord,
    TooLarge,
    Truncated,
    UnsupportedMagic,
    WireError,
)
from tests.wire.legacy_messages import message, wrapper
from tests.wire.strategies import damaged


def test_plain_messages() -> None:
    data = message(7, b"v", key=b"k") + message(8, None, magic=0)
    assert decode_all(data) == [Record(7, 1000, b"k", b"v"), Record(8, -1, None, None)]
    (_, first), (_, second) = iter_batches(data)
    assert (first.magic, first.base_offset, first.last_offset, first.max_timestamp, first.count) == (1, 7, 7, 1000, 1)
    assert (second.magic, second.max_timestamp, second.producer_id, second.last_sequence) == (0, -1, -1, -1)


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_a_wrapper_of_magic_1_counts_back_from_its_own_offset(codec: int) -> None:
    data = wrapper(
        102, message(0, b"a", timestamp=1), message(1, b"b", timestamp=2), message(2, b"c", timestamp=3), codec=codec
    )
    assert [(record.offset, record.timestamp, record.value) for record in decode_records(data)] == [
        (100, 1, b"a"),
        (101, 2, b"b"),
        (102, 3, b"c"),
    ]
    assert read_header(data).count == -1


def test_wrapper_message_with_append_time_overrides_timestamps() -> None:
    records = decode_records(wrapper(1, message(0, b"a"), message(1, b"b"), attributes=8))
    assert [record.timestamp for record in records] == [5000, 5000]


def test_a_wrapper_at_0_gives_no_offset() -> None:
    assert [record.offset for record in decode_records(wrapper(0, message(0, b"a"), message(1, b"b")))] == [0, 1]


def test_a_wrapper_of_magic_0_holds_absolute_offsets() -> None:
    records = decode_records(wrapper(9, message(5, b"a", magic=0), message(9, b"b", magic=0), magic=0))
    assert [(record.offset, record.timestamp) for record in records] == [(5, -1), (9, -1)]


def test_lz4_of_magic_0_has_a_wrong_header_checksum() -> None:
    packed = bytearray(compress(3, message(5, b"a", magic=0)))
    packed[6] ^= 0xFF
    assert decode_records(message(5, bytes(packed), magic=0, attributes=3)) == [Record(5, -1, None, b"a")]
    with pytest.raises(BadCompression, match="checksum"):
        decode_records(message(5, bytes(packed), magic=1, attributes=3))


def test_an_inner_message_that_is_cut_off_is_dropped() -> None:
    assert len(decode_records(wrapper(0, message(0, b"a"), message(1, b"b")[:-1]))) == 1
    assert len(decode_records(wrapper(0, message(0, b"a"), bytes(11)))) == 1


def test_checksums_outside_and_inside() -> None:
    bad = bytearray(message(0, b"value"))
    bad[-1] ^= 1
    with pytest.raises(CorruptBatch):
        check_crc(bad, 0, read_header(bad))
    for data in (bytes(bad), wrapper(0, bytes(bad))):
        with pytest.raises(CorruptBatch):
            decode_records(data)
        assert decode_records(data, check_crc=False)[0].value == b"valud"


def test_batches_of_all_magics_may_follow_one_another() -> None:
    data = message(0, b"a", magic=0) + message(1, b"b") + encode_batch([Record(2, 3, None, b"c")], base_offset=2)
    assert [(record.offset, record.value) for record in decode_all(data)] == [(0, b"a"), (1, b"b"), (2, b"c")]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (wrapper(5), InvalidRecord),  # an empty wrapper
        (wrapper(1, message(0, b"a"), message(2, b"b")), InvalidRecord),  # ends after its wrapper
        (wrapper(0, wrapper(0, message(0, b"a"))), InvalidRecord),  # a wrapper inside
        (wrapper(0, message(0, b"a", magic=2)), InvalidRecord),
        (wrapper(0, pack(">qi", 0, 13) + bytes(13)), BadLength),
        # Magic 1 has at least 22 bytes.
        (wrapper(0, pack(">qiIb", 0, 14, 0, 1) + bytes(9)), InvalidRecord),
        (message(0, None, attributes=1), InvalidRecord),
        (wrapper(0, message(0, b"a"), codec=4), InvalidRecord),  # zstd came with magic 2
        (message(0, b"junk", attributes=1), BadCompression),
        (message(0, b"junk", attributes=6), BadCompression),
        (message(0, b"a", magic=3), UnsupportedMagic),
        (message(0, b"a")[:-1], Truncated),
        (pack(">qiIb", 0, 21, 0, 1) + bytes(16), CorruptBatch),
    ],
)
def test_invalid_legacy_message_set_is_refused(data: bytes, kind: type[WireError]) -> None:
    with pytest.raises(WireError) as caught:
        decode_all(data, check_crc=False)
    assert type(caught.value) is kind


@pytest.mark.parametrize("field", [18, 22, 26, 30])
@pytest.mark.parametrize("length", [0x7FFFFFFF, 100])
def test_lengths_beyond_the_message(field: int, length: int) -> None:
    magic = 0 if field in (18, 22) else 1
    data = bytearray(message(0, b"", key=b"", magic=magic) + bytes(50))
    data[field : field + 4] = pack(">i", length)
    with pytest.raises(InvalidRecord):
        decode_records(data, check_crc=False)


def test_wrapper_message_that_expands_too_much_is_refused() -> None:
    with pytest.raises(TooLarge):
        decode_records(wrapper(0, message(0, bytes(4 << 20))), limit=1 << 20)


SAMPLES = [
    wrapper(9, message(0, b"a"), message(1, None, key=b"k"), codec=codec, magic=magic)
    for codec in (1, 2, 3)
    for magic in (0, 1)
]


@given(st.sampled_from([*SAMPLES, message(5, b"value", key=b"key")]), st.data())
def test_damage_raises_only_wire_errors(data: bytes, draw: st.DataObject) -> None:
    with suppress(WireError):
        decode_all(draw.draw(damaged(data)), check_crc=False, limit=1 << 20)
