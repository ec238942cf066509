"""Headers as arrays: those of `wire.batch`, one by one; and the filters that read them."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.batch import (
    ABORT,
    COMMIT,
    BatchHeader,
    Record,
    check_crc,
    encode_batch,
    encode_control_batch,
    iter_batches,
)
from kafkadouble.wire.errors import BadLength, CorruptBatch, Truncated, UnsupportedMagic, WireError
from tests.wire.columns.reading import a_log


def same(headers: columns.Headers, index: int, header: BatchHeader) -> bool:
    one = headers.one(index)
    return all(getattr(one, name) == getattr(header, name) for name in BatchHeader.__slots__)


def test_every_header_of_a_log() -> None:
    buffer = a_log(3, batches=200)
    headers = columns.walk(buffer)
    batches = list(iter_batches(buffer))
    assert len(headers) == len(batches) == 200
    assert headers.position.tolist() == [position for position, _ in batches]
    for index, (position, header) in enumerate(batches):
        assert same(headers, index, header)
        assert headers.end[index] == position + header.size
        assert headers.last_offset[index] == header.last_offset
        assert headers.codec[index] == header.compression
        assert headers.timestamp_type[index] == header.timestamp_type
        assert headers.transactional[index] == header.is_transactional
        assert headers.control[index] == header.is_control
    assert set(headers.magic.tolist()) == {0, 1, 2}


def test_parts_of_headers_are_headers() -> None:
    headers = columns.walk(a_log(4, batches=20))
    assert headers[5:9].position.tolist() == headers.position.tolist()[5:9]
    odd = headers[headers.position % 2 == 1]
    assert all(position % 2 for position in odd.position.tolist())
    again = pickle.loads(pickle.dumps(headers))
    assert again.crc.tolist() == headers.crc.tolist()
    with pytest.raises(AttributeError):
        _ = headers.colour


def test_the_last_batch_may_be_cut_off() -> None:
    buffer = a_log(4, batches=6)
    start = columns.walk(buffer).position.tolist()[-1]
    for end in (start + 1, start + 13, len(buffer) - 1):
        assert len(columns.walk(buffer[:end])) == 5
        with pytest.raises(Truncated) as caught:
            columns.walk(buffer[:end], partial=False, origin=100)
        assert caught.value.offset == 100 + start


@pytest.mark.parametrize(
    ("at", "value", "kind"), [(8, 0xFF, BadLength), (16, 9, UnsupportedMagic), (11, 20, CorruptBatch)]
)
def test_malformed_header_is_an_error_with_its_offset(at: int, value: int, kind: type[WireError]) -> None:
    batch = encode_batch([Record(0, 5, b"k", b"v")])
    start = len(batch)
    buffer = batch + batch
    buffer[start + at] = value
    with pytest.raises(kind) as caught:
        columns.walk(buffer, origin=1000)
    assert caught.value.offset == 1000 + start + (at if at == 16 else 8)


def test_walk_tells_which_batches_have_good_checksums() -> None:
    buffer = bytearray(a_log(6, batches=30))
    headers = columns.walk(buffer)
    for index in (3, 4, 20):
        buffer[int(headers.end[index]) - 1] ^= 1
    good = columns.good_crc(buffer, headers)
    assert np.flatnonzero(~good).tolist() == [3, 4, 20]
    for position, header in iter_batches(buffer):
        if good[headers.position.tolist().index(position)]:
            check_crc(buffer, position, header)


def rows(*offsets: int) -> pa.RecordBatch:
    return pa.record_batch([pa.array(offsets, pa.int64())], ["offset"])


@pytest.mark.parametrize(
    ("first", "end", "expected"),
    [(0, 100, [3, 5, 9]), (4, 9, [5]), (5, 10, [5, 9]), (10, 20, []), (0, 3, []), (3, 4, [3]), (6, 6, [])],
)
def test_rows_between_two_offsets_are_selected(first: int, end: int, expected: list[int]) -> None:
    assert columns.between(rows(3, 5, 9), first, end).column("offset").to_pylist() == expected


def test_between_of_no_rows_and_of_rows_out_of_order() -> None:
    assert columns.between(rows(), 0, 9).num_rows == 0
    assert columns.between(rows(5, 1, 6), 5, 9).column("offset").to_pylist() == [5, 6]


def transactions() -> tuple[bytes, list[str]]:
    """Two producers' transactions, and records outside of any; and what each batch is."""
    steps = [
        (1, "kept"), (2, "aborted"), (1, "kept"), (2, "aborted"), (1, COMMIT), (9, "plain"), (2, ABORT),
        (1, "aborted"), (2, "kept"), (9, "plain"), (1, ABORT), (2, COMMIT), (1, "kept"),
    ]  # fmt: skip
    made = []
    for offset, (producer, what) in enumerate(steps):
        if isinstance(what, int):
            made.append(
                encode_control_batch(
                    what, bytes(6), base_offset=offset, producer_id=producer, producer_epoch=0, is_transactional=True
                )
            )
        else:
            made.append(
                encode_batch([Record(offset, 5, None, b"v")], base_offset=offset, producer_id=producer, producer_epoch=0,
                             is_transactional=what != "plain")
            )  # fmt: skip
    return b"".join(made), [str(what) for _, what in steps]


def test_aborted_transactions_are_left_out_and_nothing_else() -> None:
    buffer, what = transactions()
    headers = columns.walk(buffer)
    expected = [each != "aborted" for each in what]
    assert columns.committed(headers, [(2, 1), (1, 7)]).tolist() == expected
    assert columns.committed(headers, [(1, 7), (2, 1), (2, 1), (2, 3), (8, 0)]).tolist() == expected
    assert columns.committed(headers, []).all()
    later = headers[4:]  # a fetch that begins in the middle of a transaction
    assert columns.committed(later, [(2, 1), (1, 7)]).tolist() == expected[4:]
    assert columns.committed(headers[:0], [(2, 1)]).tolist() == []
