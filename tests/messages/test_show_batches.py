"""Shows record batches and log files: every byte once, values as the readers return them, payloads,
streaming."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    GroupMetadataKey,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    TopicRecord,
    registry,
    show,
)
from kafkadouble.messages.coordinator import encode_key, encode_value
from kafkadouble.messages.framed import encode_record
from kafkadouble.wire.batch import COMMIT, Record, decode_all, decode_records, encode_batch, encode_control_batch, seal
from kafkadouble.wire.errors import BadLength, CorruptBatch, InvalidRecord, Truncated, WireError
from tests.messages.making import Maker
from tests.messages.row_coverage import SEED, assert_covers
from tests.wire.strategies import damaged, records

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
FILES = [*sorted((GOLDEN / "batches").glob("*.bin")), *sorted((GOLDEN / "cluster_metadata-0").glob("*[!d]"))]
FILES = [path for path in FILES if path.suffix in (".bin", ".log", ".checkpoint")]
BATCHES = b"".join(path.read_bytes() for path in FILES[:13])


def rows_of(showns: Iterable[show.Shown]) -> list[show.FieldRow]:
    return [row for shown in showns for row in shown.rows()]


def values(rows: list[show.FieldRow], name: str) -> list[object]:
    return [row.value for row in rows if row.path.endswith(f"].{name}") and "headers" not in row.path]


def test_the_golden_files_are_here() -> None:
    assert len(FILES) == 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_byte_of_what_kafka_wrote_has_its_row(path: Path) -> None:
    data = path.read_bytes()
    for kind in ("raw", "metadata"):
        batches = list(show.batches(data, records=kind if path.suffix != ".bin" else "raw"))
        assert_covers(rows_of(batches), data)
        assert [shown.error for shown in batches if shown.error] == []
    assert [record for shown in batches for record in shown.records] == decode_all(data)


@pytest.mark.parametrize("codec", range(5))
@given(made=records(least=0), transactional=st.booleans())
@settings(max_examples=25, deadline=None)
def test_rows_hold_the_keys_and_values_of_any_batch(
    codec: int, made: tuple[int, list[Record]], transactional: bool
) -> None:
    base, written = made
    last = None if written else base
    data = bytes(
        encode_batch(written, base_offset=base, compression=codec, is_transactional=transactional, last_offset=last)
    )
    shown = show.batch(b"before" + data, 6)
    rows = list(shown.rows())
    assert_covers(rows, b"before" + data, 6)
    assert shown.error is None
    assert values(rows, "key") == [record.key for record in written if record.key is not None]
    assert values(rows, "value") == [record.value for record in written if record.value is not None]
    deltas = values(rows, "offset_delta")
    assert deltas == [record.offset - base for record in written]
    assert max((row.layer for row in rows), default=0) == (1 if codec and written else 0)


@given(made=records(), codec=st.integers(0, 4), data=st.data())
@settings(max_examples=150, deadline=None)
def test_damage_is_shown_and_named_exactly_when_the_reader_refuses(
    made: tuple[int, list[Record]], codec: int, data: st.DataObject
) -> None:
    bad = data.draw(damaged(bytes(encode_batch(made[1], base_offset=made[0], compression=codec))))
    shown = show.batch(bad)
    assert_covers(list(shown.rows()), shown.data)
    assert "\n" not in shown.line()
    assert shown.tree().splitlines()[0] == shown.line()
    assert (shown.error is not None) == refuses(shown.data)


@given(data=st.data(), path=st.sampled_from(FILES[:13]))
@settings(max_examples=150, deadline=None)
def test_damage_in_old_messages_too(data: st.DataObject, path: Path) -> None:
    bad = data.draw(damaged(path.read_bytes()))
    rows = rows_of(show.batches(bad))
    covered = [row for row in rows if row.layer == 0]
    assert b"".join(row.bytes for row in covered) == bad[: covered[-1].end if covered else 0]


def refuses(data: bytes) -> bool:
    try:
        decode_records(data)
    except WireError:
        return True
    return False


def test_a_batch_as_a_tree() -> None:
    written = [Record(7, 1_700_000_000_000, b"k", None), Record(9, 1_700_000_000_005, None, b"v", (("h", b"x"),))]
    data = bytes(encode_batch(written, base_offset=7, compression=1, partition_leader_epoch=3))
    tree = show.batch(data).tree().splitlines()
    size = len(data)
    assert tree[0] == f"batch at 0, {size} bytes, magic 2: offsets 7 to 9, 2 records, epoch 3, gzip, CreateTime"
    assert "  Attributes: 0x0001 (gzip, CreateTime)" in tree
    assert "  BaseTimestamp: 1700000000000 (2023-11-14T22:13:20.000Z)" in tree
    assert tree[-3:] == [
        "  offset 7, at 2023-11-14T22:13:20.000Z, key b'k', value null",
        "  offset 9, at 2023-11-14T22:13:20.005Z, key null, value b'v'",
        "    header 'h': b'x'",
    ]


def test_a_wrong_checksum_is_named_and_the_records_are_shown_all_the_same() -> None:
    data = bytearray(encode_batch([Record(0, 5, b"k", b"v")]))
    data[-2] = ord("w")
    shown = show.batch(data)
    assert isinstance(shown.error, CorruptBatch)
    assert shown.error.path == "batch.crc"
    assert "wrong: checksum" in shown.tree()
    assert values(list(shown.rows()), "value") == [b"w"]


def test_a_broken_record_is_named_by_its_place() -> None:
    data = bytearray(encode_batch([Record(0, 5, b"k", b"v")]))
    data[65] = 0x40  # the length of the key
    seal(data)
    shown = show.batch(data)
    rows = list(shown.rows())
    assert_covers(rows, bytes(data))
    names = ("length", "attributes", "timestamp_delta", "offset_delta", "key_length")
    assert [row.path for row in rows[13:-1]] == [f"batch.records[0].{name}" for name in names]
    assert isinstance(rows[-1].value, InvalidRecord)
    assert rows[-1].value.offset == 66
    assert "batch.records[0]" in str(rows[-1].value)


def test_control_records_are_always_read() -> None:
    data = bytes(encode_control_batch(COMMIT, b"\0\0\0\0\0\7", producer_id=3, is_transactional=True))
    shown = show.batch(data)
    assert "    EndTxnMarker version 0\n      CoordinatorEpoch: 7" in shown.tree()
    assert "offset 0, at -1: COMMIT" in shown.tree()
    rows = list(shown.rows())
    assert_covers(rows, data)
    assert [row.text for row in rows if row.what == "type"] == ["1 COMMIT"]
    assert [row.value for row in rows if row.path.endswith("EndTxnMarker.coordinator_epoch")] == [7]


def test_metadata_on_request() -> None:
    value = encode_record(TopicRecord(name="orders"), 0)
    data = bytes(encode_batch([Record(0, 5, None, value), Record(1, 5, None, encode_record(NoOpRecord(), 0))]))
    assert "TopicRecord" not in show.batch(data).tree()
    shown = show.batch(data, records="metadata")
    assert "    TopicRecord version 0\n      Name: 'orders'" in shown.tree()
    assert shown.json()["records"][0]["value"]["data"]["name"] == "orders"
    rows = list(shown.rows())
    assert_covers(rows, data)
    assert [row.text for row in rows if row.what == "type"] == ["2 TopicRecord", "20 NoOpRecord"]


def test_offsets_on_request() -> None:
    key = encode_key(OffsetCommitKey(group="g", topic="t", partition=2))
    value = encode_value(OffsetCommitValue(offset=42, commit_timestamp=1_700_000_000_000), 3)
    tombstone = Record(1, 5, encode_key(GroupMetadataKey(group="g")), None)
    data = bytes(encode_batch([Record(0, 5, key, value), tombstone]))
    shown = show.batch(data, records="offsets")
    tree = shown.tree()
    assert "    OffsetCommitKey version 0\n      group: 'g'\n      topic: 't'\n      partition: 2" in tree
    assert "      commitTimestamp: 1700000000000 (2023-11-14T22:13:20.000Z)" in tree
    assert "offset 1, at 1970-01-01T00:00:00.005Z, value null: GroupMetadataKey" in tree
    assert_covers(list(shown.rows()), data)
    assert shown.error is None


TOPICS = {"group_coordinator": "offsets", "transaction_coordinator": "transactions", "share_coordinator": "share"}


@pytest.mark.parametrize("entry", registry.entries("coordinator-key"), ids=lambda entry: entry.name)
def test_every_record_of_every_coordinator_is_read(entry: registry.MessageType) -> None:
    maker = Maker((SEED, entry.name), longest=3)
    cls = registry.message(entry.name.removesuffix("Key") + "Value")
    key = encode_key(maker.message(entry.message, 0))
    versions = range(cls.versions[0], cls.versions[1] + 1)
    written = [Record(at, 5, key, encode_value(maker.message(cls, at), at)) for at in versions]
    data = bytes(encode_batch(written, base_offset=versions[0]))
    shown = show.batch(data, records=TOPICS[entry.family])
    assert shown.error is None
    assert_covers(list(shown.rows()), data)
    for version in versions:
        assert f"    {cls.__name__} version {version}" in shown.tree().splitlines()


@pytest.mark.parametrize("entry", registry.entries("metadata", "metadata"), ids=lambda entry: entry.name)
def test_every_metadata_record_is_read(entry: registry.MessageType) -> None:
    maker = Maker((SEED, entry.name), longest=3)
    versions = range(entry.versions[0], entry.versions[1] + 1)
    made = [Record(at, 5, None, encode_record(maker.message(entry.message, at), at)) for at in versions]
    data = bytes(encode_batch(made, base_offset=versions[0]))
    shown = show.batch(data, records="metadata")
    assert shown.error is None
    assert_covers(list(shown.rows()), data)
    for version in versions:
        assert f"    {entry.name} version {version}" in shown.tree().splitlines()


@pytest.mark.parametrize(
    ("value", "broken"),
    [(b"\x01\xff\x7f\0", False), (b"\x01\x02\x00\x07abc", True), (b"\x00\x02\x00", True), (b"\x01", True), (b"", True)],
    ids=["unknown type", "cut off", "old frame", "only a frame version", "nothing"],
)
def test_a_payload_that_cannot_be_read_is_shown_as_bytes(value: bytes, broken: bool) -> None:
    """An unknown record type may come from a later Kafka: it is not reported as damage."""
    data = bytes(encode_batch([Record(0, 5, None, value)]))
    shown = show.batch(data, records="metadata")
    assert_covers(list(shown.rows()), data)
    assert (shown.error is not None) == broken
    assert repr(value) in shown.tree()
    if broken and value:
        assert shown.error is not None
        assert shown.error.path.startswith("batch.records[0].value")
        assert 61 < shown.error.offset <= len(data)


def test_a_log_is_read_batch_by_batch() -> None:
    source = BytesIO(BATCHES)
    requested: list[int] = []

    def read(size: int) -> bytes:
        requested.append(size)
        return source.read(min(size, 100))  # a pipe may return less

    log = show.log(read)
    first = next(log)
    assert source.tell() == len(first.data)
    assert first.error is None
    rest = list(log)
    assert sum(len(shown.data) for shown in rest) + len(first.data) == len(BATCHES)
    assert max(requested) < 1000


def test_a_length_is_not_believed() -> None:
    announced: list[int] = []
    source = BytesIO(bytes(8) + b"\x06\0\0\0" + bytes(30))

    def read(size: int) -> bytes:
        announced.append(size)
        return source.read(size)

    (shown,) = show.log(read)
    assert max(announced) <= 1 << 20
    assert isinstance(shown.error, Truncated)
    (shown,) = show.batches(bytes(8) + b"\xff\xff\xff\xff" + bytes(30))
    assert isinstance(shown.error, BadLength)


def test_a_log_that_is_cut_off_ends_with_the_batch_that_shows_it() -> None:
    *whole, last = show.batches(BATCHES[:-1])
    assert [shown.error for shown in whole if shown.error] == []
    assert isinstance(last.error, Truncated)
    assert last.error.offset == last.offset
    *_, last = show.batches(BATCHES[:-1], partial=True)
    assert last.error is None
    assert "cut off" in last.line()


def test_records_inside_of_messages() -> None:
    batch = bytes(encode_batch([Record(0, 5, b"k", b"v")], compression=3))
    partition = FetchResponse.PartitionData(records=batch + batch[:20])
    message = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=[partition])])
    data = message.encode(11)
    shown = show.message(data, FetchResponse, 11)
    rows = list(shown.rows())
    assert_covers(rows, data)
    assert shown.error is None
    assert values(rows, "value") == [b"v"]
    assert rows[-1].path == "FetchResponse.responses[0].partitions[0].records"
    assert "value b'v'" in shown.tree()


def test_a_slice_of_a_snapshot_may_begin_inside_a_batch() -> None:
    batch = bytes(encode_batch([Record(0, 5, b"k", b"v")]))
    for piece, inside in ((batch, True), (batch[:40], False), (batch[3:], False)):
        partition = FetchSnapshotResponse.PartitionSnapshot(unaligned_records=piece)
        message = FetchSnapshotResponse(topics=[FetchSnapshotResponse.TopicSnapshot(name="t", partitions=[partition])])
        data = message.encode(0)
        shown = show.message(data, FetchSnapshotResponse, 0)
        assert_covers(list(shown.rows()), data)
        assert shown.error is None
        assert ("value b'v'" in shown.tree()) == inside
