"""Options: whatever the spelling, and one sentence for what cannot be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kafkadouble import UsageError
from kafkadouble.pipeline.logs.levels import LEVELS, level_of, options_of
from kafkadouble.pipeline.logs.options import EARLIEST, LATEST, OPTIONS, LogOptions


@pytest.mark.parametrize("name", ["startingOffsets", "startingoffsets", "starting_offsets", "STARTING_OFFSETS"])
def test_option_names_are_compared_without_case_and_underscores(name: str) -> None:
    assert options_of("records", {name: "23"}).starting_offsets == 23


def test_log_options_have_their_defaults() -> None:
    found = options_of("records", {"topics": None})
    assert found[1:-2] == (
        (),
        (),
        EARLIEST,
        LATEST,
        None,
        None,
        "read_uncommitted",
        False,
        False,
        False,
        True,
        64 << 20,
        "fail",
        True,
    )
    assert len(OPTIONS) == len(LogOptions._fields) - 3


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("startingOffsets", "earliest", EARLIEST),
        ("startingOffsets", '{"a": {"0": 23, "1": -2}}', {"a": {0: 23, 1: -2}}),
        ("startingOffsets", {"a": {0: 23}}, {"a": {0: 23}}),
        ("endingOffsets", "latest", LATEST),
        ("endingOffsets", '{"a": {"0": -1}}', {"a": {0: -1}}),
        ("startingTimestamp", "1700000000000", 1700000000000),
        ("partitions", "0, 4-6", (range(1), range(4, 7))),
        ("topics", ("a", "b*"), ("a", "b*")),
        ("verifyCrc", "FALSE", False),
        ("includeHeaders", True, True),
    ],
)
def test_log_options_are_read(name: str, value: object, expected: object) -> None:
    found = options_of("records", {name: value})
    assert found[1 + [option.name for option in OPTIONS].index(name)] == expected


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("startingOffsets", "latest", "this is no whole number"),
        ("startingOffsets", "-1", "-1 (latest) is not for this end"),
        ("endingOffsets", '{"a": {"0": -2}}', "-2 (earliest) is not for this end"),
        ("startingOffsets", "-3", "the least is -2"),
        ("startingOffsets", '{"a": 3}', 'a mapping is like {"topic": {"0": 23}}'),
        ("startingOffsets", "{a", "this is no JSON"),
        ("startingOffsets", '{"a": {"x": 3}}', "this is no whole number"),
        ("endingTimestamp", "yesterday", "this is no whole number"),
        ("endingTimestamp", str(1 << 64), "this is too large"),
        ("partitions", "a", "'a' is no partition, and no range like 0-3"),
        ("partitions", "1-", "'1-' is no partition, and no range like 0-3"),
        ("topics", 7, "these are no names"),
        ("isolation", "committed", "choose from read_uncommitted, read_committed"),
        ("onCorrupt", "ignore", "choose from fail, skip, report"),
        ("splitBytes", "0", "the least is 1"),
        ("verifyCrc", "yes", "this is neither true nor false"),
    ],
)
def test_values_that_cannot_be(name: str, value: object, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        options_of("records", {name.lower(): value})
    assert str(refused.value) == f"option {name} cannot be {value!r}: {why}"


@pytest.mark.parametrize("level", LEVELS)
def test_an_option_that_there_is_not(level: str) -> None:
    known = sorted({option.name for option in (*OPTIONS, *level_of(level).options)}, key=str.lower)
    with pytest.raises(UsageError) as refused:
        options_of(level, {"subscribe": "a"})
    assert str(refused.value) == f"there is no option 'subscribe' at level {level}: choose from {', '.join(known)}"


def test_split_bytes_option_has_a_default_for_each_level() -> None:
    assert options_of("batches", {}).split_bytes == 4 * options_of("records", {}).split_bytes == 256 << 20
    assert options_of("batches", {"splitbytes": "7"}).split_bytes == 7


def test_unknown_level_option_is_refused() -> None:
    with pytest.raises(UsageError, match=r"there is no level 'rows': choose from records, batches, segments"):
        options_of("rows", {})


@pytest.mark.parametrize("missing", ["numpy", "pyarrow"])
def test_a_missing_package_is_reported(missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; import kafkadouble; kafkadouble.open_log('.')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        f"UsageError: a table of a log needs {missing}: pip install 'kafkadouble[columns]'"
    )
