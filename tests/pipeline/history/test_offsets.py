"""The offsets that groups committed, and their lag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kafkadouble import KafkaDouble, open_log
from kafkadouble.messages.coordinator import encode_key
from kafkadouble.messages.generated.offset_commit_record import OffsetCommitKey
from kafkadouble.pipeline.client import Client, OffsetAndEpoch, TopicPartition
from kafkadouble.wire.batch import Record, encode_batch

KAFKA = Path(__file__).resolve().parents[2] / "golden" / "log_directory"


def rows(path: Path, level: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = open_log(path, level=level, **options).to_table().to_pylist()
    return found


def committed(path: Path) -> list[dict[str, Any]]:
    """Ten records in two portions, a commit after each portion, and a commit for another topic."""
    of = TopicPartition("t", 0)
    with KafkaDouble(data_dir=path, stepped=True) as kafka:
        kafka.create_topic("t")
        kafka.create_topic("other")
        with Client({"bootstrap.servers": kafka.bootstrap_servers}) as client:
            for end in (4, 10):
                for _ in range(end - 4 or 4):
                    kafka.produce("t", "v")
                kafka.advance(1)
                client.commit("g", {of: OffsetAndEpoch(end - 3, 0)}, "so far")
                kafka.advance(1)
            client.commit("g", {TopicPartition("other", 0): OffsetAndEpoch(0, -1)})
    return rows(path, "offsets", table="lag")


def test_lag_is_given_as_it_was_and_as_it_is(tmp_path: Path) -> None:
    found = [row for row in committed(tmp_path) if row["topic"] == "t"]
    names = ("committed_offset", "end_offset", "lag", "end_offset_now", "lag_now", "current")
    assert [tuple(row[name] for name in names) for row in found] == [(1, 4, 3, 10, 9, False), (7, 10, 3, 10, 3, True)]
    assert {row["committed_leader_epoch"] for row in found} == {0}


def test_commits_can_be_narrowed_to_the_topics_they_are_for(tmp_path: Path) -> None:
    committed(tmp_path)
    assert {row["topic"] for row in rows(tmp_path, "offsets")} == {"t", "other"}
    only = rows(tmp_path, "offsets", topics="other")
    assert [(row["committed_offset"], row["committed_leader_epoch"], row["removed"]) for row in only] == [
        (0, None, False)
    ]


def test_lag_is_unknown_where_the_log_of_the_topic_is_not(tmp_path: Path) -> None:
    committed(tmp_path)
    for file in (tmp_path / "t-0").iterdir():
        file.unlink()
    (tmp_path / "t-0").rmdir()
    assert {row["lag"] for row in rows(tmp_path, "offsets", table="lag") if row["topic"] == "t"} == {None}


def test_a_tombstone_removes_a_commit(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-3"
    folder.mkdir()
    key = encode_key(OffsetCommitKey(group="g", topic="t", partition=1))
    (folder / "00000000000000000000.log").write_bytes(bytes(encode_batch([Record(0, 5, key, None)])))
    found = rows(folder, "offsets")
    assert [(row["group"], row["removed"], row["committed_offset"], row["offsets_partition"]) for row in found] == [
        ("g", True, None, 3)
    ]
    assert rows(folder, "offsets", table="lag") == []


def test_a_real_log_of_offsets_is_read() -> None:
    assert [
        (row["topic"], row["partition"], row["committed_offset"], row["metadata"]) for row in rows(KAFKA, "offsets")
    ] == [
        ("mixed", 0, 5, "why\0"),
        ("mixed", 1, 6, ""),
    ]
    groups = [row for row in rows(KAFKA, "offsets", table="records") if row["type"] == "GroupMetadataValue"]
    assert {json.loads(row["key"])["group"] for row in groups} == {"files"}
