"""Random record batches, and their form in the witness's JSON. Like the messages, they prefer edge
cases."""

from __future__ import annotations

import base64
import random
from typing import Any, NamedTuple

from kafkadouble.wire.batch import APPEND_TIME, CREATE_TIME, BatchHeader, Record, encode_batch
from kafkadouble.wire.compression import CODECS, codec_name

INT64, INT32, INT16 = (1 << 63) - 1, (1 << 31) - 1, (1 << 15) - 1
NOW = 1_700_000_000_000

_DATA = (None, b"", b"\0", b"value", bytes(62), bytes(63), bytes(64), bytes(range(256)) * 4)
_LARGE = (bytes(8191), b"abcdefgh" * 8192, b"\xff" * 70000)
_NAMES = ("", "h", "tópic-☃", "x" * 63, "x" * 64)
_STEPS = (1, 1, 1, 2, 63, 64, 8192, 1 << 27)


class Batch(NamedTuple):
    """The content of a batch. `append_time` is used if the timestamp type is LogAppendTime."""

    records: list[Record]
    base_offset: int
    codec: int = 0
    timestamp_type: int = CREATE_TIME
    append_time: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    leader_epoch: int = -1
    transactional: bool = False
    control: bool = False
    magic: int = 2

    def encoded(self, level: int | None = None, last_offset: int | None = None, horizon: int | None = None) -> bytes:
        return bytes(
            encode_batch(
                self.records,
                base_offset=self.base_offset,
                compression=self.codec,
                level=level,
                timestamp_type=self.timestamp_type,
                producer_id=self.producer_id,
                producer_epoch=self.producer_epoch,
                base_sequence=self.base_sequence,
                partition_leader_epoch=self.leader_epoch,
                is_transactional=self.transactional,
                is_control=self.control,
                max_timestamp=self.append_time if self.timestamp_type == APPEND_TIME else None,
                last_offset=last_offset,
                delete_horizon=horizon,
            )
        )

    def as_json(self) -> dict[str, Any]:
        """The JSON from which the witness builds a batch."""
        return {
            "records": [row(record) for record in self.records],
            "baseOffset": self.base_offset,
            "codec": self.codec,
            "timestampType": self.timestamp_type,
            "appendTime": self.append_time,
            "producerId": self.producer_id,
            "producerEpoch": self.producer_epoch,
            "baseSequence": self.base_sequence,
            "leaderEpoch": self.leader_epoch,
            "transactional": self.transactional,
            "control": self.control,
            "magic": self.magic,
        }

    def read(self) -> list[Record]:
        """The records as a reader gets them: with the broker's time if the broker set it, and
        without fields that the magic does not have."""
        return [
            Record(record.offset, self._time(record), record.key, record.value, record.headers)
            for record in self.records
        ]

    def _time(self, record: Record) -> int:
        if self.magic == 0:
            return -1
        return self.append_time if self.timestamp_type == APPEND_TIME else record.timestamp


class Maker:
    """Makes batches from one seed. `strict` leaves out timestamps before 1970, which Kafka reads
    but its builder does not write."""

    def __init__(self, seed: object, *, strict: bool) -> None:
        self.dice = random.Random(str(seed))
        self.strict = strict

    def batch(self, codec: int, timestamp_type: int, base_offset: int, *, magic: int = 2) -> Batch:
        dice = self.dice
        made = Batch(
            self._records(base_offset, dice.choice((1, 1, 2, 3, 10, 100)), magic),
            base_offset,
            codec,
            timestamp_type,
            dice.choice((0, NOW, INT64)) if timestamp_type == APPEND_TIME else -1,
            magic=magic,
        )
        if magic < 2:
            return made
        made = made._replace(leader_epoch=dice.choice((-1, 0, 7, INT32)))
        if dice.random() < 0.5:
            made = made._replace(
                producer_id=dice.choice((0, 1, 4711, INT64)),
                producer_epoch=dice.choice((0, 1, INT16)),
                base_sequence=dice.choice((0, 1, INT32 - 1, INT32)),
                transactional=dice.random() < 0.5,
            )
        return made

    def _records(self, base_offset: int, count: int, magic: int) -> list[Record]:
        offset, made = base_offset, []
        for number in range(count):
            if number:
                offset += self.dice.choice(_STEPS if count < 10 else _STEPS[:5])
            made.append(Record(offset, self._time(), self._data(), self._data(), self._headers() if magic == 2 else ()))
        return made

    def _time(self) -> int:
        times = (-1, 0, 1, NOW, NOW + 63, NOW + 64, INT64)
        return self.dice.choice(times if self.strict else (*times, -2, -NOW, -INT64 - 1))

    def _data(self) -> bytes | None:
        return self.dice.choice(_DATA if self.dice.random() < 0.997 else _LARGE)

    def _headers(self) -> tuple[tuple[str, bytes | None], ...]:
        count = self.dice.choice((0, 0, 1, 2, 3))
        return tuple((self.dice.choice(_NAMES), self._data()) for _ in range(count))


def row(record: Record) -> list[Any]:
    """A record in the witness's JSON."""
    headers = [[name, _base64(value)] for name, value in record.headers]
    return [record.offset, record.timestamp, _base64(record.key), _base64(record.value), headers]


def described(header: BatchHeader, records: list[Record]) -> dict[str, Any]:
    """Our reading of a batch, in the form in which the witness describes it."""
    return {
        "baseOffset": header.base_offset,
        "lastOffset": header.last_offset,
        "nextOffset": header.next_offset,
        "size": header.size,
        "magic": header.magic,
        "crc": header.crc,
        "leaderEpoch": header.partition_leader_epoch,
        "count": header.count,
        "codec": codec_name(header.compression),
        "timestampType": header.timestamp_type,
        "maxTimestamp": header.max_timestamp,
        "producerId": header.producer_id,
        "producerEpoch": header.producer_epoch,
        "baseSequence": header.base_sequence,
        "lastSequence": header.last_sequence,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "deleteHorizon": header.base_timestamp if header.has_delete_horizon else None,
        "records": [row(record) for record in records],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


CODEC_NAMES = {row.name: row.id for row in CODECS.values()}
