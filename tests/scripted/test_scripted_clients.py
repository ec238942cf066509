"""Real clients on a scripted double: what they did in the recording, they do again, and see the
same."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafkadouble import KafkaDouble, ScriptedDouble, UsageError
from tests.support.recorded_sessions import PROGRAMS, QUIET, WAIT_S, recorded
from tests.support.serving import run

Program = Callable[[str], list[bytes]]


def record(path: Path, program: Program, *, brokers: int = 1) -> list[bytes]:
    """What the program sees while it is recorded."""
    with KafkaDouble(brokers=brokers, capture=path, capture_frames=True) as kafka:
        return program(kafka.bootstrap_servers)


@pytest.mark.timeout(120, method="thread")  # a signal does not interrupt a call inside a library
@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sees_what_it_saw(name: str, brokers: int, tmp_path: Path) -> None:
    path = tmp_path / "session.parquet"
    seen = record(path, PROGRAMS[name], brokers=brokers)
    with ScriptedDouble(path) as kafka:
        assert PROGRAMS[name](kafka.bootstrap_servers) == seen
        assert kafka.unscripted == []
        assert kafka.requests.of("ApiVersions")


def commits(bootstrap: str, *, topic: str = "orders") -> list[bytes]:
    """A session without races: a topic, one record, a group that reads it and commits."""
    servers: dict[str, Any] = {"bootstrap.servers": bootstrap, **QUIET}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(WAIT_S)
    producer = Producer(servers)
    producer.produce(topic, b"two apples")
    assert producer.flush(WAIT_S) == 0
    consumer = Consumer(
        {**servers, "group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe([topic])
    message = consumer.poll(WAIT_S)
    assert message is not None
    assert message.error() is None
    consumer.commit(message=message, asynchronous=False)
    consumer.close()
    return [message.value() or b""]


def test_a_session_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "session.parquet"
    record(path, commits)
    with ScriptedDouble(path) as kafka:
        with pytest.raises(AssertionError, match=r"not asked: request .*CreateTopics"):
            kafka.assert_complete()
        assert commits(kafka.bootstrap_servers) == [b"two apples"]
        kafka.assert_complete()


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are counted in /proc")
def test_each_start_begins_the_script_anew_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "session.parquet"
    record(path, commits)
    kafka, counts = ScriptedDouble(path), []
    for _ in range(3):
        with kafka:
            commits(kafka.bootstrap_servers)
            kafka.assert_complete()
        gc.collect()
        counts.append((len(os.listdir("/proc/self/fd")), threading.active_count()))
    assert counts[1] == counts[2]


def refuse_another_topic(bootstrap: str) -> None:
    """The client finds its connection closed, again and again."""
    admin = AdminClient({"bootstrap.servers": bootstrap, **QUIET})
    with pytest.raises(KafkaException) as refused:
        admin.create_topics([NewTopic("others", 1, 1)], request_timeout=2)["others"].result(WAIT_S)
    assert refused.value.args[0].code() in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT)


def test_request_that_was_not_recorded_ends_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "session.parquet"
    record(path, commits)
    with ScriptedDouble(path) as kafka:
        refuse_another_topic(kafka.bootstrap_servers)
        assert kafka.unscripted[0].api == "CreateTopics"
        with pytest.raises(AssertionError, match=r"not in the recording: .*CreateTopics .*others"):
            kafka.assert_complete()


def test_errors_of_the_recording_come_again(tmp_path: Path) -> None:
    """The recorded broker refused records that are too large."""
    path = tmp_path / "session.parquet"

    def produce(bootstrap: str) -> list[bytes]:
        errors: list[bytes] = []
        producer = Producer({"bootstrap.servers": bootstrap, **QUIET})
        producer.produce("orders", bytes(5000), on_delivery=lambda error, _: errors.append(str(error).encode()))
        assert producer.flush(WAIT_S) == 0
        return errors

    with KafkaDouble(capture=path, capture_frames=True, config={"message.max.bytes": "1000"}) as kafka:
        recorded_errors = produce(kafka.bootstrap_servers)
    assert b"MSG_SIZE_TOO_LARGE" in recorded_errors[0]
    with ScriptedDouble(path) as scripted:
        assert produce(scripted.bootstrap_servers) == recorded_errors


def test_scripted_double_needs_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    with KafkaDouble(capture=path) as kafka:
        AdminClient({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=WAIT_S)
    with pytest.raises(UsageError, match="is a capture without frames"):
        ScriptedDouble(path)
    with pytest.raises(UsageError, match="there is no such file"):
        ScriptedDouble(tmp_path / "absent.parquet")


@pytest.mark.parametrize("asks_for_more", [False, True])
def test_the_command(tmp_path: Path, asks_for_more: bool) -> None:
    path = tmp_path / "session.parquet"
    recorded(path, commits)
    command = [sys.executable, "-m", "kafkadouble", "scripted", str(path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        name, _, bootstrap = served.stdout.readline().strip().partition("=")
        assert name == "bootstrap.servers"
        assert commits(bootstrap) == [b"two apples"]
        if asks_for_more:
            refuse_another_topic(bootstrap)
        served.terminate()
        _, said = served.communicate(timeout=WAIT_S)
    assert served.returncode == (3 if asks_for_more else 0), said
    assert ("not in the recording: " in said) == asks_for_more


def test_the_commands_errors(tmp_path: Path) -> None:
    with KafkaDouble(capture=(path := tmp_path / "session.parquet"), capture_frames=True) as kafka:
        AdminClient({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=WAIT_S)
    with KafkaDouble() as other:
        for words, code in (
            (("absent.parquet",), 2),
            ((str(path), "--port", "0", "--run", "x"), 2),
            ((str(path), "--port", str(other.port)), 1),
        ):
            assert run("scripted", *words).returncode == code, words
