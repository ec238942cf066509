"""The parts of the walks of foreign clients: the promise, programs that fail, builds that are made
once, the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interop.local.jars import Missing
from interop.walks import enduring, page, promise
from interop.walks import run as running
from interop.walks.conftest import ROW, WALK, WalkProperty, as_json
from interop.walks.enduring import Enduring
from interop.walks.matrix import row
from interop.walks.programs import PROGRAMS
from interop.walks.promise import BEHAVIOURS, DIGEST, differences, expected, parsed
from interop.walks.run import Ended, ended, faults
from interop.walks.toolchains.building import ALL, Program, Toolchain, built, fingerprint

WALKED = expected("some", "1.0", "walk")


def nothing(folder: Path) -> None:
    """The build of programs that need none."""


def program(script: str, **row: Any) -> Program:
    """A program that runs a line of Python."""
    arguments = {"toolchain": Toolchain("Python", Path(__file__).parent / "no-such-folder", nothing), **row}
    return Program("some", "some", "1.0", command=lambda folder: [sys.executable, "-c", script], **arguments)


def saying(verb: str, **other: Any) -> Program:
    line = json.dumps({**expected("some", "1.0", verb)._asdict(), **other})
    return program(f"print('and this', {line!r}, sep=chr(10))")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKADOUBLE_CACHE", str(tmp_path / "cache"))


def test_fnv1a_has_the_published_values() -> None:
    assert promise.fnv1a(b"") == 0x811C9DC5
    assert promise.fnv1a(b"foobar") == 0xBF9CF968


def test_the_digest_depends_on_a_null_key_and_on_no_order() -> None:
    with_key = promise.print_of(b"none", b"k1", b"v")
    assert with_key != promise.print_of(b"none", None, b"v")
    sums = [promise.print_of(record.codec.encode(), record.key, record.value) for record in promise.records()]
    assert sum(reversed(sums)) % 2**32 == DIGEST


def test_tenth_record_of_each_ten_has_no_key() -> None:
    assert [promise.record("lz4", number).key for number in (8, 9, 49, 50)] == [b"k8", None, None, b"k0"]


def test_a_verb_reports_its_own_behaviours_only() -> None:
    assert list(expected("some", "1.0", "walk").behaviours) == list(BEHAVIOURS)
    assert "read" not in expected("some", "1.0", "write").behaviours
    assert "create_topic" not in expected("some", "1.0", "read").behaviours


def test_transactions_are_expected_where_they_are_served() -> None:
    assert WALKED.behaviours["transactions"] == "not tried"
    assert expected("some", "1.0", "walk", transactions=True).behaviours["transactions"] == "pass"
    assert expected("some", "1.0", "walk", ["transactions"], True).behaviours["transactions"] == "not offered"


def test_a_program_without_groups_commits_nothing() -> None:
    assert expected("some", "1.0", "read", ["commit"]).committed == 0


def test_differing_parts_of_a_report_are_faults() -> None:
    other = WALKED._replace(digest=1, behaviours={**WALKED.behaviours, "read": "fail: late", "more": "pass"})
    assert differences(other, WALKED) == [
        f"digest: 1, not {DIGEST}",
        "read: fail: late, not pass",
        "more: pass, not of this verb",
    ]


@pytest.mark.parametrize("line", ["", "[]", "{}", '{"client": "some"}', "no object"])
def test_report_of_a_walk_program_that_is_no_object_is_refused(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own and ours
        parsed(line)


def test_the_object_is_the_last_line() -> None:
    assert faults(saying("walk"), "walk", running.run(saying("walk"), "walk", "b", "t", "g")) == []


def test_an_exit_code_is_a_fault_with_any_report() -> None:
    end = Ended(3, WALKED, "", "the end of it")
    assert faults(saying("walk"), "walk", end) == ["exit code 3", "the end of it"]


def test_a_behaviour_that_the_row_has_not_is_not_offered() -> None:
    row = saying("walk")._replace(not_offered={"null_header": "cannot"})
    assert faults(row, "walk", Ended(0, WALKED, "", ""))[0] == "null_header: pass, not not offered"


def test_the_version_of_the_system_is_any() -> None:
    assert faults(saying("walk")._replace(version=""), "walk", Ended(0, WALKED, "", "")) == []
    assert (
        faults(saying("walk")._replace(version="2"), "walk", Ended(0, WALKED, "", ""))[0] == "version: '1.0', not '2'"
    )


def test_the_output_of_a_program_without_an_object_is_kept() -> None:
    silent = program("import sys; print('hello'); sys.exit('no broker')")
    (fault,) = faults(silent, "walk", running.run(silent, "walk", "b", "t", "g"))
    assert "exit code 1" in fault
    assert "hello" in fault
    assert "no broker" in fault


def test_a_program_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATIENCE", 0.5)
    end = ended([sys.executable, "-c", "__import__('threading').Event().wait()"])
    assert (end.code, end.result) == (-9, None)


def test_only_the_end_of_the_output_of_a_program_is_kept() -> None:
    end = ended([sys.executable, "-c", "import sys; sys.stderr.write('x' * 100_000 + 'end')"])
    assert len(end.stderr) == running.TAIL
    assert end.stderr.endswith("xend")


@contextmanager
def endured(line: str, gives_up_with: str) -> Iterator[Enduring]:
    """A program that prints a line while brokers die."""
    one = Enduring(program(f"print({line!r})", gives_up_with=gives_up_with), "b", "t", "g")
    try:
        one.end()
        yield one
    finally:
        one.close()


def test_a_program_that_gives_up_on_records_as_in_its_row_has_no_fault() -> None:
    with endured("> failed 0 10 refused by its old leader", "old leader") as one:
        assert enduring.faults(one, {}) == []


@pytest.mark.parametrize("line", ["> failed 0 10 late", "> wrote 0 0"])
def test_a_program_that_gives_up_on_no_record_has_outgrown_its_row(line: str) -> None:
    with endured(line, "old leader") as one:
        (fault,) = enduring.faults(one, {})
    assert fault.startswith("gave up on no record with 'old leader'")


def test_program_that_cannot_be_built_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(folder: Path) -> None:
        raise Missing("no such tool")

    absent = program("")._replace(toolchain=Toolchain("None", Path(__file__).parent / "none", missing))
    opened: list[str] = []
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: opened.append("one"))
    with pytest.raises(Missing, match="no such tool"):
        Enduring(absent, "b", "t", "g")
    assert not opened


class Counted:
    """A toolchain that counts its builds."""

    def __init__(self, sources: Path, failing: int = 0, slow: bool = False) -> None:
        self.builds, self._failing = 0, failing
        self.toolchain = Toolchain("Some", sources, self._build, slow)

    def _build(self, folder: Path) -> None:
        assert list(folder.iterdir()) == []
        self.builds += 1
        (folder / "half").touch()
        if self.builds <= self._failing:
            raise Missing("no compiler")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder for sources, beside the cache."""
    (tmp_path / "sources").mkdir()
    return tmp_path / "sources"


def test_walk_program_is_built_once_for_the_same_sources(sources: Path) -> None:
    counted = Counted(sources)
    first = built(counted.toolchain)
    assert built(counted.toolchain) == first
    (sources / "main.c").write_text("int main;")
    assert built(counted.toolchain) != first
    assert counted.builds == 2


def test_failed_build_of_a_walk_program_begins_again(sources: Path) -> None:
    counted = Counted(sources, failing=1)
    with pytest.raises(Missing, match="no compiler"):
        built(counted.toolchain)
    assert (built(counted.toolchain) / "half").exists()
    assert counted.builds == 2


def test_programs_that_compile_for_minutes_run_on_request(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(sources, slow=True)
    monkeypatch.delenv(ALL, raising=False)
    with pytest.raises(Missing, match=ALL):
        built(counted.toolchain)
    monkeypatch.setenv(ALL, "1")
    built(counted.toolchain)
    monkeypatch.delenv(ALL)
    built(counted.toolchain)  # built already
    assert counted.builds == 1


def test_fingerprint_ignores_files_that_tools_leave_among_the_sources(tmp_path: Path) -> None:
    before = fingerprint(tmp_path)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "some.js").touch()
    assert fingerprint(tmp_path) == before
    (tmp_path / "some.js").touch()
    assert fingerprint(tmp_path) != before


def test_a_row_has_the_faults_of_each_reader_and_the_readers_that_are_left_out() -> None:
    def missing(folder: Path) -> None:
        raise Missing("no such tool")

    readers = [
        saying("read"),
        saying("read", digest=7)._replace(name="wrong"),
        saying("read")._replace(name="blind", blind_to="sees no nulls"),
        saying("read")._replace(name="absent", toolchain=Toolchain("None", Path(__file__).parent / "none", missing)),
    ]
    found = row(saying("write"), readers, "nowhere")
    assert list(found.wrong) == ["wrong"]
    assert found.cells["some"] == []
    assert found.left_out == {"blind": "sees no nulls", "absent": "no such tool"}


def test_a_reader_blind_to_null_headers_reads_records_without_them() -> None:
    writer = saying("write")._replace(not_offered={"null_header": "cannot"})
    assert row(writer, [saying("read")._replace(blind_to="sees no nulls")], "nowhere").left_out == {}


def test_the_table_of_programs_is_whole() -> None:
    names = [each.name for each in PROGRAMS]
    assert len(set(names)) == len(names)
    for each in PROGRAMS:
        assert set(each.not_offered) <= set(BEHAVIOURS), each.name
        assert each.verbs <= {*promise.VERBS, promise.ENDURE}, each.name
        assert each.toolchain.sources.is_dir(), each.name


def results(**behaviours: str) -> page.Results:
    """Results with two brokers, the second with these behaviours."""
    walk, other = WALKED._asdict(), {**WALKED._asdict(), "behaviours": {**WALKED.behaviours, **behaviours}}
    cells = {"writer": "some", "cells": {"some": [], "wrong": ["late", "exit code 1"]}, "left_out": {}}
    found = [
        WalkProperty("double", WALK, walk),
        WalkProperty("double", ROW, cells),
        WalkProperty("local 4.4.0", WALK, other),
    ]
    made: page.Results = json.loads(as_json(found))
    return made


def test_a_cell_is_one_mark_where_brokers_agree() -> None:
    made = page.as_markdown(results(transactions="pass", read="fail: late"), [saying("walk")], frozenset())
    (line,) = [line for line in made.splitlines() if line.startswith("| some (Python)")]
    assert [cell.strip() for cell in line.split("|")][3:-1] == ["✓"] * 8 + ["✓ / ✗"] + ["✓"] * 7 + ["· / ✓"]
    assert "kafkadouble / Apache Kafka 4.4.0" in made
    assert "- kafkadouble: 1 writers, 2 readers, 2 cells; not wrong what some wrote." in made


def test_a_program_that_was_not_run_is_on_the_page() -> None:
    made = page.as_markdown(results(), [saying("walk")._replace(name="other", package="other")], frozenset())
    assert "| other (Python) | 1.0 | ? |" in made


def test_served_api_is_not_on_the_page_as_lacking() -> None:
    assert "| SASL | not in" in page.as_markdown({}, [], frozenset({"EndQuorumEpoch"}))
    assert "| SASL | not in" not in page.as_markdown({}, [], frozenset({"SaslAuthenticate"}))


def test_lacks_name_apis_that_kafka_has() -> None:
    from kafkadouble.messages.registry import apis

    assert {api for lack in page.LACKS for api in lack.apis} <= {api.name for api in apis()}
