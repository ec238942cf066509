"""The slow paths that generated codecs call: long lengths and counts, buffers of every kind, uuids,
and bounds on caches."""

from __future__ import annotations

from array import array

import pytest

from kafkadouble.wire import primitives
from kafkadouble.wire.errors import BadLength, NullNotAllowed, UsageError


def test_a_count_is_held_against_the_bytes_that_remain() -> None:
    b = bytes(200)
    assert primitives.long_count_or_null(b, 101, 100) == (101, 100)
    with pytest.raises(BadLength, match="101 elements are announced, 100 bytes remain"):
        primitives.long_count_or_null(b, 102, 100)
    assert primitives.long_count(b"\xc9\x01" + bytes(200), 0xC9, 1) == (201, 2)
    with pytest.raises(BadLength, match="200 elements are announced, 199 bytes remain"):
        primitives.long_count(b"\xc9\x01" + bytes(199), 0xC9, 1)
    primitives.check_count(b, 100, 100)
    with pytest.raises(BadLength):
        primitives.check_count(b, 101, 100)
    with pytest.raises(NullNotAllowed):
        primitives.check_count(b, -1, 100)


@pytest.mark.parametrize("read", [primitives.long_text, primitives.long_bytes, primitives.long_count])
def test_null_in_a_field_that_is_not_nullable_is_refused(read: object) -> None:
    for wire in (b"\x00", b"\x80\x00"):
        with pytest.raises(NullNotAllowed):
            read(wire, wire[0], 1)  # type: ignore[operator]


def test_arrays_of_numbers_are_read_into_tuples() -> None:
    b = bytes.fromhex("c901") + b"".join(number.to_bytes(4, "big") for number in range(200))
    assert primitives.long_numbers(b, 0xC9, 1, "i", False) == (tuple(range(200)), len(b))
    assert primitives.plain_numbers(b, -1, 2, "i", True) == (None, 2)
    with pytest.raises(NullNotAllowed):
        primitives.plain_numbers(b, -1, 2, "i", False)
    with pytest.raises(BadLength):
        primitives.plain_numbers(b, 1 << 30, 2, "i", True)


def test_unpack_tables_exist_for_every_number_type() -> None:
    for letter in "bhHiIqd":
        table = getattr(primitives, f"unpack_{letter}")
        assert table is getattr(primitives, f"unpack_{letter}")
        assert len(table) == 128
        assert table[3](bytes(16), 0) == (0, 0)
    with pytest.raises(AttributeError, match="unpack_z"):
        _ = primitives.unpack_z


def test_struct_shapes_are_kept_up_to_a_bound() -> None:
    shapes = primitives.Shapes(">{}h")
    for count in range(primitives.Shapes.MOST + 500):
        assert len(shapes[count](*range(count))) == 2 * count
    assert len(shapes) == primitives.Shapes.MOST
    pair = primitives.Shapes(">{}bB{}b")
    assert pair[2, 1](1, 2, 3, 4) == b"\1\2\3\4"


def test_buffers() -> None:
    assert bytes(primitives.buffer(bytearray(b"ab"))) == b"ab"
    numbers = primitives.buffer(array("i", [1, 2]))
    assert (len(numbers), bytes(numbers)) == (8, array("i", [1, 2]).tobytes())
    square = memoryview(bytes(6)).cast("B", (2, 3))
    assert len(primitives.buffer(square)) == 6
    source = b"abc"
    assert primitives.buffer(memoryview(source)).obj is source
    for bad in ("ab", 5, [1], memoryview(b"abcd")[::2]):
        with pytest.raises(TypeError):
            primitives.buffer(bad)


def test_uuids_have_16_bytes_each() -> None:
    assert primitives.join_uuids([bytes(16), b"x" * 16]) == bytes(16) + b"x" * 16
    with pytest.raises(UsageError, match="16 bytes"):
        primitives.join_uuids([bytes(15), bytes(17)])


def test_compact_string_length_is_bounded() -> None:
    assert primitives.text_size(32768) == b"\x80\x80\x02"
    with pytest.raises(UsageError, match="32768 bytes is longer than 32767"):
        primitives.text_size(32769)
    assert primitives.size(1 << 20).hex() == "808040"
