"""Batches of values and nothing else are those that records make, and are read as those are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.wire.batch import HEADER_SIZE, Record, decode_all, encode_batch, read_header
from kafkadouble.wire.value_batch import plain_values, value_record, wrap_values

NOW = 1_700_000_000_000
VALUES = st.lists(st.one_of(st.binary(min_size=1, max_size=300), st.just(b"x" * 20_000)), min_size=1, max_size=200)


def wrapped(values: list[bytes], base: int = 7) -> bytearray:
    body = b"".join(value_record(value, at) for at, value in enumerate(values))
    return wrap_values(body, len(values), base_offset=base, timestamp=NOW, partition_leader_epoch=3)


def of_records(values: list[Any], base: int = 7, **fields: Any) -> bytes:
    records = [Record(base + at, NOW, None, value) for at, value in enumerate(values)]
    return bytes(encode_batch(records, base_offset=base, partition_leader_epoch=3, **fields))


def plain(batch: bytes) -> list[bytes] | None:
    return plain_values(batch, read_header(batch))


@given(VALUES)
def test_value_batches_equal_record_batches(values: list[bytes]) -> None:
    assert wrapped(values) == of_records(values)
    assert plain(of_records(values)) == values


def test_long_value_batch_equals_the_batch_of_its_records() -> None:
    values = [b"v"] * 20_000
    assert wrapped(values, 0) == of_records(values, 0)
    assert plain(of_records(values, 0)) == values


@pytest.mark.parametrize(
    "batch",
    [
        of_records([b"a", None]),
        of_records([b"a", b""]),
        of_records([b"a"], is_control=True),
        of_records([b"a" * 99], compression=1),
        encode_batch([Record(0, NOW, b"k", b"v")]),
        encode_batch([Record(0, NOW, None, b"v", (("h", b""),))]),
        encode_batch([Record(0, NOW, None, b"v"), Record(1, NOW + 1, None, b"v")]),
        encode_batch([Record(0, NOW, None, b"v"), Record(2, NOW, None, b"v")]),
        encode_batch([Record(1, NOW, None, b"v")]),
    ],
)
def test_batch_with_keys_or_headers_uses_other_path(batch: bytes) -> None:
    assert plain(bytes(batch)) is None
    assert decode_all(batch)


@given(VALUES, st.data())
def test_bytes_that_are_wrong_are_left_to_others_or_read_as_they_read_them(
    values: list[bytes], data: st.DataObject
) -> None:
    batch = bytearray(of_records(values))
    at = data.draw(st.integers(HEADER_SIZE, len(batch) - 1))
    batch[at] ^= data.draw(st.integers(1, 255))
    found = plain(bytes(batch))
    if found is not None:
        records = decode_all(batch, check_crc=False)
        assert found == [record.value for record in records]
        assert {(record.key, record.headers, record.timestamp) for record in records} == {(None, (), NOW)}


@given(VALUES, st.integers(1, 400))
def test_bytes_that_end_too_early_are_left_to_others(values: list[bytes], cut: int) -> None:
    batch = of_records(values)
    assert plain_values(batch[: max(HEADER_SIZE, len(batch) - cut)], read_header(batch)) is None
