"""Captured traffic: what `capture` writes and where, and what is left when a process is killed or a
disk is full."""

from __future__ import annotations

import errno
import logging
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.pipeline.traffic.schema import schema
from kafkadouble.seen import capture_files, capturing
from tests.front.captured_requests import PATIENCE_S, metadata
from tests.support.client import ask
from tests.support.serving import run, serving
from tests.support.waiting import eventually


def has_lost(run: capturing.Capturing, count: int) -> bool:
    return run.lost == count


def has_parts(folder: Path, count: int) -> bool:
    return len(list(folder.glob("*.parquet"))) == count


def rows(path: Path) -> list[dict[str, Any]]:
    table = pq.read_table(path)
    assert table.schema.equals(schema())
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_a_real_clients_requests_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    with KafkaDouble(capture=path) as kafka:
        AdminClient({"bootstrap.servers": kafka.bootstrap_servers, "client.id": "app"}).list_topics(timeout=20)
    found = rows(path)
    assert [row["api"] for row in found][:2] == ["ApiVersions", "Metadata"]
    assert {row["client_id"] for row in found} == {"app"}
    assert {row["client_software"] for row in found} == {"confluent-kafka-python"}
    assert all(row["latency_us"] >= 0 and row["response_bytes"] > 0 for row in found)
    assert [path.name for path in tmp_path.iterdir()] == ["traffic.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
@pytest.mark.parametrize("name", ["requests.parquet", "folder"])
def test_capture_files_are_readable_by_their_owner_alone(name: str, tmp_path: Path) -> None:
    for _ in range(2):  # the second run joins a file
        with KafkaDouble(capture=tmp_path / name, capture_frames=True) as kafka:
            ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_frames_have_records_and_no_passwords(tmp_path: Path) -> None:
    users = {"alice": "a-password"}
    with KafkaDouble(
        capture=tmp_path / "c.parquet", capture_frames=True, security="SASL_PLAINTEXT", users=users
    ) as kafka:
        producer = Producer({**kafka.client_config("alice"), "log_level": 0})
        producer.produce("orders", b"two pears")
        assert producer.flush(20) == 0
    found = pq.read_table(tmp_path / "c.parquet").to_pylist()
    assert any(row["api"] == "Produce" and b"two pears" in row["request_frame"] for row in found)
    assert "SaslAuthenticate" in {row["api"] for row in found}
    assert not any(b"a-password" in (row["request_frame"] or b"") for row in found)


def test_a_file_is_extended_by_each_run(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    kafka = KafkaDouble(capture=path)
    for client_id in ("first", "second"):
        with kafka:
            metadata(kafka, client_id)
    found = rows(path)
    assert [row["client_id"] for row in found] == ["first", "second"]
    assert len({row["run"] for row in found}) == 2


def test_a_directory_is_shared_and_a_file_is_not(tmp_path: Path) -> None:
    with KafkaDouble(capture=tmp_path / "d") as one, KafkaDouble(capture=tmp_path / "d") as other:
        metadata(one, "one")
        metadata(other, "other")
    assert {row["client_id"] for row in rows(tmp_path / "d")} == {"one", "other"}
    path = tmp_path / "f.parquet"
    with KafkaDouble(capture=path), pytest.raises(UsageError, match=r"is being captured in .*f\.parquet already"):
        KafkaDouble(capture=path).start()


def test_capture_has_requests_of_all_brokers_also_after_a_reset(tmp_path: Path) -> None:
    with KafkaDouble(brokers=2, capture=tmp_path, capture_bodies=True) as kafka:
        metadata(kafka)
        kafka.reset()
        metadata(kafka)
    found = rows(tmp_path)
    assert [row["node"] for row in found] == [1, 2, 1, 2]
    assert len({row["connection"] for row in found}) == 4
    assert all(row["request"].startswith('{"topics":[]') and '"brokers":[{' in row["response"] for row in found)


def test_capture_without_requests_writes_no_file(tmp_path: Path) -> None:
    with KafkaDouble(capture=tmp_path / "f.parquet"):
        pass
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys, time
from kafkadouble import KafkaDouble
from kafkadouble.seen import capturing
from tests.front.captured_requests import metadata
from tests.support.waiting import eventually
capturing.LOOK_S, capturing.PART_S = 0.01, 0
kafka = KafkaDouble(capture=sys.argv[1]).start()
metadata(kafka, "killed")
eventually(lambda: any(name.startswith("2") for name in os.listdir(sys.argv[1] + ".parts")))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_capture_of_a_killed_process_keeps_complete_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    command = [sys.executable, "-c", KILLED, str(path)]
    assert subprocess.run(command, timeout=2 * PATIENCE_S, check=False).returncode < 0
    assert [row["client_id"] for row in rows(tmp_path / "traffic.parquet.parts")] == ["killed"]
    with KafkaDouble(capture=path) as kafka:
        metadata(kafka, "next")
    assert [row["client_id"] for row in rows(path)] == ["killed", "next"]


def test_a_full_disk_stops_no_client_and_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(capturing, "LOOK_S", 0.01)
    monkeypatch.setattr(capturing, "PART_S", 0)
    is_full = True
    write = capture_files._write

    def full(path: str, tables: Any, frames: bool) -> None:
        if is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, tables, frames)

    monkeypatch.setattr(capture_files, "_write", full)
    with caplog.at_level(logging.INFO, "kafkadouble"), KafkaDouble(capture=tmp_path) as kafka:
        running = kafka._double_host.running
        assert running is not None
        assert running._capturing is not None
        for lost in (1, 2):
            metadata(kafka)
            eventually(partial(has_lost, running._capturing, lost))
        is_full = False
        metadata(kafka, "later")
    messages = [record.getMessage() for record in caplog.records if "captured" in record.getMessage()]
    assert messages == [
        f"captured traffic is lost, as {tmp_path} does not take it: [Errno 28] No space left on device",
        f"1 requests captured in {tmp_path}, 2 lost",
    ]
    assert [row["client_id"] for row in rows(tmp_path)] == ["later"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_capture_writes_a_part_when_it_has_enough_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capturing, "LOOK_S", 0.01)
    monkeypatch.setattr(capturing, "PART_ROWS", 1)
    with KafkaDouble(capture=tmp_path) as kafka:
        for number in (1, 2):
            metadata(kafka)
            eventually(partial(has_parts, tmp_path, number))
    assert len(rows(tmp_path)) == 2


class TestRefusals:
    def test_existing_file_that_is_no_capture_is_refused(self, tmp_path: Path) -> None:
        other = tmp_path / "other.parquet"
        other.write_text("something else")
        with pytest.raises(UsageError, match=r"other.parquet is there, and is no file of captured traffic"):
            KafkaDouble(capture=other).start()
        (tmp_path / "file").touch()
        with pytest.raises(
            UsageError, match=r"file is a file: captured traffic goes into a directory, or a file named"
        ):
            KafkaDouble(capture=tmp_path / "file").start()
        (tmp_path / "d.parquet").mkdir()
        with pytest.raises(UsageError, match=r"d.parquet is a directory: what ends in .parquet is to be a file"):
            KafkaDouble(capture=tmp_path / "d.parquet").start()
        with pytest.raises(UsageError, match="traffic cannot be captured in"):
            KafkaDouble(capture=tmp_path / "file" / "below").start()

    def test_capture_without_pyarrow_names_the_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(UsageError, match=r"pip install 'kafkadouble\[columns\]'"):
            KafkaDouble(capture=tmp_path).start()

    def test_capture_bodies_without_a_path_is_refused(self) -> None:
        with pytest.raises(UsageError, match="capture_bodies without capture"):
            KafkaDouble(capture_bodies=True)
        done = run("serve", "--port", "0", "--capture-bodies")
        assert (done.returncode, done.stderr) == (
            2,
            "kafkadouble: --capture-bodies needs --capture, which gives the path\n",
        )

    def test_the_command_line_refuses_before_it_listens(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        done = run("serve", "--port", "0", "--capture", str(tmp_path / "file"))
        assert (done.returncode, done.stdout) == (2, "")
        assert "is a file" in done.stderr


def test_serve_captures_until_it_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    with serving("--capture", str(path), "--capture-bodies") as broker:
        broker.ask(MetadataRequest(topics=[]), 12)
        code, stderr = broker.end()
    assert code == 0
    assert f"1 requests captured in {path}, 0 lost" in stderr
    assert (
        rows(path)[0]["request"]
        == '{"topics":[],"allowAutoTopicCreation":true,"includeTopicAuthorizedOperations":false}'
    )
