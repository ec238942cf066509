"""What a path contains: log directories, partitions, files, patterns, replicas; and an error of one
sentence for other content."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import UsageError, open_log
from kafkadouble.server.log.formats import names

from . import plain, written
from .written import FIRST, GOLDEN

UUID = "0123456789abcdef0123456789abcdef"


def counts(*paths: str | Path, **options: Any) -> dict[tuple[str, int], int]:
    """How many records each partition has."""
    table = open_log(list(paths), columns=["topic", "partition"], **options).to_table()
    found = table.group_by(["topic", "partition"]).aggregate([([], "count_all")]).to_pylist()
    return {(row["topic"], row["partition"]): row["count_all"] for row in found}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Two topics in one log directory."""
    written.orders(tmp_path / "data")
    return written.transactions(tmp_path / "data")


def test_a_log_directory_is_all_its_partitions() -> None:
    assert counts(GOLDEN) == {
        ("__cluster_metadata", 0): 53, ("__consumer_offsets", 0): 5, ("__transaction_state", 0): 19, ("mixed", 0): 42,
        ("mixed", 1): 36,
    }  # fmt: skip


def test_a_partition_a_file_and_a_pattern(directory: Path) -> None:
    whole = counts(directory)
    assert counts(directory / "orders-0") == {("orders", 0): whole["orders", 0]}
    assert 0 < counts(directory / "orders-0" / FIRST)["orders", 0] < whole["orders", 0]
    assert counts(directory / "orders-0" / "*") == counts(directory / "orders-0")
    assert counts(f"{directory}/*/*.log") == counts(f"file://{directory}") == whole
    assert counts(directory / "orders-0", directory / "paid-0" / FIRST)["orders", 0] == whole["orders", 0]


def test_log_directory_named_twice_is_read_once(directory: Path) -> None:
    whole = counts(directory)
    assert counts(directory, directory / "orders-0", directory / "orders-0" / FIRST) == whole
    assert counts(directory / "orders-0" / FIRST, directory / "orders-0") == counts(directory / "orders-0")
    assert counts(f"{directory}/orders-0/*.log", directory / "orders-0" / FIRST) == counts(directory / "orders-0")


def test_a_relative_path_is_reported_as_it_was_given(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(directory.parent)
    table = open_log("data", columns=["replica"]).to_table()
    assert set(table["replica"].to_pylist()) == {"data"}
    monkeypatch.chdir(directory / "orders-0")
    assert counts(".").keys() == {("orders", 0)}
    assert counts(FIRST).keys() == {("orders", 0)}


def test_replicas_are_distinguished_by_their_directories(directory: Path) -> None:
    other = directory.with_name("other")
    shutil.copytree(directory, other)
    for paths in ([directory, other], [directory.parent], [f"{directory.parent}/*"]):
        rows = open_log(paths, columns=["replica"], topics="orders").to_table()["replica"].to_pylist()
        assert {name: rows.count(name) for name in rows} == dict.fromkeys((str(directory), str(other)), len(rows) // 2)


def test_marked_folders_are_left_out_by_default(directory: Path) -> None:
    whole = counts(directory)
    for mark in ("delete", "future", "stray"):
        shutil.copytree(directory / "paid-0", directory / f"gone-7.{UUID}-{mark}")
    assert counts(directory) == whole
    assert counts(directory, include_marked=True) == {**whole, ("gone", 7): 3 * whole["paid", 0]}
    assert counts(directory / f"gone-7.{UUID}-stray") == {("gone", 7): whole["paid", 0]}


def test_files_that_are_marked_are_no_segments(directory: Path) -> None:
    whole = counts(directory)
    for mark in (names.DELETED, names.CLEANED, names.SWAP):
        shutil.copy(directory / "orders-0" / FIRST, directory / "orders-0" / (FIRST + mark))
    assert counts(directory) == whole


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"topics": "mixed"}, {("mixed", 0), ("mixed", 1)}),
        ({"topics": "mix*, __consumer_offsets"}, {("mixed", 0), ("mixed", 1), ("__consumer_offsets", 0)}),
        ({"topics": ["mixed"], "partitions": "1"}, {("mixed", 1)}),
        ({"topics": "mixed", "partitions": "0-3"}, {("mixed", 0), ("mixed", 1)}),
        ({"partitions": 1}, {("mixed", 1)}),
        ({"partitions": [7]}, set()),
        ({"topics": "nothing*"}, set()),
    ],
)
def test_topics_and_partitions(options: dict[str, object], expected: set[tuple[str, int]]) -> None:
    assert counts(GOLDEN, **options).keys() == expected


def test_a_new_log_directory_is_empty(tmp_path: Path) -> None:
    (tmp_path / names.META_PROPERTIES).write_text("version=1\nnode.id=1\ncluster.id=x\n")
    table = open_log(tmp_path).to_table()
    assert (table.num_rows, table.schema.names[0]) == (0, "key")


def test_a_directory_with_a_name_like_a_partition(directory: Path) -> None:
    """For example `/var/kafka-logs-1`."""
    renamed = directory.rename(directory.with_name("kafka-logs-1"))
    assert ("orders", 0) in counts(renamed)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "there is nothing at {}/nowhere"),
        ("*.log", "there is nothing at {}/*.log"),
        ("", "{} is no log directory of Kafka, no partition's folder, and has none of them in it"),
        (
            "note.txt",
            "{}/note.txt is no segment of a log and no snapshot of the metadata: their names end in .log or .checkpoint",
        ),
    ],
)
def test_a_path_without_logs_is_reported_in_a_sentence(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError) as refused:
        open_log(os.path.join(tmp_path, path).rstrip("/"))
    assert str(refused.value) == message.format(tmp_path)


@pytest.mark.parametrize("options", [{"topics": "mixed,order"}, {"starting_offsets": {"order": {"0": 1}}}])
def test_a_topic_that_is_not_there(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"there is no topic 'order' here, only __cluster_metadata, .*mixed"):
        open_log(GOLDEN, **options)


def test_every_partition_that_the_plain_reader_finds(directory: Path) -> None:
    expected = [(row["topic"], row["partition"]) for row in plain.records(directory)]
    assert counts(directory) == {each: expected.count(each) for each in expected}
