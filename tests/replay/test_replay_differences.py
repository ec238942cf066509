"""A target that answers otherwise: each planted difference is found, with the request and the
field."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.replay.comparison.answer_comparison import ABSENT
from kafkadouble.replay.recorded.recording import Recording
from kafkadouble.replay.replay_run import ReplayOptions
from tests.support.recorded_sessions import IMPATIENT, PROGRAMS, recorded, replayed


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recorded(tmp_path_factory.mktemp("replay") / "session.parquet", PROGRAMS["kafka-python"])


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble() as running:
        yield running


Plant = Callable[[KafkaDouble], object]

PLANTED: dict[str, tuple[Plant, str, str, str]] = {
    "an error": (
        lambda kafka: kafka.fail("OffsetCommit", "GROUP_AUTHORIZATION_FAILED"),
        "OffsetCommit",
        "topics[0].partitions[0].errorCode",
        "GROUP_AUTHORIZATION_FAILED",
    ),
    "another offset": (
        lambda kafka: kafka.change_field("ListOffsets", "topics[*].partitions[*].offset", 7),
        "ListOffsets",
        "topics[0].partitions[0].offset",
        "7",
    ),
    "a missing element": (
        lambda kafka: kafka.change_field("Metadata", "topics", [], times=None),
        "Metadata",
        "topics[0]",
        ABSENT,
    ),
    "a closed connection": (
        lambda kafka: kafka.disconnect("JoinGroup"),
        "JoinGroup",
        "",
        "that the connection was closed",
    ),
    "no answer": (lambda kafka: kafka.ignore("JoinGroup"), "JoinGroup", "", "no answer"),
    "records that are damaged": (
        lambda kafka: kafka.corrupt_records(),
        "Fetch",
        "responses[0].partitions[0].records",
        "bytes that cannot be read",
    ),
    "bytes that are no answer": (
        lambda kafka: kafka.short_frame("FindCoordinator", 3),
        "FindCoordinator",
        "",
        "bytes that cannot be read",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_replay_finds_a_planted_difference(name: str, session: Recording, kafka: KafkaDouble) -> None:
    plant, api, path, found = PLANTED[name]
    plant(kafka)
    report = replayed(session, kafka, ReplayOptions(patience=1))
    assert not report.is_same
    at = [difference for difference in report.differences if (difference.exchange.api, difference.path) == (api, path)]
    assert any(each.found.startswith(found) for each in at), "\n".join(report.lines())


def test_a_record_that_is_missing_is_found_by_its_offset(session: Recording, kafka: KafkaDouble) -> None:
    """The target loses what acks=0 sends."""
    kafka.ignore("Produce", times=1)
    report = replayed(session, kafka)
    offsets = [difference.found for difference in report.differences if difference.path.endswith("records")]
    assert offsets, "\n".join(report.lines())


def test_replay_sends_a_request_again_after_a_retriable_error(session: Recording, kafka: KafkaDouble) -> None:
    kafka.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", times=2)
    kafka.fail("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS", times=1)
    report = replayed(session, kafka)
    assert report.is_same, "\n".join(report.lines())
    assert report.retried == 2


def test_replay_of_acks_0_sends_again_after_a_closed_connection(session: Recording, kafka: KafkaDouble) -> None:
    kafka.disconnect("Produce", times=1)
    report = replayed(session, kafka)
    assert report.is_same, "\n".join(report.lines())
    assert report.retried == 1


def test_retriable_error_that_stays_is_a_difference_of_the_replay(session: Recording, kafka: KafkaDouble) -> None:
    kafka.fail("OffsetFetch", "COORDINATOR_LOAD_IN_PROGRESS", times=None)
    report = replayed(session, kafka, ReplayOptions(patience=0.5))
    assert "COORDINATOR_LOAD_IN_PROGRESS" in {difference.found for difference in report.differences}


def test_fields_can_be_ignored(session: Recording, kafka: KafkaDouble) -> None:
    kafka.change_field("ListOffsets", "topics[*].partitions[*].offset", 7)
    assert replayed(session, kafka, IMPATIENT._replace(ignored=frozenset(("ListOffsets.offset",)))).is_same


def test_the_brokers_of_the_target_must_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "three.parquet"
    recorded(path, PROGRAMS["kafka-python"], brokers=3)
    with KafkaDouble(brokers=2) as two, pytest.raises(SystemExit, match="2"):
        main(["replay", str(path), two.bootstrap_servers.split(",")[0]])
    assert "the recording has the brokers 1, 2, 3, the target has 1, 2" in capsys.readouterr().err


def test_a_target_that_cannot_be_reached(session: Recording, capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaDouble() as kafka:
        address = kafka.bootstrap_servers
    assert main(["replay", session.path, address]) == 3
    assert "cannot be reached" in capsys.readouterr().err


def test_a_target_that_is_no_kafka(session: Recording, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer_otherwise, args=(server,))
        thread.start()
        port = server.getsockname()[1]
        assert main(["replay", session.path, f"127.0.0.1:{port}"]) == 3
        thread.join()
    assert "this is no Kafka" in capsys.readouterr().err


def _answer_otherwise(server: socket.socket) -> None:
    with server.accept()[0] as client:
        client.recv(1000)
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        client.recv(1000)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["localhost"], "a target is HOST:PORT, not 'localhost'"),
        (["localhost:0"], "a target is HOST:PORT, not 'localhost:0'"),
        (
            ["localhost:1", "--ignore", "leaderEpock"],
            "no answer has the field 'leaderEpock'; did you mean 'leaderEpoch'?",
        ),
        (["localhost:1", "--run", "x"], "has no run 'x': it has "),
        (["localhost:1", "--patience", "-1"], "-1 is no number of seconds above 0"),
    ],
)
def test_replay_with_wrong_arguments_is_refused(
    words: list[str], said: str, session: Recording, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["replay", session.path, *words])
    assert said in capsys.readouterr().err
