"""`kafkadouble dump --parquet`: the table of `open_log` in a file, a progress bar on a terminal,
and no incomplete file."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest

from kafkadouble import open_log
from kafkadouble.__main__ import main
from kafkadouble.cli.parts.progress import Progress, in_words

from .made import log_directory

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "log_directory"
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Maps command line words to exit code and the whole output."""

    def call(*words: object) -> tuple[int, str]:
        try:
            code = main(["dump", *map(str, words)])
        except SystemExit as left:
            code = int(left.code or 0)
        output = capsys.readouterr()
        return code, output.out + output.err

    return call


@pytest.mark.parametrize("level", ["records", "batches", "segments"])
def test_the_file_is_the_table(run: Run, tmp_path: Path, level: str) -> None:
    file = tmp_path / "made.parquet"
    assert run("--parquet", file, "--level", level, GOLDEN) == (0, "")
    expected = open_log(GOLDEN, level=level, include_headers=True, include_control=True).to_table()
    assert pyarrow.parquet.read_table(file).to_pylist() == expected.to_pylist()
    assert expected.num_rows > 4
    assert list(tmp_path.iterdir()) == [file]


def test_dump_of_several_paths_to_parquet(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "made.parquet"
    assert run("--parquet", file, GOLDEN / "mixed-0", GOLDEN / "mixed-1" / f"{0:020d}.log") == (0, "")
    assert pyarrow.parquet.read_metadata(file).num_rows == 48 + 42


def test_broken_batches_are_in_the_table_and_reported(run: Run, tmp_path: Path) -> None:
    folder = log_directory(tmp_path / "data") / "orders-0"
    path, file = folder / f"{6:020d}.log", tmp_path / "made.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert run("--parquet", file, folder) == (
        1,
        f"kafkadouble dump: broken: 1 rows of {file} describe what cannot be read\n",
    )
    assert pyarrow.parquet.read_table(file)["crc_ok"].to_pylist().count(False) == 1
    assert run("--parquet", file, "--level", "segments", folder)[0] == 1


def test_a_checkpoint_that_cannot_be_read_is_reported(run: Run, tmp_path: Path) -> None:
    data = log_directory(tmp_path / "data")
    (data / "log-start-offset-checkpoint").write_bytes(b"7\n0\n")
    code, output = run("--parquet", tmp_path / "made.parquet", data)
    assert (code, output.count("\n")) == (1, 1)
    assert output.startswith(f"kafkadouble dump: broken: {data}/log-start-offset-checkpoint: version 7 is not 0")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["--json", "--parquet", "made.parquet", str(GOLDEN)],
            "--parquet writes a table: --records, --decode, --json and --full are about text",
        ),
        (["--level", "batches", str(GOLDEN)], "--level is what a row of --parquet is"),
        (["--parquet", "made.parquet", "nowhere"], "there is nothing at nowhere"),
        (["--parquet", "nowhere/made.parquet", str(GOLDEN)], "nowhere/made.parquet.part"),
    ],
)
def test_impossible_options_are_reported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = run(*words)
    assert (code, expected in output.splitlines()[-1]) == (2, True), output
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_how(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = re.findall(r"```sh\nkafkadouble dump (--parquet [^\n]*)\n```", (ROOT / "docs" / "dump.md").read_text())
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(call)) == (0, "")
    assert pyarrow.parquet.read_metadata("records.parquet").num_rows == 48 + 42


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal_and_nowhere_else() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with Progress(4000, stream) as progress:
            progress.add(1000)
            progress.add(3000)
    assert file.getvalue() == ""
    assert terminal.getvalue().split("\r")[1:] == [
        f"[{'.' * 30}]   0% of 4 kB",
        f"[{'#' * 8}{'.' * 22}]  25% of 4 kB",
        f"[{'#' * 30}] 100% of 4 kB\n",
    ]
    assert [in_words(size) for size in (7, 1234, 2.5e9, 3e15)] == ["7 bytes", "1.23 kB", "2.5 GB", "3e+03 TB"]
