"""Damaged bytes: every implementation reports the plain reader's error at the same position, and
its work is bounded by the number of bytes."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.wire import columns
from kafkadouble.wire.batch import BatchHeader, Record, encode_batch, seal, wrap_body
from kafkadouble.wire.errors import BadCompression, CorruptBatch, InvalidRecord, TooLarge, Truncated, WireError
from kafkadouble.wire.record_write import encode_body
from tests.wire.columns.reading import BASIC, EVERY, ORIGIN, a_log, by_columns, plainly, rows_of
from tests.wire.strategies import damaged, records

SEED = 20261122
ROUNDS = 150


def a_damaged_log(dice: Random) -> bytes:
    """A small log with flipped bits, or with its end cut off; often near the front, where headers
    and lengths are."""
    bad = bytearray(a_log(dice.randrange(1 << 30), batches=dice.randint(1, 5), most=5))
    for _ in range(dice.randint(1, 3)):
        near = dice.choice([len(bad), len(bad), 90])
        bad[dice.randrange(min(near, len(bad)))] ^= 1 << dice.randrange(8)
    return bytes(bad[: dice.randrange(len(bad))] if dice.random() < 0.1 else bad)


@pytest.mark.parametrize("check_crc", [True, False])
@pytest.mark.parametrize("implementation", EVERY)
def test_damaged_batch_gives_equal_columns_or_an_error(implementation: str, check_crc: bool) -> None:
    dice = Random(SEED)
    found = set()
    for turn in range(ROUNDS):
        bad = a_damaged_log(dice)
        expected = plainly(bad, check_crc=check_crc)
        decoded = by_columns(bad, implementation, check_crc=check_crc)
        # All headers are checked before any record is read.
        if expected[1] is not None and decoded[0] == []:
            expected = ([], *expected[1:])
        assert decoded == expected, f"round {turn} of seed {SEED}"
        found.add(expected[1])
    assert {None, Truncated, CorruptBatch} <= found


@pytest.mark.parametrize("implementation", EVERY)
@settings(max_examples=60)
@given(records(), st.data())
def test_records_damaged_under_a_good_checksum(
    implementation: str, made: tuple[int, list[Record]], data: st.DataObject
) -> None:
    base, originals = made
    body = encode_body(originals, base)
    bad = data.draw(damaged(body.data))
    count = body.record_count + data.draw(st.sampled_from([0, 0, 0, 1, -1, 1 << 30, -5]))
    codec = data.draw(st.sampled_from([0, 0, 4]))
    header = BatchHeader(base, 0, -1, 2, 0, codec, 0, body.base_timestamp, 9, -1, -1, -1, count)
    good = bytes(encode_batch([Record(0, 1, b"k", b"v", (("h", b"x"),))]))
    buffer = good + bytes(wrap_body(header, bad)) + good
    assert by_columns(buffer, implementation) == plainly(buffer)


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_damaged_compressed_bytes(implementation: str, codec: int) -> None:
    dice = Random(SEED + codec)
    batch = encode_batch([Record(at, 5, b"key", dice.randbytes(50) * 4) for at in range(9)], compression=codec)
    for _ in range(30):
        bad = bytearray(batch)
        bad[dice.randrange(61, len(bad))] ^= 1 << dice.randrange(8)
        seal(bad)
        assert by_columns(bytes(bad), implementation) == plainly(bytes(bad))


@pytest.mark.parametrize("implementation", EVERY)
def test_batch_that_decompresses_to_too_much_is_refused(implementation: str) -> None:
    buffer = bytes(encode_batch([Record(0, 5, None, bytes(100_000))], compression=4))
    assert by_columns(buffer, implementation, limit=99_999)[1] is TooLarge
    assert by_columns(buffer, implementation, limit=100_100)[1] is None


def three(middle: bytearray) -> bytes:
    """A good batch on each side of `middle`."""
    return bytes(
        encode_batch([Record(0, 5, b"k", b"a")]) + middle + encode_batch([Record(2, 5, b"k", b"c")], base_offset=2)
    )


def bad_crc() -> bytearray:
    bad = encode_batch([Record(1, 5, b"k", b"b")], base_offset=1)
    bad[-2] ^= 1
    return bad


def bad_record() -> bytearray:
    header = BatchHeader(1, 0, -1, 2, 0, 0, 0, 5, 5, -1, -1, -1, 1)
    return wrap_body(header, bytes.fromhex("1000000002 6b02 6200 00"))


def bad_zstd() -> bytearray:
    bad = encode_batch([Record(1, 5, b"k", b"b")], base_offset=1, compression=4)
    bad[61] ^= 1
    seal(bad)
    return bad


def note(errors: list[tuple[int, type[WireError]]], position: int, problem: WireError) -> None:
    errors.append((position, type(problem)))


BAD = [(bad_crc, CorruptBatch), (bad_record, InvalidRecord), (bad_zstd, BadCompression)]


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize(("bad", "kind"), BAD)
def test_a_corrupt_batch_is_skipped_or_reported(implementation: str, bad: object, kind: type[WireError]) -> None:
    assert callable(bad)
    buffer = three(bad())
    headers = columns.walk(buffer)
    origin = columns.Origin("orders", 3, position=5000)
    for action, middle in (("skip", []), ("report", [(None, None, 1, None, None)])):
        errors: list[tuple[int, type[WireError]]] = []
        batches = columns.decode(
            buffer, headers, BASIC, origin, on_corrupt=action, implementation=implementation,
            on_finding=partial(note, errors),
        )  # fmt: skip
        rows = [row for batch in batches for row in rows_of(batch)]
        assert rows == [(b"k", b"a", 0, 5, None), *middle, (b"k", b"c", 2, 5, None)]
        assert errors == [(5000 + int(headers.position[1]), kind)]


def test_a_reported_batch_has_the_fields_of_its_header() -> None:
    buffer = three(bad_crc())
    names = ("offset", "base_offset", "crc_ok", "timestamp")
    read = [
        row
        for batch in columns.decode(buffer, columns.walk(buffer), names, ORIGIN, on_corrupt="report")
        for row in zip(*batch.to_pydict().values(), strict=True)
    ]
    assert [row[:3] for row in read] == [(0, 0, True), (1, 1, False), (2, 2, True)]
    assert read[1][3] is None


@pytest.mark.parametrize(("bad", "kind"), BAD)
def test_an_error_has_the_position_in_the_file(bad: object, kind: type[WireError]) -> None:
    assert callable(bad)
    buffer = three(bad())
    headers = columns.walk(buffer)
    with pytest.raises(kind) as near:
        list(columns.decode(buffer, headers, BASIC, columns.Origin("orders", 3)))
    with pytest.raises(kind) as far:
        list(columns.decode(buffer, headers, BASIC, columns.Origin("orders", 3, position=5000)))
    if kind is BadCompression:
        assert str(far.value).endswith(f"in the batch at byte {5000 + int(headers.position[1])}")
    else:
        assert far.value.offset == near.value.offset + 5000


HOSTILE = """
import resource, sys
from kafkadouble.wire import columns
from kafkadouble.wire.batch import BatchHeader, Record, encode_batch, wrap_body
from kafkadouble.wire.errors import InvalidRecord

def zigzag(number):
    made, number = bytearray(), number << 1
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes(made) + bytes([number])

def batch(count, body):
    return bytes(wrap_body(BatchHeader(0, 0, -1, 2, 0, 0, 0, 0, 0, -1, -1, -1, count), body))

def record(inside):
    return zigzag(len(inside)) + inside

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "linux" else 1024)

plain = bytes(encode_batch([Record(0, 5, b"k", b"v")]))
list(columns.decode(plain, columns.walk(plain), columns.NAMES, columns.Origin("t", 0)))
most = (1 << 31) - 1
bad = [
    batch(most, record(bytes([0, 0, 0, 1, 1, 0]))),
    batch(1, record(bytes([0, 0, 0, 1, 1]) + zigzag(most))),
    batch(1, record(bytes([0, 0, 0]) + zigzag(most) + bytes([1, 0]))),
    batch(1, zigzag(most) + bytes(6)),
    batch(300, record(bytes([0, 0, 0, 1, 1, 0])) * 299 + b"\\x80" * 7),
    batch(3, (b"\\xff" * 4 + b"\\x0f") * 6),
]
before = peak()
for implementation in columns.available():
    for data in bad:
        data = plain + data * 40 + plain
        found = []
        batches = columns.decode(data, columns.walk(data), columns.NAMES, columns.Origin("t", 0), on_corrupt="skip",
                              on_finding=lambda at, problem: found.append(type(problem)), implementation=implementation)
        assert sum(some.num_rows for some in batches) == 2, implementation
        assert found == [InvalidRecord] * 40, (implementation, found)
print(peak() - before)
"""


def test_promises_that_the_bytes_do_not_keep_take_no_memory() -> None:
    done = subprocess.run([sys.executable, "-c", HOSTILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200_000, "kB, where a promise is of gigabytes"


LARGE = """
import resource, sys
from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 if sys.platform == "linux" else 1024)

batch = bytes(encode_batch([Record(at, at, b"key", bytes(200)) for at in range(4000)], compression=int(sys.argv[1])))
data = batch * int(sys.argv[2])
before = peak()
rows = 0
for some in columns.decode(data, columns.walk(data), columns.NAMES, columns.Origin("t", 0), implementation=sys.argv[3]):
    rows += some.num_rows
    assert some.nbytes < 40 << 20 and some.num_rows <= 65536
assert rows == 4000 * int(sys.argv[2])
print(peak() - before)
"""


@pytest.mark.parametrize("implementation", EVERY[2:])
@pytest.mark.parametrize("codec", [0, 4])
def test_memory_is_that_of_a_chunk_whatever_the_size(implementation: str, codec: int) -> None:
    command = [sys.executable, "-c", LARGE, str(codec), "120", implementation]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 170_000, "kB, of 100 MB of records, which all at once take more than twice as much"
