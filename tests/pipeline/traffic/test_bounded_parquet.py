"""Parquet files of few bytes that stand for gigabytes: each is read in small batches, or refused.

Two are read in a process whose memory is limited; for the others the limits are lowered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkadouble.pipeline.traffic import bounded_parquet
from kafkadouble.pipeline.traffic.parquet_pages import MOST_HEADER, pages
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import read
from kafkadouble.pipeline.traffic.schema import schema
from kafkadouble.replay.recorded.recording import load
from kafkadouble.wire.errors import UsageError, WireError

ROWS = 1 << 14
LONG = "x" * 250_000

MOST_MEMORY = 3 << 30
"""Bytes of address space: half of it are libraries and the stacks of threads."""

LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({MOST_MEMORY}, {MOST_MEMORY}))
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import read
from kafkadouble.replay.recorded.recording import load
from kafkadouble.wire.errors import UsageError
"""


def write(path: Path, columns: Mapping[str, pa.Array], *, frames: bool = False) -> Path:
    """A capture whose other columns are null."""
    rows = len(next(iter(columns.values())))
    arrays = {field.name: columns.get(field.name, pa.nulls(rows, field.type)) for field in schema(frames)}
    pq.write_table(pa.table(arrays), path, compression="zstd", dictionary_pagesize_limit=1 << 30, store_schema=False)
    return path


def same_in_each_row(text: str, rows: int = ROWS) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


def run_limited(code: str, path: Path) -> str:
    """What a process with little memory prints."""
    ended = subprocess.run([sys.executable, "-c", LIMITED + code, str(path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_long_values_in_each_row_are_read_in_small_batches(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {name: same_in_each_row(LONG) for name in ("run", "client_id", "address")})
    assert path.stat().st_size < 9_000
    code = """
problems = Problems()
rows = sum(len(batch) for batch in read([sys.argv[1]], problems))
print(rows, problems.count)
"""
    assert run_limited(code, path) == f"{ROWS} 0\n"


def test_a_recording_with_long_values_in_each_row_is_too_large(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.parquet", {"run": same_in_each_row(LONG), "outcome": same_in_each_row(LONG)}, frames=True
    )
    assert path.stat().st_size < 9_000
    code = """
try:
    load(sys.argv[1])
except UsageError as error:
    print(error)
"""
    assert run_limited(code, path) == f"{path} is too large: a recording has at most 1024 MB\n"


def test_rows_of_nulls_count_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.replay.recorded.recording.MOST_BYTES", 1 << 20)
    path = write(tmp_path / "a.parquet", {"node": pa.nulls(ROWS, pa.int32())}, frames=True)
    with pytest.raises(UsageError, match="is too large: a recording has at most 1 MB"):
        load(path)


def of_page(path: Path) -> Path:
    return write(path, {"request": pa.array([LONG, LONG + "y"])}, frames=True)


def of_list(path: Path) -> Path:
    return write(path, {"errors": pa.array([[0] * 3_000], pa.list_(pa.int16()))}, frames=True)


def of_fixed_width(path: Path) -> Path:
    return write(path, {"run": pa.nulls(3, pa.binary(1 << 20))}, frames=True)


def of_nested(path: Path) -> Path:
    return write(path, {"run": pa.nulls(3, pa.list_(pa.list_(pa.string())))}, frames=True)


REFUSED: dict[str, tuple[Any, str]] = {
    "pages": (of_page, "takes too much memory: the pages of a row group have 0 MB at once, and 0 MB are allowed"),
    "lists": (of_list, "takes too much memory: the lists of errors.list.element have 3000 elements"),
    "fixed width": (of_fixed_width, "is no capture: the column run has the type fixed_size_binary"),
    "nested": (of_nested, "is no capture: the column run has the type list<"),
}


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_parquet, "MOST_PAGE_BYTES", 300_000)
    monkeypatch.setattr(bounded_parquet, "MOST_LISTED", 2_000)


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("case", REFUSED)
def test_parquet_file_that_needs_too_much_memory_is_named(tmp_path: Path, case: str) -> None:
    make, problem = REFUSED[case]
    path, problems = make(tmp_path / "a.parquet"), Problems()
    assert list(read([path], problems)) == []
    (found,) = problems.named
    assert found.path == str(path)
    assert found.what.startswith(problem)


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("case", ["fixed width", "nested"])
def test_a_recording_of_other_types_is_refused(tmp_path: Path, case: str) -> None:
    path = REFUSED[case][0](tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"a\.parquet is no capture"):
        load(path)


def test_batches_of_short_values_have_all_rows_that_are_allowed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", {"run": same_in_each_row("a run")})
    with path.open("rb") as file:
        batches = bounded_parquet.batches(bounded_parquet.open_parquet(path), file, 1_000, ["run", "node"])
        assert [len(batch) for batch in batches] == [1_000] * 16 + [384]


def test_batches_of_long_values_have_few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_parquet, "MOST_BATCH_BYTES", 4 * len(LONG))
    path = write(tmp_path / "a.parquet", {"run": same_in_each_row(LONG, 10)})
    with path.open("rb") as file:
        batches = bounded_parquet.batches(bounded_parquet.open_parquet(path), file, 1_000, ["run", "node"])
        assert [len(batch) for batch in batches] == [3, 3, 3, 1]


# Headers of pages


@pytest.fixture
def chunk(tmp_path: Path) -> Iterator[tuple[Any, int, bytes]]:
    """A file with one column, where its pages begin, and their bytes."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x", "y", "x"]}), path, compression="none", data_page_version="2.0")
    of = pq.ParquetFile(path).metadata.row_group(0).column(0)
    with path.open("rb") as file:
        file.seek(of.dictionary_page_offset)
        yield file, of.dictionary_page_offset, file.read(of.total_compressed_size)


def test_the_sizes_of_pages_are_those_of_their_headers(chunk: tuple[Any, int, bytes]) -> None:
    file, start, data = chunk
    dictionary, page = pages(file, start, len(data))
    assert (dictionary.uncompressed_bytes, dictionary.values, dictionary.is_dictionary) == (10, 2, True)
    assert (page.values, page.is_dictionary) == (3, False)


@pytest.mark.parametrize("cut", [1, 2, 5, 9])
def test_a_header_that_is_cut_off_is_an_error(chunk: tuple[Any, int, bytes], cut: int) -> None:
    file, start, _ = chunk
    with pytest.raises(WireError, match="is cut off"):
        list(pages(file, start, cut))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x00", "has no size"),
        (b"\x15\x00\x15\x01\x15\x00\x00", "has no size"),  # a negative size
        (b"\x1e" + b"\x00" * 20, "the unknown type 14"),
        (b"\x1c" * 40, "nested too deeply"),
        (b"\x19" * 2 + b"\x19" * 40, "nested too deeply"),
        (b"\x15" + b"\xff" * 20, "a number in a header is too long"),
        (b"\x18\xff\xff\xff\xff\x07" + b"\x00" * MOST_HEADER, "is cut off"),
    ],
)
def test_invalid_parquet_page_header_is_an_error(tmp_path: Path, data: bytes, problem: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with (tmp_path / "a").open("rb") as file, pytest.raises(WireError, match=problem):
        list(pages(file, 0, len(data)))
