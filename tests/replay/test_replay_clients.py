"""Recorded sessions of real clients, replayed against a double like the recorded one: it answers
the same, although it chooses other ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.replay.recorded.recording import load
from tests.support.recorded_sessions import PROGRAMS, recorded, replayed


@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_double_like_the_recorded_one_answers_the_same(name: str, brokers: int, tmp_path: Path) -> None:
    recording = recorded(tmp_path / "session.parquet", PROGRAMS[name], brokers=brokers, seed=1)
    with KafkaDouble(brokers=brokers, seed=2) as kafka:
        report = replayed(recording, kafka)
        assert report.is_same, "\n".join(report.lines())
        assert report.compared > 20


def test_ids_are_those_of_the_target(tmp_path: Path) -> None:
    """The target has other topics, producers and groups already."""
    recording = recorded(tmp_path / "session.parquet", PROGRAMS["confluent-kafka"], seed=1)
    with KafkaDouble(seed=2) as kafka:
        PROGRAMS["confluent-kafka"](kafka.bootstrap_servers, "other-")
        report = replayed(recording, kafka)
        assert report.is_same, "\n".join(report.lines())
        assert sorted(kafka.topics()) == ["in", "other-in", "other-out", "out"]


def test_the_second_replay_on_the_same_target_shows_what_is_there_already(tmp_path: Path) -> None:
    """Transactional ids, groups and topics exist. Epochs and generations that the target counts on
    cause no error."""
    recording = recorded(tmp_path / "session.parquet", PROGRAMS["confluent-kafka"])
    with KafkaDouble() as kafka:
        assert replayed(recording, kafka).is_same
        again = replayed(recording, kafka)
    assert "TOPIC_ALREADY_EXISTS" in {difference.found for difference in again.differences}
    codes = {difference.found for difference in again.differences if difference.path.endswith("errorCode")}
    assert codes == {"TOPIC_ALREADY_EXISTS"}


@pytest.mark.parametrize("data_dir", [False, True])
def test_a_double_with_files_is_recorded_like_one_without(data_dir: bool, tmp_path: Path) -> None:
    """Records that are sent from a file are in the recording, too."""
    arguments: dict[str, Any] = {"data_dir": tmp_path / "data"} if data_dir else {}
    recording = recorded(tmp_path / "session.parquet", PROGRAMS["kafka-python"], **arguments)
    with KafkaDouble() as kafka:
        assert replayed(recording, kafka).is_same


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.parquet"
    recording = recorded(path, PROGRAMS["kafka-python"])
    with KafkaDouble() as kafka:
        assert main(["replay", str(path), kafka.bootstrap_servers]) == 0
        assert capsys.readouterr().out.startswith("no differences: ")
        assert main(["replay", "--json", str(path), kafka.bootstrap_servers]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["requests"] == len(recording.exchanges)
    assert found["differences"]["count"] == len(found["differences"]["first"]) > 0
    assert {"CreateTopics", "Produce"} <= {each["api"] for each in found["differences"]["first"]}


def test_a_recording_of_a_folder_has_several_runs(tmp_path: Path) -> None:
    for _ in range(2):
        with KafkaDouble(capture=tmp_path, capture_frames=True) as kafka:
            PROGRAMS["kafka-python"](kafka.bootstrap_servers)
    with pytest.raises(ValueError, match=r"has 2 runs: choose one of \S+, \S+$") as refused:
        load(tmp_path)
    first = str(refused.value).split()[-2].rstrip(",")
    with KafkaDouble() as kafka:
        assert replayed(load(tmp_path, first), kafka).is_same


def test_topics_that_were_there_before_are_created(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.parquet"
    with KafkaDouble(capture=path, capture_frames=True) as kafka:
        kafka.create_topic("orders", partitions=2)
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        producer.produce("orders", b"value", partition=1)
        assert producer.flush(30) == 0
    with KafkaDouble(config={"auto.create.topics.enable": "false"}) as kafka:
        assert main(["replay", "--create-topics", str(path), kafka.bootstrap_servers]) == 0
        assert kafka.end_offsets("orders") == {0: 0, 1: 1}
    with KafkaDouble(config={"auto.create.topics.enable": "false"}) as kafka:
        assert main(["replay", "--patience", "1", str(path), kafka.bootstrap_servers]) == 1
    assert "UNKNOWN_TOPIC_OR_PARTITION" in capsys.readouterr().out
