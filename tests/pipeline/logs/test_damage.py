"""Data that are broken, cut off or missing: an error with file and byte, or left out, or reported;
and never more than the broken part."""

from __future__ import annotations

import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafkadouble import open_log
from kafkadouble.pipeline.logs.segment_file import Vanished
from kafkadouble.pipeline.logs.table import LogTable
from kafkadouble.server.log.formats import BadFile, names
from kafkadouble.wire.batch_header import CRC_START, HEADER_SIZE

from . import written
from .written import FIRST

BATCHES = [written.batch(3 * number, 3, number // 2) for number in range(8)]
STARTS = [sum(len(each) for each in BATCHES[:number]) for number in range(9)]
LEVELS = ["records", "batches"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """One segment of eight batches with three records each."""
    return written.segment(tmp_path / "t-0", BATCHES)


def spoil(path: Path, at: int, data: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[at : at + len(data)] = data
    path.write_bytes(whole)


def offsets(path: Path, **options: Any) -> list[int]:
    found: list[int] = open_log(path.parent, columns=["offset"], **options).to_table()["offset"].to_pylist()
    return found


def without(*gone: int) -> list[int]:
    """The offsets of all batches except these."""
    return [offset for number in range(8) if number not in gone for offset in range(3 * number, 3 * number + 3)]


DAMAGE = {
    "a record's byte": (STARTS[3] + HEADER_SIZE + 5, b"\xff", [3]),
    "the attributes": (STARTS[3] + CRC_START, b"\x7f", [3]),
    "the magic": (STARTS[3] + 16, b"\x09", [3]),
    "a length that is too short": (STARTS[3] + 8, b"\0\0\0\x01", [3]),
    "a negative length": (STARTS[3] + 8, b"\xff\xff\xff\xf0", [3]),
    "a length past the end": (STARTS[3] + 8, b"\x00\x10\x00\x00", [3]),
    "the whole header": (STARTS[3], bytes(HEADER_SIZE), [3]),
    "the first batch": (0, bytes(HEADER_SIZE), [0]),
    "two batches": (STARTS[4] - 20, bytes(60), [3, 4]),
    "the last one's magic": (STARTS[7] + 16, b"\x09", [7]),
    "the last one's byte": (STARTS[8] - 3, b"\xff", [7]),
}


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("split", [1, 1 << 20])
def test_damaged_batches_alone_are_left_out(path: Path, what: str, split: int) -> None:
    at, data, gone = DAMAGE[what]
    spoil(path, at, data)
    assert offsets(path, on_corrupt="skip", split_bytes=split) == without(*gone)


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("split", [1, 1 << 20])
def test_damaged_batch_is_an_error_with_file_and_byte(path: Path, what: str, level: str, split: int) -> None:
    at, data, gone = DAMAGE[what]
    spoil(path, at, data)
    with pytest.raises(BadFile) as failed:
        open_log(path.parent, level=level, split_bytes=split).to_table()
    assert str(failed.value).startswith(f"{path}: ")
    assert STARTS[gone[0]] <= failed.value.offset < STARTS[gone[0] + 1]


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_batch_is_reported_in_a_row(path: Path, what: str) -> None:
    at, data, gone = DAMAGE[what]
    spoil(path, at, data)
    table = open_log(path.parent, on_corrupt="report").to_table()
    bad = table.filter(pa.compute.equal(table["crc_ok"], False)).to_pylist()
    good = table.filter(table["crc_ok"])["offset"].to_pylist()
    assert good == without(*gone)
    assert bad[0]["batch_position"] == STARTS[gone[0]]
    assert [row["value"] for row in bad] == [None] * len(bad)


@pytest.mark.parametrize("what", DAMAGE)
def test_batches_are_reported_too(path: Path, what: str) -> None:
    at, data, gone = DAMAGE[what]
    spoil(path, at, data)
    table = open_log(path.parent, level="batches", on_corrupt="report").to_table()
    good, bad = table.filter(table["crc_ok"]), table.filter(pa.compute.invert(table["crc_ok"])).to_pylist()
    assert good["base_offset"].to_pylist() == [3 * number for number in range(8) if number not in gone]
    assert (bad[0]["position"], sum(row["size"] for row in bad)) == (
        STARTS[gone[0]],
        STARTS[gone[-1] + 1] - STARTS[gone[0]],
    )
    assert open_log(path.parent, level="batches", on_corrupt="skip").to_table().select(["base_offset"]) == good.select(
        ["base_offset"]
    )


def test_checksums_may_be_left_alone(path: Path) -> None:
    spoil(path, STARTS[3] + 17, b"\0\0\0\0")
    assert offsets(path, verify_crc=False) == without()
    assert set(open_log(path.parent, level="batches", verify_crc=False).to_table()["crc_ok"].to_pylist()) == {None}


@pytest.mark.parametrize("cut", [1, 11, 12, 60, 61, 100])
@pytest.mark.parametrize("level", ["records", "batches", "segments"])
def test_log_with_a_torn_last_batch_ends_before_it(path: Path, cut: int, level: str) -> None:
    path.write_bytes(path.read_bytes()[: STARTS[7] + cut])
    table = open_log(path.parent, level=level).to_table()
    if level == "segments":
        assert table.select(["last_offset", "torn_bytes", "problem"]).to_pylist() == [
            {"last_offset": 20, "torn_bytes": cut, "problem": None}
        ]
    else:
        assert table.num_rows == {"records": 21, "batches": 7}[level]


@pytest.mark.parametrize("room", [1, 70, 5000])
def test_room_that_was_set_aside_is_the_end(path: Path, room: int) -> None:
    path.write_bytes(path.read_bytes() + bytes(room))
    assert offsets(path) == without()
    assert open_log(path.parent, level="segments").to_table()["torn_bytes"].to_pylist() == [room]


def test_only_the_last_segment_may_be_torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])
    written.segment(path.parent, [written.batch(24, 2)])
    with pytest.raises(BadFile, match=re.escape(f"{path}: ")) as failed:
        offsets(path)
    assert failed.value.offset == STARTS[7]
    assert offsets(path, on_corrupt="skip") == [*without(7), 24, 25]


def test_random_bytes_give_rows_or_the_documented_error(tmp_path: Path) -> None:
    """Bytes are changed, cut out and inserted at random."""
    chance = random.Random(11)
    for number in range(150):
        data = bytearray(b"".join(BATCHES))
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(9)] = chance.randbytes(chance.randrange(9))
        path = tmp_path / f"t-{number}" / FIRST
        path.parent.mkdir()
        path.write_bytes(data)
        for how in ("skip", "report"):
            open_log(path.parent, on_corrupt=how, include_headers=True).to_table()
        try:
            open_log(path.parent).to_table()
        except BadFile:
            continue


@pytest.fixture
def planned(path: Path) -> LogTable:
    written.segment(path.parent, [written.batch(24, 2)])
    return open_log(path.parent, columns=["offset"])


def test_a_deleted_segment_is_reported(path: Path, planned: LogTable) -> None:
    path.unlink()
    message = f"{path} does not exist: it was deleted after the reading had been planned (failOnDataLoss=false passes over it)"
    with pytest.raises(Vanished, match=re.escape(message)):
        planned.to_table()


@pytest.mark.parametrize("level", ["records", "batches", "segments"])
def test_a_deleted_segment_may_be_skipped(path: Path, level: str) -> None:
    written.segment(path.parent, [written.batch(24, 2)])
    opened = open_log(path.parent, level=level, fail_on_data_loss=False)
    path.unlink()
    assert opened.to_table().num_rows == {"records": 2, "batches": 1, "segments": 1}[level]


def test_a_segment_that_was_compacted_is_another_file(path: Path, planned: LogTable) -> None:
    cleaned = path.with_suffix(names.CLEANED)
    cleaned.write_bytes(b"".join(BATCHES[4:]))
    os.replace(cleaned, path)
    with pytest.raises(Vanished, match="is another file now: it was compacted"):
        planned.to_table()


def test_segment_that_is_about_to_be_deleted_is_read(path: Path, planned: LogTable) -> None:
    """Retention and compaction rename a file first, and delete it a minute later."""
    path.rename(path.with_name(path.name + names.DELETED))
    path.write_bytes(b"".join(BATCHES[4:]))
    assert planned.to_table()["offset"].to_pylist() == [*without(), 24, 25]


def test_segment_that_compaction_is_about_to_swap_is_read(path: Path) -> None:
    """Between the two renames of a compaction only the swap file is there, and it is read. If a
    segment file is there, it is read itself. A `.cleaned` file shows that the compaction did not
    finish, and the swap file is ignored."""
    swap = path.with_name(path.name + names.SWAP)
    swap.write_bytes(b"".join(BATCHES[4:]))
    assert offsets(path) == without()
    path.rename(path.with_name(path.name + names.DELETED))
    opened = open_log(path.parent, columns=["offset"])
    swap.rename(path)
    assert opened.to_table()["offset"].to_pylist() == without(0, 1, 2, 3)
    path.rename(swap)
    path.with_name(path.name + names.CLEANED).write_bytes(b"")
    assert offsets(path) == []


def test_batches_appended_during_a_read_are_left_for_the_next_read(path: Path) -> None:
    opened = open_log(path.parent, columns=["offset"])
    with path.open("ab") as file:
        file.write(written.batch(24, 5))
    assert opened.to_table().num_rows == 24
    assert offsets(path) == [*without(), *range(24, 29)]


def test_a_log_that_was_cut_off_ends_earlier(path: Path) -> None:
    """The log is truncated as a follower truncates its own."""
    opened = open_log(path.parent, columns=["offset"], split_bytes=1)
    with path.open("r+b") as file:
        file.truncate(STARTS[5] + 3)
    assert opened.to_table()["offset"].to_pylist() == without(5, 6, 7)


def test_a_batch_larger_than_what_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.pipeline.logs.records.RECORD_BYTES", 100)
    path = written.segment(tmp_path / "t-0", [*BATCHES[:3], written.batch(9, 50), written.batch(59, 1)])
    assert offsets(path) == list(range(60))


def test_a_folder_that_cannot_be_read_is_reported(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("a file where a folder was")
    with pytest.raises(ValueError, match="is no segment of a log"):
        open_log(path.parent)
