"""`kafkadouble traffic`: the report on what was captured."""

from __future__ import annotations

import csv
import json
import socket
import sys
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.pipeline.traffic.logs import kafka
from tests.support.client import ask

DELETE_TOPICS_0 = bytes.fromhex("00000015 0014 0000 00000001 0003 6f6c64 00000000 00000000")
"""Of client `old`, in a version that Kafka 4.0 removed."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a client that asks in order, and of one that asks in a version that is gone."""
    path = tmp_path_factory.mktemp("traffic") / "traffic.parquet"
    with KafkaDouble(capture=path) as double:
        address = "127.0.0.1", double.port
        ask(address, ApiVersionsRequest(client_software_name="franz-go", client_software_version="1.2"), 3, "app")
        ask(address, MetadataRequest(topics=[]), 12, "app")
        with socket.create_connection(address, timeout=30) as sock:
            sock.sendall(DELETE_TOPICS_0)
            assert sock.recv(1) == b"", "the broker closes"
    return path


def report(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["traffic", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_traffic_report_is_text(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = report(capsys, str(capture)).splitlines()
    assert lines[0].startswith("3 requests in 1 run, from 20")
    rows = [line.split() for line in lines]
    assert ["franz-go", "1.2", "ApiVersions", "3", "-", "1"] in [row[:6] for row in rows]
    assert ["unknown", "unknown", "Metadata", "12", "-", "1"] in [row[:6] for row in rows]
    assert ["franz-go", "1.2", "ApiVersions", "1", "3", "3", "5", "2"] in rows
    assert "Versions used that Kafka 4.0 removed (KIP-896)" in lines
    failed = rows[lines.index("The first request of each run that failed") + 2]
    assert failed[1] == "1"
    assert failed[-1] == "disconnected"


def test_the_report_as_json(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(report(capsys, "--json", str(capture)))
    assert (found["requests"], found["problems"]) == (3, {"count": 0, "first": []})
    assert {(row["api"], row["version"], row["error"], row["requests"]) for row in found["matrix"]} == {
        ("ApiVersions", 3, "", 1),
        ("Metadata", 12, "", 1),
        ("DeleteTopics", 0, "disconnected", 1),
    }
    assert [(row["api"], row["kept_from"], row["client_id"]) for row in found["removed"]] == [
        ("DeleteTopics", 1, "old")
    ]
    assert found["failures"][0]["time"].endswith("+00:00")


def test_traffic_table_is_written_as_csv(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(report(capsys, "--csv", "versions", str(capture)).splitlines()))
    assert [(row["client_software"], row["api"], row["behind"]) for row in rows] == [
        ("franz-go", "ApiVersions", "2"),
        ("", "DeleteTopics", "6"),
        ("", "Metadata", "1"),
    ]


def test_bad_lines_are_counted_and_the_rest_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "kafka-request.log"
    log.write_text(kafka() + "Completed request:[]\n" * 12)
    assert main(["traffic", str(log)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("1 requests in 1 run")
    lines = err.splitlines()
    assert lines[0] == f"kafkadouble traffic: {log}:2: an entry that is no JSON object"
    assert (len(lines), lines[-1]) == (11, "kafkadouble traffic: and 2 more")


def test_traffic_report_of_an_empty_capture_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    assert main(["traffic", str(log)]) == 1
    assert "has no requests in it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: there is no such file or directory"),
        (["--zone", "Nowhere/At_all", "x"], "'Nowhere/At_all' is no time zone"),
        (["--csv", "all", "x"], "invalid choice: 'all'"),
        ([], "the following arguments are required: PATH"),
    ],
)
def test_traffic_with_wrong_arguments_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["traffic", *words])
    assert message in capsys.readouterr().err


def test_traffic_without_pyarrow_names_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(SystemExit):
        main(["traffic", "x"])
    assert "pip install 'kafkadouble[columns]'" in capsys.readouterr().err
