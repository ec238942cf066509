"""`level=records` returns the plain reader's rows for every log that Kafka and our server wrote,
with any columns and any splits."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafkadouble import UsageError, open_log
from kafkadouble.__main__ import main
from kafkadouble.server.log.formats import names, offset_checkpoint

from . import plain, written
from .written import GOLDEN, NOW

SEEDS = [1, 2, 3]


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    """The rows in the form of the plain reader."""
    table = open_log(path, **options).to_table()
    if "timestamp" in table.schema.names:
        index = table.schema.names.index("timestamp")
        table = table.set_column(index, "timestamp", table["timestamp"].cast(pa.int64()))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


@pytest.mark.parametrize("control", [False, True])
def test_logs_of_real_kafka_are_read_as_by_the_plain_reader(control: bool) -> None:
    expected = plain.records(GOLDEN, control=control)
    assert len(expected) > 150
    assert rows(GOLDEN, include_headers=True, include_control=control) == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("split", [1, 700, 1 << 30])
def test_records_of_a_log_are_the_same_for_every_split_size(tmp_path: Path, seed: int, split: int) -> None:
    directory = written.orders(tmp_path, seed)
    assert rows(directory, include_headers=True, split_bytes=split) == plain.records(directory)


def test_small_pieces_are_cut_at_batches(tmp_path: Path) -> None:
    directory = written.orders(tmp_path, segments=1)
    pieces = open_log(directory, split_bytes=1000).pieces
    assert len(pieces) > 5
    assert sum(piece.size for piece in pieces) == sum(path.stat().st_size for path in directory.glob("*/*.log"))
    assert max(piece.size for piece in pieces) < 2500


@pytest.mark.parametrize("spoilt", ["good", "missing", "garbage", "shifted"])
def test_bounds_keep_the_records_that_they_name(tmp_path: Path, spoilt: str) -> None:
    """Bounds are exact with good and with damaged indexes."""
    directory = written.orders(tmp_path, 5)
    _spoil(directory, spoilt)
    every, chance = plain.records(directory), random.Random(7)
    end = every[-1]["offset"] + 3
    for _ in range(25):
        first, last = sorted((chance.randrange(end), chance.randrange(end)))
        expected = [row["offset"] for row in every if first <= row["offset"] < last]
        found = rows(
            directory,
            columns=["offset"],
            starting_offsets=first,
            ending_offsets=last,
            split_bytes=chance.choice([1, 1 << 20]),
        )
        assert [row["offset"] for row in found] == expected, (first, last)


@pytest.mark.parametrize("spoilt", ["good", "missing", "garbage", "shifted"])
def test_a_time_is_the_first_offset_that_is_not_earlier(tmp_path: Path, spoilt: str) -> None:
    directory = written.orders(tmp_path, 6)
    _spoil(directory, spoilt)
    every, chance = plain.records(directory), random.Random(8)
    for _ in range(20):
        start, stop = (chance.randrange(NOW - 50, NOW + 4000) for _ in range(2))
        first, last = (
            next((row["offset"] for row in every if row["timestamp"] >= at * 1000), 10**9) for at in (start, stop)
        )
        found = rows(directory, columns=["offset"], starting_timestamp=start, ending_timestamp=stop)
        assert [row["offset"] for row in found] == [row["offset"] for row in every if first <= row["offset"] < last]


def _spoil(directory: Path, how: str) -> None:
    for path in [*directory.glob("*/*.index"), *directory.glob("*/*.timeindex")]:
        data = path.read_bytes()
        if how == "missing":
            path.unlink()
        elif how == "garbage":
            path.write_bytes(random.Random(3).randbytes(len(data)))
        elif how == "shifted" and path.suffix == names.INDEX:
            # Entries that ascend, and point into the middle of batches.
            path.write_bytes(
                b"".join(
                    data[at : at + 4] + (int.from_bytes(data[at + 4 : at + 8]) + 5).to_bytes(4)
                    for at in range(0, len(data), 8)
                )
            )


def test_good_indexes_save_reading(tmp_path: Path) -> None:
    directory = written.orders(tmp_path, segments=1)
    whole, few = open_log(directory), open_log(directory, starting_offsets=100, ending_offsets=110)
    soon = open_log(directory, starting_timestamp=NOW + 2000, ending_timestamp=NOW + 2050)
    assert len(plain.records(directory)) > 200
    assert 0 < sum(piece.size for piece in few.pieces) < sum(piece.size for piece in whole.pieces) / 5
    assert 0 < sum(piece.size for piece in soon.pieces) < sum(piece.size for piece in whole.pieces) / 3


def test_segments_outside_of_the_bounds_are_not_read(tmp_path: Path) -> None:
    directory = written.orders(tmp_path, segments=4)
    bases = [int(path.stem) for path in sorted(directory.glob("*/*.log"))]
    for number, base in enumerate(bases):
        pieces = open_log(directory, starting_offsets=base, ending_offsets=base + 1).pieces
        assert [piece.segment.base_offset for piece in pieces] == [base]  # type: ignore[attr-defined]  # of this level
        assert len(open_log(directory, starting_offsets=base).pieces) == len(bases) - number


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("beside", ["index", "nothing", "no snapshot"])
def test_read_committed_leaves_out_aborted_and_open_transactions(tmp_path: Path, seed: int, beside: str) -> None:
    """With `.txnindex` files and producer snapshots, or by the markers alone."""
    directory = written.transactions(tmp_path, seed)
    for path in directory.glob("*/*"):
        if (beside == "nothing" and path.suffix != names.LOG) or (
            beside == "no snapshot" and path.suffix == names.SNAPSHOT
        ):
            path.unlink()
    expected = plain.committed(directory)
    assert 20 < len(expected) < len(plain.records(directory))
    found = rows(directory, isolation="read_committed", split_bytes=300)
    assert [(row["topic"], row["partition"], row["offset"]) for row in found] == expected


def test_read_committed_of_what_kafka_wrote() -> None:
    found = [(row["topic"], row["partition"], row["offset"]) for row in rows(GOLDEN, isolation="read_committed")]
    assert found == plain.committed(GOLDEN)
    assert len(found) < len(plain.records(GOLDEN))


def test_a_file_alone_has_its_own_transactions(tmp_path: Path) -> None:
    """A file that was copied out of a broker's folder."""
    directory = written.transactions(tmp_path / "all")
    alone = tmp_path / "copied.log"
    alone.write_bytes(b"".join(path.read_bytes() for path in sorted(directory.glob("*/*.log"))))
    found = rows(alone, isolation="read_committed")
    assert [row["offset"] for row in found] == [offset for _, _, offset in plain.committed(directory)]
    assert {(row["topic"], row["partition"], row["segment"]) for row in found} == {(None, None, "copied.log")}


def test_only_the_requested_columns_in_their_order() -> None:
    table = open_log(GOLDEN, columns=["replica", "offset"], topics="mixed").to_table()
    assert table.schema.names == ["replica", "offset"]
    assert set(table["replica"].to_pylist()) == {str(GOLDEN)}


def test_headers_only_on_request() -> None:
    assert "headers" not in open_log(GOLDEN).schema.names
    assert open_log(GOLDEN, include_headers=True).schema.names[:8] == [
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers",
    ]  # fmt: skip


def test_records_deleted_below_the_log_start_offset_are_missing(tmp_path: Path) -> None:
    directory = written.orders(tmp_path)
    (directory / names.LOG_START).write_bytes(offset_checkpoint.write({("orders", 0): 57}))
    offsets = [row["offset"] for row in rows(directory)]
    assert offsets == [row["offset"] for row in plain.records(directory) if row["offset"] >= 57]
    assert [row["offset"] for row in rows(directory / "orders-0")] == offsets
    # A single file is read whole.
    assert rows(directory / "orders-0" / written.FIRST)[0]["offset"] == 0


def test_offsets_by_topic_and_partition() -> None:
    found = rows(
        GOLDEN,
        topics=["mixed"],
        starting_offsets={"mixed": {"0": 40}},
        ending_offsets='{"mixed": {"1": 3, "0": -1}}',
        include_control=True,
    )
    seen = {index: [row["offset"] for row in found if row["partition"] == index] for index in (0, 1)}
    assert seen == {0: list(range(40, 48)), 1: [0, 1, 2]}


def test_log_records_are_those_that_dump_prints(capsys: pytest.CaptureFixture[str]) -> None:
    main(["dump", "--json", "--records", "--decode", "raw", str(GOLDEN / "mixed-1")])
    dumped = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = [
        (item["offset"], item["CreateTime"] * 1000, item["keySize"], item["valueSize"])
        for item in dumped
        if item["kind"] == "record"
    ]
    found = [
        (row["offset"], row["timestamp"], *(-1 if row[name] is None else len(row[name]) for name in ("key", "value")))
        for row in rows(GOLDEN / "mixed-1", include_control=True)
    ]
    assert found == expected
    assert len(found) == 42


def test_a_snapshot_of_the_metadata_is_read() -> None:
    path = next(GOLDEN.glob("__cluster_metadata-0/*0001.checkpoint"))
    found = rows(path)
    assert found[0]["offset"] == 1
    assert {row["segment"] for row in found} == {path.name}
    assert {row["topic"] for row in found} == {"__cluster_metadata"}


def test_a_table_is_taken_by_any_library_that_takes_arrow() -> None:
    opened = open_log(GOLDEN, topics="mixed", partitions=1)
    assert pa.RecordBatchReader.from_stream(opened).read_all() == opened.to_table()
    assert [field.type for field in opened.schema][:3] == [pa.binary(), pa.binary(), pa.string()]
    assert all(batch.schema == opened.schema for batch in opened)


def test_a_column_that_there_is_not() -> None:
    with pytest.raises(UsageError, match=r"there is no column 'ofset': choose from key, value, .*"):
        open_log(GOLDEN, columns=["ofset"])
