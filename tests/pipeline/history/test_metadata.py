"""The history of a cluster's metadata, from the logs of a double and of Apache Kafka."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError, open_log
from kafkadouble.messages.framed import encode_record
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.pipeline.history.states import STATES
from kafkadouble.server.log.formats import BadFile
from kafkadouble.server.metadata.replay import REPLAYS
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.control import LEADER_CHANGE, encode_control_batch
from tests.server.images import image_of_log

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
KAFKA = GOLDEN / "log_directory"
SESSION_S = 20


def rows(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = open_log(path, level="metadata", table=table, **options).to_table().to_pylist()
    return found


def current(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    return [row for row in rows(path, table, **options) if row["current"]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster of three brokers, after its end: one broker died and came back, and a topic was
    deleted."""
    path = tmp_path_factory.mktemp("cluster")
    with KafkaDouble(brokers=3, stepped=True, data_dir=path) as kafka:
        kafka.create_topic("t", partitions=2, replication_factor=3, config={"retention.ms": "1000"})
        kafka.create_topic("gone", config={"cleanup.policy": "compact"})
        kafka.brokers[2].kill()
        kafka.advance(SESSION_S)
        kafka.brokers[2].start()
        kafka.advance(SESSION_S)
        kafka.delete_topic("gone")
        kafka.advance(1)
    return path / "controller"


def test_every_state_of_a_partition_is_a_row_that_ends_where_the_next_begins(cluster: Path) -> None:
    found = sorted(
        (row for row in rows(cluster, "isr_history") if (row["topic"], row["partition"]) == ("t", 0)),
        key=lambda row: row["valid_from_offset"],
    )
    assert [sorted(row["isr"]) for row in found][:3] == [[1, 2, 3], [1, 3], [1, 2, 3]]
    assert [row["valid_to_offset"] for row in found] == [*(row["valid_from_offset"] for row in found[1:]), None]
    assert [row["valid_to_time"] for row in found] == [*(row["valid_from_time"] for row in found[1:]), None]
    assert [row["current"] for row in found] == [*[False] * (len(found) - 1), True]
    assert {row["replica"] for row in found} == {str(cluster)}


def test_the_current_state_is_that_of_a_node(cluster: Path) -> None:
    log = cluster / "__cluster_metadata-0" / "00000000000000000000.log"
    image = image_of_log([log.read_bytes()])
    assert {row["topic"]: row["partitions"] for row in current(cluster, "topics")} == {
        topic.name: len(topic.partitions) for topic in image.topics.values()
    }
    partitions = {(row["topic"], row["partition"]): row for row in current(cluster, "partitions")}
    for topic in image.topics.values():
        for index, partition in topic.in_order():
            row = partitions.pop((topic.name, index))
            assert row["topic_id"] == str(topic.id)
            for name in ("leader", "leader_epoch", "partition_epoch", "leader_recovery_state"):
                assert row[name] == getattr(partition, name)
            for name in ("replicas", "isr", "adding_replicas", "removing_replicas", "elr", "last_known_elr"):
                assert row[name] == list(getattr(partition, name))
    assert partitions == {}
    assert {row["feature"]: row["level"] for row in current(cluster, "features")} == dict(image.features)
    assert {row["broker_id"]: row["broker_epoch"] for row in current(cluster, "brokers")} == {
        id: broker.epoch for id, broker in image.brokers.items()
    }


def test_a_topic_takes_its_partitions_and_configurations_with_it(cluster: Path) -> None:
    for table in ("topics", "partitions", "isr_history"):
        ended = [row for row in rows(cluster, table) if row["topic"] == "gone"]
        assert [row["current"] for row in ended] == [False]
        assert ended[0]["valid_to_offset"] > ended[0]["valid_from_offset"]
    found = {(row["resource"], row["name"]): row for row in rows(cluster, "configs")}
    assert found["gone", "cleanup.policy"]["current"] is False
    assert found["t", "retention.ms"]["value"] == "1000"
    assert found["t", "retention.ms"]["current"] is True


def test_a_broker_is_fenced_and_comes_back_in_another_life(cluster: Path) -> None:
    lives = [row for row in rows(cluster, "brokers") if row["broker_id"] == 2]
    lives.sort(key=lambda row: row["valid_from_offset"])
    assert [row["fenced"] for row in lives][:5] == [True, False, True, True, False]
    assert len({row["incarnation_id"] for row in lives}) == 2
    assert lives[-1]["endpoints"][0]["host"] == "127.0.0.1"


def test_history_can_be_read_as_of_an_offset(cluster: Path) -> None:
    death = next(row for row in rows(cluster, "isr_history") if row["topic"] == "t" and len(row["isr"]) == 2)
    before = current(cluster, "isr_history", ending_offsets=death["valid_from_offset"])
    assert {tuple(sorted(row["isr"])) for row in before if row["topic"] == "t"} == {(1, 2, 3)}
    with pytest.raises(UsageError, match="table isr_history follows from the whole log"):
        rows(cluster, "isr_history", starting_offsets=5)


def test_records_are_given_as_json(cluster: Path) -> None:
    found = rows(cluster, "records")
    assert {row["problem"] for row in found} == {None}
    topics = [json.loads(row["value"]) for row in found if row["type"] == "TopicRecord"]
    assert [topic["name"] for topic in topics] == ["t", "gone"]
    late = rows(cluster, "records", starting_offsets=10, ending_offsets=13)
    assert [row["offset"] for row in late] == [10, 11, 12]


def test_voters_are_those_of_the_quorums_own_records() -> None:
    found = rows(GOLDEN / "cluster_metadata-0", "voters")
    assert [(row["voter_id"], row["current"], row["max_kraft_version"]) for row in found] == [(1, True, 1)]


def test_a_snapshot_replaces_the_beginning_that_a_log_lost(tmp_path: Path) -> None:
    """The time since which the snapshot's state holds is not known."""
    source = next((KAFKA / "__cluster_metadata-0").glob("*-0000000001.checkpoint"))
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    shutil.copy(source, folder)
    alone = current(folder / source.name, "partitions")
    assert alone
    assert {row["valid_from_offset"] for row in alone} == {None}
    end = int(source.name.split("-")[0])
    first = alone[0]
    change = PartitionChangeRecord(topic_id=Uuid.parse(first["topic_id"]), partition_id=first["partition"], leader=7)
    batch = encode_batch([Record(end, 5, None, encode_record(change, 0))], base_offset=end)
    (folder / f"{end - 1:020}.log").write_bytes(
        bytes(encode_control_batch(LEADER_CHANGE, b"\0\0" + b"\0" * 6, base_offset=end - 1)) + bytes(batch)
    )
    changes = [
        row
        for row in rows(folder, "partitions")
        if row["topic"] == first["topic"] and row["partition"] == first["partition"]
    ]
    assert [(row["leader"], row["valid_from_offset"]) for row in changes] == [(first["leader"], None), (7, end)]


def test_a_log_that_contradicts_itself_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    change = PartitionChangeRecord(topic_id=Uuid(bytes(15) + b"5"), partition_id=0, leader=1)
    records = [
        Record(0, 5, None, encode_record(change, 0)),
        Record(1, 5, None, b"\x01\x7f\x00"),
        Record(2, 5, None, b"\x05"),
    ]
    (folder / "00000000000000000000.log").write_bytes(bytes(encode_batch(records)))
    with pytest.raises(BadFile, match=r"the record at offset 0: .* is about a topic that does not exist"):
        rows(folder, "partitions")
    assert rows(folder, "partitions", on_corrupt="skip") == []
    assert [row["problem"] is None for row in rows(folder, "records")] == [True, False, False]


def test_a_directory_without_metadata_is_refused(tmp_path: Path) -> None:
    with KafkaDouble(data_dir=tmp_path) as kafka:
        kafka.produce("t", "a")
    shutil.rmtree(tmp_path / "__cluster_metadata-0")
    with pytest.raises(UsageError, match=f"there is no log of __cluster_metadata at {tmp_path}"):
        rows(tmp_path, "topics")
    with pytest.raises(UsageError, match="option table cannot be 'nonsense': choose from records, topics"):
        rows(KAFKA, "nonsense")


def test_tables_name_records_that_there_are() -> None:
    touched = {name for state in STATES.values() for name in state.touched}
    assert touched <= REPLAYS.keys()
