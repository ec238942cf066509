"""Batches as columns: Kafka reads our columns' values in our batches, and reads batches that were
encoded from columns."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
import pytest

from kafkadouble.wire import columns
from kafkadouble.wire.compression import codec_name

from .batches import NOW, Maker
from .java import Witness

SEED = 20261122
BUFFERS = 20
NAMES = ("key", "value", "offset", "timestamp", "timestampType", "headers", "leader_epoch", "base_offset", "codec",
         "transactional", "producer_id", "producer_epoch")  # fmt: skip
MOST_MS = ((1 << 63) - 1) // 1000


@pytest.mark.parametrize("implementation", [name for name in columns.available() if name != "loop"])
def test_kafka_reads_the_same_rows(witness: Witness, implementation: str) -> None:
    maker = Maker((SEED, implementation), strict=False)
    for turn in range(BUFFERS):
        base, made = 0, []
        for codec in range(5):
            batch = maker.batch(codec, turn % 2, base)
            made.append(batch.encoded())
            base = batch.records[-1].offset + 1
        buffer = b"".join(made)
        theirs = json.loads(witness.answer("batches", buffer.hex())[0])
        assert rows(buffer, implementation) == [row for batch in theirs for row in expected(batch)]


def rows(buffer: bytes, implementation: str) -> list[tuple[Any, ...]]:
    """Our rows in the order of NAMES, timestamps in ms."""
    origin = columns.Origin("t", 0)
    found: list[tuple[Any, ...]] = []
    for batch in columns.decode(buffer, columns.walk(buffer), NAMES, origin, implementation=implementation):
        column = {name: batch.column(name).to_pylist() for name in NAMES if name != "timestamp"}
        micros = batch.column("timestamp").cast(pa.int64()).to_pylist()
        column["timestamp"] = [None if stamp is None else stamp // 1000 for stamp in micros]
        column["headers"] = [[(each["key"], each["value"]) for each in some or ()] for some in column["headers"]]
        found += zip(*(column[name] for name in NAMES), strict=True)
    return found


def expected(batch: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a batch as the witness describes it."""
    return [
        (
            data(key),
            data(value),
            offset,
            stamp if abs(stamp) <= MOST_MS else None,
            batch["timestampType"],
            [(name, data(content)) for name, content in headers],
            batch["leaderEpoch"],
            batch["baseOffset"],
            batch["codec"],
            batch["transactional"],
            batch["producerId"],
            batch["producerEpoch"],
        )
        for offset, stamp, key, value, headers in batch["records"]
    ]


def data(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


@pytest.mark.parametrize("codec", range(5), ids=codec_name)
def test_kafka_reads_what_is_encoded_from_columns(witness: Witness, codec: int) -> None:
    maker = Maker((SEED, codec), strict=False)
    for _ in range(BUFFERS):
        records = maker.batch(0, 0, 0).records
        table = pa.record_batch(
            [
                pa.array([record.key for record in records], pa.binary()),
                pa.array([record.value for record in records], pa.binary()),
                pa.array([record.timestamp for record in records], pa.int64()),
                pa.array(
                    [[{"key": name, "value": value} for name, value in record.headers] for record in records],
                    columns.schema(("headers",)).field(0).type,
                ),
            ],
            ["key", "value", "timestamp", "headers"],
        )
        made = b"".join(columns.encode(table, codec=codec, now=NOW, base_offset=7, max_bytes=20_000))
        theirs = [row for batch in json.loads(witness.answer("batches", made.hex())[0]) for row in batch["records"]]
        assert [(at, stamp, data(key), data(value)) for at, stamp, key, value, _ in theirs] == [
            (7 + at, record.timestamp, record.key, record.value) for at, record in enumerate(records)
        ]
        assert [[(name, data(value)) for name, value in row[4]] for row in theirs] == [
            list(record.headers) for record in records
        ]
