"""Reads the request log of an Apache Kafka. The rows must equal the rows of a kafkadouble capture
of the same requests."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from interop.local import VERSION, cluster, java
from interop.support import local_kafka
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import ReadOptions, read
from kafkadouble.pipeline.traffic.removed import kept_from
from tests.support.client import ask
from tests.support.waiting import eventually

OLD = "3.9.2"
"""The last release that serves the versions that Kafka 4 removed. Its log calls them deprecated."""

LOGGING = """
status = error
appender.console.type = Console
appender.console.name = STDOUT
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
appender.requests.type = File
appender.requests.name = REQUESTS
appender.requests.fileName = {path}
appender.requests.layout.type = PatternLayout
appender.requests.layout.pattern = [%d] %p %m (%c)%n
logger.requests.name = kafka.request.logger
logger.requests.level = DEBUG
logger.requests.additivity = false
logger.requests.appenderRef.requests.ref = REQUESTS
rootLogger.level = INFO
rootLogger.appenderRefs = console
rootLogger.appenderRef.console.ref = STDOUT
"""


@contextmanager
def logging_kafka(
    folder: Path, version: str, patch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[tuple[str, Path]]:
    """A node that logs its requests: its address, and its request log."""
    path, logging = folder / "kafka-request.log", folder / "log4j2.properties"
    logging.write_text(LOGGING.format(path=path))
    patch.setattr(java, "LOGGING", logging)
    with local_kafka(request), cluster(folder, version, flags=java.quick(version)) as running:
        yield running.bootstrap, path


def logged(path: Path, client_id: str) -> list[dict[str, Any]]:
    """All rows of a log; waits until a request of this client is logged, because Kafka logs a
    request after it has sent the response."""
    return eventually(lambda: rows_of(path), lambda rows: any(row["client_id"] == client_id for row in rows))


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Rows of complete lines: the last line may be incomplete."""
    whole, problems = path.with_name("whole.log"), Problems()
    text = path.read_bytes()
    whole.write_bytes(text[: text.rfind(b"\n") + 1])
    found = [row for batch in read([whole], problems, ReadOptions(bodies=True)) for row in batch.to_pylist()]
    assert problems.named == []
    return found


def produce(bootstrap: str) -> None:
    """Writes one record, by a producer that is closed before its broker."""
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "app"})
    producer.produce("t", b"value")
    assert producer.flush(30) == 0


def test_request_log_has_the_requests_of_a_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with logging_kafka(tmp_path, VERSION, monkeypatch, request) as (bootstrap, path):
        produce(bootstrap)
        host, _, port = bootstrap.rpartition(":")
        topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
            topic="nowhere", partitions=[OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0)]
        )
        ask((host, int(port)), OffsetForLeaderEpochRequest(topics=[topic]), 4, "asks")
        rows = logged(path, "asks")
    own = [row for row in rows if row["client_id"] == "app"]
    assert [row["api"] for row in own][:2] == ["ApiVersions", "Metadata"]
    assert {row["api"] for row in own} == {"ApiVersions", "Metadata", "Produce"}, "forwarded requests are left out"
    assert {row["client_software"] for row in own} == {"confluent-kafka-python"}
    assert all(row["version"] <= row["highest"] and row["outcome"] == "answered" for row in own)
    assert all(0 <= row["latency_us"] < 60_000_000 and row["address"].startswith(f"{host}:") for row in own)
    (row_of_request,) = [row for row in rows if row["client_id"] == "asks"]
    assert (row_of_request["api"], row_of_request["version"], row_of_request["correlation_id"]) == (
        "OffsetForLeaderEpoch",
        4,
        1,
    )
    assert row_of_request["errors"] == [error_codes.UNKNOWN_TOPIC_OR_PARTITION]
    assert row_of_request["request"].startswith('{"replicaId":')
    assert row_of_request["deprecated"] is False


def test_request_log_of_kafka_3_9_marks_deprecated_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with logging_kafka(tmp_path, OLD, monkeypatch, request) as (bootstrap, path):
        produce(bootstrap)
        host, _, port = bootstrap.rpartition(":")
        # ListOffsets version 0, without topics; Kafka 4 does not have it.
        with socket.create_connection((host, int(port)), timeout=30) as sock:
            body = (-1).to_bytes(4, "big", signed=True) + (0).to_bytes(4, "big")
            frame = bytes.fromhex("0002 0000 00000001 0003") + b"old" + body
            sock.sendall(len(frame).to_bytes(4, "big") + frame)
            assert sock.recv(4, socket.MSG_WAITALL)
        rows = logged(path, "old")
    (row_of_request,) = [row for row in rows if row["client_id"] == "old"]
    assert (row_of_request["api"], row_of_request["version"], row_of_request["deprecated"]) == ("ListOffsets", 0, True)
    deprecated = {(row["api_key"], row["version"]) for row in rows if row["deprecated"]}
    assert all(version < kept_from()[key] for key, version in deprecated), (
        "Kafka 4 removed every version that 3.9 calls deprecated"
    )
