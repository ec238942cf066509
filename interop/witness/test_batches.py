"""Record batches: Kafka's `MemoryRecords` reads ours and verifies every checksum; we read those of
Kafka's builder and write them again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.wire.batch import (
    APPEND_TIME,
    CONTROL_NAMES,
    CREATE_TIME,
    HEADER_SIZE,
    BatchHeader,
    Record,
    body_of,
    control_record,
    control_type,
    decode_all,
    decode_records,
    encode_control_batch,
    iter_batches,
    read_header,
    scan_records,
    seal,
)
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import WireError

from . import making
from .batches import CODEC_NAMES, INT32, INT64, NOW, Batch, Maker, described, row
from .damaging import damaged
from .java import THROWN, Witness

SEED = 20261122
BUFFERS = 60
"""Buffers of one to four batches, for each codec and timestamp type."""
BASES = (0, 1, 5, 1 << 31, 1 << 40, INT64 - (1 << 40))
DAMAGED = [*range(21, 23), *range(27, 61)]
"""The header bytes that are damaged: all behind the checksum except the last offset delta, with
which Kafka's sequence numbers overflow."""
TYPES = {"create": CREATE_TIME, "append": APPEND_TIME}

Count = Callable[[str, object], None]


@pytest.fixture(params=list(CODEC_NAMES.values()), ids=list(CODEC_NAMES))
def codec(request: pytest.FixtureRequest) -> int:
    param: int = request.param
    return param


@pytest.fixture(params=list(TYPES.values()), ids=list(TYPES))
def stamped(request: pytest.FixtureRequest) -> int:
    param: int = request.param
    return param


def test_kafka_reads_ours(witness: Witness, codec: int, stamped: int, dose: int, record_property: Count) -> None:
    maker = Maker((SEED, codec, stamped), strict=False)
    buffers = [list(some_batches(maker, codec, stamped)) for _ in range(buffers_for(dose))]
    sent = [b"".join(data for data, _ in buffer) for buffer in buffers]
    for data in sent:
        witness.ask("batches", data.hex())
    for data, buffer in zip(sent, buffers, strict=True):
        theirs = answered(witness)
        ours = [described(header, decode_records(data, position)) for position, header in iter_batches(data)]
        assert theirs == ours
        assert [batch["records"] for batch in theirs] == [[row(record) for record in records] for _, records in buffer]
    record_property("batches", sum(map(len, buffers)))


def some_batches(maker: Maker, codec: int, stamped: int) -> Iterable[tuple[bytes, list[Record]]]:
    """Batches one after the other as in a log, some as compaction leaves them; their bytes, and
    their records as read."""
    base = maker.dice.choice(BASES)
    for _ in range(maker.dice.randint(1, 4)):
        batch = maker.batch(codec, stamped, base)
        if maker.dice.random() < 0.1:
            batch = batch._replace(records=[])
        base = batch.records[-1].offset + 1 if batch.records else base
        spare = maker.dice.choice((0, 1, 1000)) if maker.dice.random() < 0.3 or not batch.records else None
        horizon = maker.dice.choice((0, NOW)) if maker.dice.random() < 0.1 else None
        last = None if spare is None else base + spare
        yield batch.encoded(maker.dice.choice(levels(codec)), last, horizon), batch.read()
        base = base if last is None else last + 1


def levels(codec: int) -> tuple[int | None, ...]:
    found = CODECS[codec].levels
    return (None,) if found is None else (None, max(found.lowest, -7), min(found.highest, 19))


def test_we_read_and_write_kafkas(
    witness: Witness, codec: int, stamped: int, dose: int, record_property: Count
) -> None:
    maker = Maker((SEED, codec, stamped, "built"), strict=True)
    batches = [maker.batch(codec, stamped, maker.dice.choice(BASES)) for _ in range(2 * buffers_for(dose))]
    for batch, data in zip(batches, built(witness, batches), strict=True):
        assert decode_all(data) == batch.read()
        header, ours = read_header(data), batch.encoded()
        again = read_header(ours)
        assert body_of(data, 0, header) == body_of(ours, 0, again) == scan_records(data, 0, header).body
        if codec == 0:
            assert data == ours
        assert plain(header) == plain(again)
    record_property("batches", len(batches))


def plain(header: BatchHeader) -> dict[str, Any]:
    """All fields except those that depend on the compressed bytes, which differ between
    libraries."""
    return {name: getattr(header, name) for name in header.__slots__ if name not in ("size", "crc")}


@pytest.mark.parametrize("name", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize(("magic", "timestamps"), [(0, "create"), (1, "create"), (1, "append")])
def test_we_read_what_kafka_wrote_before_batches(
    witness: Witness, name: str, timestamps: str, magic: int, record_property: Count
) -> None:
    maker = Maker((SEED, name, timestamps, magic), strict=True)
    batches = [
        maker.batch(CODEC_NAMES[name], TYPES[timestamps], maker.dice.choice(BASES), magic=magic) for _ in range(BUFFERS)
    ]
    for batch, data in zip(batches, built(witness, batches), strict=True):
        assert decode_all(data) == batch.read()
    record_property("batches", len(batches))


CONTROL_MESSAGES = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "SNAPSHOT_HEADER": "SnapshotHeaderRecord",
    "SNAPSHOT_FOOTER": "SnapshotFooterRecord",
    "KRAFT_VERSION": "KRaftVersionRecord",
    "KRAFT_VOTERS": "VotersRecord",
}


@pytest.mark.parametrize("name", CONTROL_MESSAGES)
def test_control_batches_of_the_quorum(witness: Witness, name: str, record_property: Count) -> None:
    maker, cls = making.Maker((SEED, name)), registry.message(CONTROL_MESSAGES[name])
    for message in maker.messages(cls, 0, BUFFERS):
        offset, time, epoch = maker.dice.choice(BASES), maker.dice.choice((0, NOW)), maker.dice.choice((0, 5, INT32))
        request: dict[str, Any] = {"type": name, "offset": offset, "timestamp": time, "leaderEpoch": epoch}
        request |= {"message": cls.__name__, "json": message.to_json(0)}
        data = unhex(witness.answer("control", json.dumps(request)))
        value, kind = message.encode(0), CONTROL_NAMES.index(name)
        check_control(witness, data, name, value)
        ours = encode_control_batch(kind, value, base_offset=offset, timestamp=time, partition_leader_epoch=epoch)
        assert data == ours
    record_property("batches", BUFFERS)


@pytest.mark.parametrize("name", ["ABORT", "COMMIT"])
def test_markers_of_transactions(witness: Witness, name: str, record_property: Count) -> None:
    maker, cls = making.Maker((SEED, name)), registry.message("EndTxnMarker")
    for _ in range(BUFFERS):
        offset, time, coordinator = maker.dice.choice(BASES), maker.dice.choice((0, NOW)), maker.dice.choice((0, INT32))
        request: dict[str, Any] = {
            "type": name,
            "offset": offset,
            "timestamp": time,
            "leaderEpoch": 3,
            "coordinatorEpoch": coordinator,
        }
        data = unhex(witness.answer("control", json.dumps(request | {"producerId": 9, "producerEpoch": 4})))
        # The version precedes the value.
        value = bytes(2) + cls.from_json({"coordinatorEpoch": coordinator}, 0).encode(0)
        check_control(witness, data, name, value)
        ours = encode_control_batch(
            CONTROL_NAMES.index(name),
            value,
            base_offset=offset,
            timestamp=time,
            partition_leader_epoch=3,
            producer_id=9,
            producer_epoch=4,
            is_transactional=True,
        )
        assert data == ours
    record_property("batches", BUFFERS)


def check_control(witness: Witness, data: bytes, name: str, value: bytes) -> None:
    """Checks that we read what Kafka wrote, and that Kafka reads the same control type."""
    header = read_header(data)
    (record,) = decode_records(data)
    assert header.is_control
    assert control_type(record) == (0, CONTROL_NAMES.index(name))
    assert record.value == value
    (described_batch,) = json.loads(witness.answer("batches", data.hex())[0])
    assert described_batch == described(header, [record]) | {"records": [[*row(record), name]]}


def test_several_control_records_in_a_batch(witness: Witness, record_property: Count) -> None:
    records = [control_record(7 + kind, NOW, kind, b"\0\0" + bytes(kind)) for kind in range(len(CONTROL_NAMES))]
    batch = Batch(records, 7, control=True, leader_epoch=2)
    (data,) = built(witness, [batch])
    assert data == batch.encoded()
    (described_batch,) = json.loads(witness.answer("batches", data.hex())[0])
    assert [record[5] for record in described_batch["records"]] == list(CONTROL_NAMES)
    record_property("batches", 1)


@pytest.mark.parametrize("where", [0, 3, 17, 21, 22, 40, 60, 61, 70, -1])
def test_a_damaged_batch_is_damaged_to_both(witness: Witness, where: int) -> None:
    """Damages to any byte outside the offset and the leader epoch is detected: by the checksum, or
    by the field itself."""
    data = bytearray(Batch([Record(5, NOW, b"key", b"value")], 5).encoded())
    data[where] ^= 0x01
    theirs = witness.answer("batches", data.hex())[0]
    if where in (0, 3):
        assert json.loads(theirs)[0]["records"][0][0] == decode_all(data)[0].offset
    else:
        assert theirs.startswith("!org.apache.kafka.common.errors.CorruptRecordException")
        with pytest.raises(Exception, match="checksum"):
            decode_all(data)


def test_damaged_batches(witness: Witness, dose: int, record_property: Count) -> None:
    """The checksum is recomputed for the damage: both refuse the batch, or both read the same."""
    maker = Maker((SEED, "damaged"), strict=False)
    sent = [damaged_batch(maker) for _ in range(25 * dose)]
    refused = 0
    for data in sent:
        witness.ask("batches", data.hex())
    for data in sent:
        theirs = witness.answered()[0]
        try:
            ours = [described(header, decode_records(data, position)) for position, header in iter_batches(data)]
        except WireError:
            ours = []
        assert (json.loads(theirs) if not theirs.startswith(THROWN) else []) == readable(ours), data.hex()
        refused += not ours
    assert 0.2 * len(sent) < refused < 0.8 * len(sent)
    record_property("damaged batches", len(sent))


def damaged_batch(maker: Maker) -> bytes:
    dice = maker.dice
    while len(data := maker.batch(dice.choice((0, 0, 0, 1, 2, 3, 4)), dice.choice((0, 1)), 5).encoded()) > 4000:
        pass
    head, body = bytearray(data[:HEADER_SIZE]), data[HEADER_SIZE:]
    if dice.random() < 0.4:
        head[dice.choice(DAMAGED)] = dice.choice((0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF))
    bad = head + (damaged(body, dice) if dice.random() < 0.7 else body)
    bad[8:12] = (len(bad) - 12).to_bytes(4, "big")
    seal(bad)
    return bytes(bad)


def readable(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Names of headers as a Java client shows them: it has U+FFFD for bytes that are not UTF-8,
    while we keep them."""
    for batch in batches:
        for record in batch["records"]:
            for header in record[4]:
                header[0] = header[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return batches


def buffers_for(dose: int) -> int:
    return max(BUFFERS, dose)


def built(witness: Witness, batches: list[Batch]) -> list[bytes]:
    """The batches as Kafka's builder makes them."""
    for batch in batches:
        witness.ask("build", json.dumps(batch.as_json()))
    return [unhex(witness.answered()) for _ in batches]


def answered(witness: Witness) -> list[dict[str, Any]]:
    (text,) = witness.answered()
    assert not text.startswith("!"), text
    described_batches: list[dict[str, Any]] = json.loads(text)
    return described_batches


def unhex(answer: list[str]) -> bytes:
    assert not answer[0].startswith("!"), answer
    return bytes.fromhex(answer[0])
