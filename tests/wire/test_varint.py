"""Varints: known encodings, the bounds of readers and writers, and how readers handle bytes that
end or continue too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire import varint
from kafkadouble.wire.errors import BadVarint

UNSIGNED = {
    0: "00",
    1: "01",
    127: "7f",
    128: "8001",
    300: "ac02",
    16384: "808001",
    2**31 - 1: "ffffffff07",
    2**32 - 1: "ffffffff0f",
}
SIGNED = {0: "00", -1: "01", 1: "02", -64: "7f", 64: "8001", 2**31 - 1: "feffffff0f", -(2**31): "ffffffff0f"}
LONG = {0: "00", -1: "01", 2**63 - 1: "feffffffffffffffff01", -(2**63): "ffffffffffffffffff01"}


@pytest.mark.parametrize(("value", "wire"), UNSIGNED.items())
def test_unsigned_varint_has_known_bytes(value: int, wire: str) -> None:
    assert varint.write_uvarint(value).hex() == wire
    assert varint.read_uvarint(b"\xff" + bytes.fromhex(wire) + b"\xff", 1) == (value, 1 + len(wire) // 2)


@pytest.mark.parametrize(("value", "wire"), SIGNED.items())
def test_signed_varint_has_known_bytes(value: int, wire: str) -> None:
    assert varint.write_varint(value).hex() == wire
    assert varint.read_varint(bytes.fromhex(wire), 0) == (value, len(wire) // 2)


@pytest.mark.parametrize(("value", "wire"), LONG.items())
def test_varlong_has_known_bytes(value: int, wire: str) -> None:
    assert varint.write_varlong(value).hex() == wire
    assert varint.read_varlong(bytes.fromhex(wire), 0) == (value, len(wire) // 2)


@given(st.integers(0, 2**32 - 1))
def test_unsigned_varint_is_read_as_written(value: int) -> None:
    wire = varint.write_uvarint(value)
    assert varint.read_uvarint(wire, 0) == (value, len(wire))


@given(st.integers(-(2**31), 2**31 - 1))
def test_signed_varint_is_read_as_written(value: int) -> None:
    wire = varint.write_varint(value)
    assert varint.read_varint(wire, 0) == (value, len(wire))
    assert varint.read_varlong(wire, 0) == (value, len(wire))


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlong_is_read_as_written(value: int) -> None:
    wire = varint.write_varlong(value)
    assert varint.read_varlong(wire, 0) == (value, len(wire))


def test_varint_out_of_range_is_not_written() -> None:
    for write, values in (
        (varint.write_uvarint, (-1, 2**32)),
        (varint.write_varint, (-(2**31) - 1, 2**31)),
        (varint.write_varlong, (-(2**63) - 1, 2**63)),
    ):
        for value in values:
            with pytest.raises(ValueError, match="does not fit"):
                write(value)


@pytest.mark.parametrize("wire", ["ffffffff10", "ffffffffff01", "808080808000", "ffffffff8f00"])
def test_an_unsigned_varint_that_goes_on(wire: str) -> None:
    with pytest.raises(BadVarint) as caught:
        varint.read_uvarint(b"\0\0" + bytes.fromhex(wire), 2)
    assert caught.value.offset == 2


@pytest.mark.parametrize("wire", ["ffffffffffffffffff02", "80808080808080808080808000"])
def test_varlong_that_is_too_long_is_refused(wire: str) -> None:
    with pytest.raises(BadVarint) as caught:
        varint.read_varlong(b"\0" + bytes.fromhex(wire), 1)
    assert caught.value.offset == 1


@pytest.mark.parametrize("wire", ["", "80", "ffff", "ffffffff"])
def test_bytes_that_end(wire: str) -> None:
    for read in (varint.read_uvarint, varint.read_varint, varint.read_varlong):
        with pytest.raises(IndexError):
            read(bytes.fromhex(wire), 0)


def test_varint_with_padding_is_accepted() -> None:
    assert varint.read_uvarint(b"\x80\x00", 0) == (0, 2)
    assert varint.read_uvarint(b"\x81\x80\x80\x80\x00", 0) == (1, 5)
