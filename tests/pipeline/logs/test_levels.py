"""Compares `level=batches` and `level=segments` with the plain reader, and checks the interface of
every level."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from kafkadouble import open_log
from kafkadouble.__main__ import main
from kafkadouble.pipeline.logs.batch_runs import HEADER_BYTES
from kafkadouble.pipeline.logs.levels import level_of, options_of
from kafkadouble.server.log.formats import epoch_checkpoint, names
from kafkadouble.wire.compression import codec_name

from . import plain, written
from .written import GOLDEN

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def test_batches_level_equals_the_plain_reader(tmp_path: Path) -> None:
    for directory in (GOLDEN, written.orders(tmp_path), written.transactions(tmp_path)):
        expected = [
            (
                topic, index, header.base_offset, header.last_offset, header.count, header.partition_leader_epoch, path.name,
                position, header.size, 2, codec_name(header.compression), header.is_transactional, header.is_control,
                header.producer_id, header.producer_epoch, header.base_sequence, header.crc, True, str(directory),
                EPOCH + timedelta(milliseconds=header.max_timestamp),
            )
            for topic, index, folder in plain.partitions(directory)
            for path, position, header, _ in plain.batches(folder)
        ]  # fmt: skip
        named = [
            "topic", "partition", "base_offset", "last_offset", "count", "leader_epoch", "segment", "position", "size",
            "magic", "codec", "transactional", "control", "producer_id", "producer_epoch", "base_sequence", "crc", "crc_ok",
            "replica", "max_timestamp",
        ]  # fmt: skip
        table = open_log(directory, level="batches", columns=named, split_bytes=1000).to_table()
        assert [tuple(row[name] for name in named) for row in table.to_pylist()] == expected


def test_batches_level_equals_dump_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["dump", "--json", str(GOLDEN / "mixed-0" / written.FIRST)])
    dumped = [item for item in map(json.loads, capsys.readouterr().out.splitlines()) if item["kind"] == "batch"]
    rows = open_log(GOLDEN / "mixed-0", level="batches").to_table().to_pylist()
    assert [(row["base_offset"], row["position"], row["crc"], row["codec"]) for row in rows] == [
        (item["baseOffset"], item["position"], item["crc"], item["compresscodec"]) for item in dumped
    ]


def test_batch_with_delete_horizon_has_null_base_timestamp(tmp_path: Path) -> None:
    """KIP-534 stores the delete horizon in the field of the base timestamp."""
    marked = written.batch(3, 2, delete_horizon=written.NOW + 5)
    written.segment(tmp_path / "t-0", [written.batch(0, 3), marked])
    table = open_log(tmp_path, level="batches").to_table()
    assert [at is None for at in table["base_timestamp"].to_pylist()] == [False, True]
    assert table["delete_horizon"].cast(pa.int64()).to_pylist() == [None, (written.NOW + 5) * 1000]


def test_batches_level_reads_batches_that_overlap_the_offset_range(tmp_path: Path) -> None:
    directory = written.orders(tmp_path)
    offsets = [(header.base_offset, header.last_offset) for _, _, header, _ in plain.batches(directory / "orders-0")]
    for first, end in [(50, 90), offsets[20], (offsets[20][0], offsets[30][0]), (offsets[20][1] + 1, offsets[30][1])]:
        table = open_log(directory, level="batches", starting_offsets=first, ending_offsets=end).to_table()
        expected = [base for base, last in offsets if last >= first and base < end]
        assert table["base_offset"].to_pylist() == expected


def test_segments_level_lists_each_epoch_of_a_large_segment_once(tmp_path: Path) -> None:
    """The segment is larger than one read."""
    batches = [written.batch(number, 1, number // 4, size=700_000) for number in range(8)]
    path = written.segment(tmp_path / "t-0", batches)
    assert path.stat().st_size > HEADER_BYTES
    row = open_log(tmp_path, level="segments").to_table().to_pylist()[0]
    assert [(each["epoch"], each["start_offset"]) for each in row["epochs"]] == [(0, 0), (1, 4)]
    assert open_log(tmp_path, columns=["offset"]).to_table()["offset"].to_pylist() == list(range(8))


def test_segments_level_has_a_row_for_each_segment(tmp_path: Path) -> None:
    directory = written.orders(tmp_path)
    paths = sorted(directory.glob("*/*.log"))
    rows = open_log(directory, level="segments").to_table().to_pylist()
    assert [row["segment"] for row in rows] == [path.name for path in paths]
    for row, path in zip(rows, paths, strict=True):
        headers = [header for file, _, header, _ in plain.batches(path.parent) if file == path]
        assert (row["size"], row["batches"], row["records"]) == (
            path.stat().st_size,
            len(headers),
            sum(header.count for header in headers),
        )
        assert (row["base_offset"], row["first_offset"], row["last_offset"]) == (
            int(path.stem),
            headers[0].base_offset,
            headers[-1].last_offset,
        )
        assert row["max_timestamp"] == EPOCH + timedelta(milliseconds=max(header.max_timestamp for header in headers))
        assert row["index_entries"] == path.with_suffix(names.INDEX).stat().st_size // 8
        assert row["timeindex_entries"] == path.with_suffix(names.TIME_INDEX).stat().st_size // 12
        assert (row["txnindex_entries"], row["torn_bytes"], row["bad_batches"], row["problem"]) == (None, 0, 0, None)
        epochs = {header.partition_leader_epoch: header.base_offset for header in reversed(headers)}
        assert {each["epoch"]: each["start_offset"] for each in row["epochs"]} == epochs


def test_segment_epochs_equal_the_leader_epoch_checkpoint() -> None:
    rows = open_log(GOLDEN, level="segments", topics="mixed").to_table().to_pylist()
    for row in rows:
        path = GOLDEN / f"mixed-{row['partition']}" / names.LEADER_EPOCH
        assert [(each["start_offset"], each["epoch"]) for each in row["epochs"]] == [
            (each.offset, each.epoch) for each in epoch_checkpoint.read(path.read_bytes())
        ]
        assert row["txnindex_entries"] == 3


def test_damaged_segment_reports_the_checksum_error(tmp_path: Path) -> None:
    path = written.segment(tmp_path / "t-0", [written.batch(0, 3), written.batch(3, 3), written.batch(6, 3)])
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    row = open_log(tmp_path, level="segments", on_corrupt="report").to_table().to_pylist()[0]
    assert (row["batches"], row["bad_batches"]) == (3, 1)
    assert row["problem"].startswith(f"{path}: the checksum of a batch does not match at byte ")
    with pytest.raises(ValueError, match="the checksum of a batch does not match"):
        open_log(tmp_path, level="segments").to_table()


def test_empty_segment_has_a_row_without_offsets(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / written.FIRST).touch()
    row = open_log(tmp_path, level="segments").to_table().to_pylist()[0]
    assert (row["size"], row["first_offset"], row["last_offset"], row["epochs"]) == (0, None, None, [])
    assert open_log(tmp_path).to_table().num_rows == open_log(tmp_path, level="batches").to_table().num_rows == 0


@pytest.mark.parametrize("name", ["records", "batches", "segments"])
def test_level_reads_requested_columns_from_a_pickled_plan(name: str) -> None:
    """Splits and options can be pickled, and rows have exactly the requested columns, in any
    order."""
    level, options = level_of(name), options_of(name, {"on_corrupt": "report"})
    schema = level.schema(options)
    named = list(reversed(schema.names))
    sent = pickle.loads(pickle.dumps((level.plan([GOLDEN], options), options)))
    batches = [batch for piece in sent[0] for batch in level.read(piece, named, sent[1])]
    assert batches
    assert {batch.schema for batch in batches} == {pa.schema([schema.field(column) for column in named])}
    assert all(piece.size >= 0 for piece in sent[0])
