"""Compares the decoding of gzip with Apache Kafka, which uses Java's GZIPInputStream. The data has
several members, unusual headers, and bytes after the last member. kafkadouble must return the same
records, or refuse the same data."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from kafkadouble.wire.batch import Record, body_of, decode_records, encode_batch, iter_batches, read_header, seal
from kafkadouble.wire.batch_header import HEADER_SIZE
from kafkadouble.wire.errors import WireError

from .batches import NOW, described
from .damaging import damaged
from .java import THROWN, Witness

SEED = 20261128
GZIP = 1
BUFFER = 8192
Count = Callable[[str, object], None]


def test_gzip_members_decode_like_kafka(witness: Witness, dose: int, record_property: Count) -> None:
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    sent = list(batches(dice, 40 * dose))
    for data in sent:
        witness.ask("batches", data.hex())
    refused = 0
    for data in sent:
        (kafka_result,) = witness.answered()
        our_result = read(data)
        assert (None if kafka_result.startswith(THROWN) else json.loads(kafka_result)) == our_result, data.hex()
        refused += our_result is None
    assert 0.1 * len(sent) < refused < 0.9 * len(sent)
    record_property("gzip batches", len(sent))


def read(data: bytes) -> list[dict[str, Any]] | None:
    """The batches as the witness describes them; None if they are refused."""
    try:
        return [described(header, decode_records(data, position)) for position, header in iter_batches(data)]
    except WireError:
        return None


def batches(dice: random.Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        # Some values are larger than the reader's buffer, so that a member ends near the end of the
        # buffer.
        value = dice.randbytes(dice.choice((10, 10, 100, BUFFER - dice.randint(40, 140), 2 * BUFFER)))
        plain = encode_batch([Record(0, NOW, None, value, ()), Record(1, NOW, b"k", b"v", ())])
        body = body_of(plain, 0, read_header(plain))
        packed = members(dice, body)
        if dice.random() < 0.2:
            packed = damaged(packed, dice)
        batch = bytearray(plain[:HEADER_SIZE]) + packed
        batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
        batch[22] |= GZIP
        seal(batch)
        yield bytes(batch)


def members(dice: random.Random, body: bytes) -> bytes:
    """The body in one to three members, sometimes with other bytes after them."""
    cuts = sorted(dice.choices(range(len(body) + 1), k=dice.choice((0, 0, 1, 2))))
    parts = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    return b"".join(member(dice, part) for part in parts) + trailing_bytes(dice)


def member(dice: random.Random, content: bytes) -> bytes:
    packer = zlib.compressobj(dice.choice((0, 6)), zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    trailer = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return header(dice) + packed + trailer


def header(dice: random.Random) -> bytes:
    """A header of a member with any flags, also those without a meaning."""
    flags = dice.choice((0, 0, dice.randint(0, 255)))
    made = b"\x1f\x8b\x08" + bytes((flags,)) + dice.randbytes(6)
    if flags & 4:
        extra = dice.randbytes(dice.choice((0, 1, 20)))
        made += len(extra).to_bytes(2, "little") + extra
    for flag in (8, 16):
        if flags & flag:
            made += b"a text"[: dice.randint(0, 6)] + b"\0"
    if flags & 2:
        made += (zlib.crc32(made) & 0xFFFF ^ (dice.random() < 0.1)).to_bytes(2, "little")
    return made


def trailing_bytes(dice: random.Random) -> bytes:
    """The bytes after the members: none, random bytes, or another member, which may be
    incomplete."""
    empty = gzip.compress(b"")
    return dice.choice(
        (b"", b"", header(dice), dice.randbytes(dice.randint(1, 40)), empty, empty[: dice.randint(1, 19)])
    )
