"""Records with consistent lengths and unusual varints: overlong, with too many bits, or negative
where that is not allowed.

Each record must be read or refused as by the plain reader, also between valid records.
"""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.batch import BatchHeader, Record, encode_batch, wrap_body
from kafkadouble.wire.errors import InvalidRecord
from kafkadouble.wire.record_write import encode_body
from tests.wire.columns.reading import BASIC, EVERY, ORIGIN, by_columns, plainly

SEED = 20261122
ROUNDS = 400
PLAIN = Record(0, 5, b"key", b"value", (("h", b"x"), ("i", None)))


def batch(body: bytes, count: int) -> bytes:
    return bytes(wrap_body(BatchHeader(7, 0, -1, 2, 0, 0, 0, 1000, 9, -1, -1, -1, count), body))


def varint(raw: int, dice: Random, strange: float) -> bytes:
    """An unsigned varint, sometimes overlong by one or more bytes, or with too many bits."""
    made = bytearray()
    while raw > 127:
        made.append(raw & 127 | 128)
        raw >>= 7
    made.append(raw)
    if dice.random() < strange:
        size = dice.choice([len(made), len(made) + 1, 5, 6, 9, 10, 11])
        while len(made) < size:
            made[-1] |= 128
            made.append(0)
        if dice.random() < 0.5:
            made[-1] |= 1 << dice.randrange(7)
    return bytes(made)


def length(size: int, dice: Random, strange: float) -> bytes:
    """A length as a zigzag varint, sometimes encoded in an unusual way, or negative."""
    return varint(size * 2 + (dice.random() < strange / 4), dice, strange)


def record(dice: Random, strange: float) -> bytes:
    """Attributes, deltas, key, value and headers, after their length; the length is right, but its
    varint may be unusual."""
    inside = (
        b"\0" + varint(dice.choice([0, 2, 1 << 20]), dice, strange) + varint(dice.choice([0, 2, 300]), dice, strange)
    )
    for field in (b"key", b"value"):
        held = dice.choice([b"", field, field * 40])
        inside += b"\1" if dice.random() < 0.2 else length(len(held), dice, strange) + held
    names = [b"h" * dice.randrange(3) for _ in range(dice.choice([0, 0, 1, 2]))]
    inside += length(len(names), dice, strange)
    for name in names:
        inside += length(len(name), dice, strange) + name + dice.choice([b"\1", b"\3", length(1, dice, strange) + b"x"])
    return length(len(inside), dice, strange) + inside


@pytest.mark.parametrize("implementation", EVERY)
def test_records_with_unusual_varints_decode_like_the_plain_reader(implementation: str) -> None:
    dice = Random(SEED)
    verdicts = []
    for turn in range(ROUNDS):
        count = dice.randint(1, 4)
        odd = dice.randrange(count)
        body = b"".join(record(dice, 0.1 if at == odd else 0) for at in range(count))
        buffer = bytes(encode_batch([PLAIN])) + batch(body, count) + bytes(encode_batch([PLAIN]))
        expected = plainly(buffer)
        assert by_columns(buffer, implementation) == expected, f"round {turn} of seed {SEED}"
        verdicts.append(expected[1])
    assert ROUNDS // 10 < verdicts.count(InvalidRecord) < ROUNDS - ROUNDS // 10


@pytest.mark.parametrize("implementation", EVERY)
def test_record_body_with_any_flipped_bit_gives_the_same_columns(implementation: str) -> None:
    body = encode_body([PLAIN, Record(1, 9, None, b"", (("h", b"y"),))], 0).data
    for bit in range(len(body) * 8):
        bad = bytearray(body)
        bad[bit // 8] ^= 1 << bit % 8
        buffer = batch(bytes(bad), 2)
        assert by_columns(buffer, implementation) == plainly(buffer), f"bit {bit}"


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize(
    "text",
    [
        "0c 00 00 00 03 05 00",  # any negative length is null
        "0c ff 00 00 01 01 00",
        "14 00 00 8080808000 01 01 00",
        "14 00 00 feffffff1f 01 01 00",  # drops bits over 32
        "1e 00 80808080808080808000 00 01 01 00",
        "1e 00 ffffffffffffffffff01 00 01 01 00",
        "0b 00 00 00 01 01 00",  # -6 bytes of record
        "0c 00 00 00 01 01 01",  # -1 headers
        "10 00 00 00 01 01 02 00 02",
        "10 00 00 00 01 01 02 01 01",  # -1 bytes of header name
        "8c8080808000 00 00 00 01 01 00",
        "0c 00 00 00 01 01 00 00",
        "80 80 80 80 80 80 80",
        "fe ff ff ff 0f 00 00",
        # A reader that stops after five bytes accepts this record.
        "1c 00 00 00 01 01 02 828080808000 02 41",
        "1c 00 00 00 01 01 02 00 828080808000 41",
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_record_with_odd_lengths_decodes_like_the_plain_reader(implementation: str, text: str, count: int) -> None:
    buffer = batch(bytes.fromhex(text) * count, count) + bytes(encode_batch([PLAIN]))
    assert by_columns(buffer, implementation) == plainly(buffer)


@pytest.mark.parametrize("implementation", EVERY)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_batch_with_a_wrong_record_count_gives_the_same_columns(implementation: str, count: int) -> None:
    for held in ([PLAIN], [PLAIN] * 4):
        body = b"".join(encode_body([each], 0).data for each in held)
        buffer = batch(body, count)
        assert by_columns(buffer, implementation) == plainly(buffer)


@pytest.mark.parametrize("implementation", EVERY[1:])
@pytest.mark.parametrize("seed", range(8))
def test_decode_of_changing_bytes_raises_invalid_record_or_succeeds(implementation: str, seed: int) -> None:
    """The bytes may change, for example, in a file that is mapped into memory. The reader must not
    read outside the buffer, and must raise InvalidRecord or return valid columns."""
    dice = Random(seed)
    headers = tuple((f"h{at}", b"x" * at) for at in range(4))
    buffer = bytearray(b"".join(encode_batch([Record(at, 5, b"k", b"v", headers)], base_offset=at) for at in range(50)))
    batches = columns.decode(buffer, columns.walk(buffer), BASIC, ORIGIN, rows=10, implementation=implementation)
    assert next(batches).num_rows == 10
    buffer[:] = bytes([255]) * len(buffer) if seed == 0 else dice.randbytes(len(buffer))
    message = ""
    try:
        for batch in batches:
            batch.validate(full=True)
    except InvalidRecord as problem:
        message = str(problem)
    assert message in ("", "the bytes of records changed while they were being read")
