"""Makes the data: batches of 16 KB of JSON, as a topic of a broker and as one large segment.

The same 8 MB are repeated, which makes no difference without compression.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.columns import CASES, records
from kafkadouble.pipeline.client import Client, TopicPartition
from kafkadouble.server.log.formats import names, offset_index
from kafkadouble.wire.batch import encode_batch

NAME, PARTITIONS = "bench", 4
FOREVER = -1
"""`retention.ms`: the records' timestamps are years old."""

_UNIQUE = 8 << 20
_AT_ONCE = 64
"""The batches of a partition that one call delivers."""


class Batches(NamedTuple):
    """Encoded batches; `rows` are the records of each."""

    encoded: list[bytes]
    rows: int


def batches() -> Batches:
    made = records(CASES[0], _UNIQUE)
    encoded = [bytes(encode_batch(each, base_offset=each[0].offset)) for each in made]
    return Batches([_based(each, 0) for each in encoded], len(made[0]))


def _based(batch: bytes, offset: int) -> bytes:
    """The batch with another base offset, which the checksum does not cover."""
    return offset.to_bytes(8, "big") + batch[8:]


def _until(batches: Batches, size: int) -> Iterator[bytes]:
    """One batch after the other, of about `size` bytes in all."""
    while size > 0:
        for each in batches.encoded:
            if size <= 0:
                return
            yield each
            size -= len(each)


def fill(bootstrap: str, batches: Batches, size: int) -> tuple[int, int]:
    """Makes the topic with about `size` bytes; returns its bytes and rows."""
    queue = list(_until(batches, size // PARTITIONS))
    with Client({"bootstrap.servers": bootstrap}) as client, client.producer() as producer:
        for start in range(0, len(queue), _AT_ONCE):
            some = queue[start : start + _AT_ONCE]
            producer.send({TopicPartition(NAME, partition): some for partition in range(PARTITIONS)})
    return sum(map(len, queue)) * PARTITIONS, len(queue) * batches.rows * PARTITIONS


def segment(folder: Path, batches: Batches, size: int) -> tuple[int, int]:
    """Makes a partition's folder with one segment of about `size` bytes and its index; returns its
    bytes and batches.
    """
    folder.mkdir(parents=True)
    path, written, number = folder / names.segment_name(0), 0, 0
    with path.with_suffix(names.LOG).open("wb") as file, path.with_suffix(names.INDEX).open("wb") as index:
        for number, each in enumerate(_until(batches, size)):
            index.write(offset_index.pack(number * batches.rows, written))
            written += file.write(_based(each, number * batches.rows))
    return written, number + 1
