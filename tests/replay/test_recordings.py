"""What is read as a recording, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.pipeline.traffic.schema import schema
from kafkadouble.replay.recorded import recording
from kafkadouble.replay.recorded.recording import load
from tests.front.captured_requests import metadata
from tests.support.client import ask


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two requests."""
    path = tmp_path_factory.mktemp("recordings") / "session.parquet"
    with KafkaDouble(capture=path, capture_frames=True) as kafka:
        metadata(kafka, "first")
        metadata(kafka, "second")
    return path


def rewritten(session: Path, path: Path, **values: Any) -> Path:
    """The same file with other values in the first row."""
    rows = pq.read_table(session).to_pylist()
    rows[0] |= values
    pq.write_table(pa.Table.from_pylist(rows, schema=schema(True)), path)
    return path


def test_frames_are_what_was_on_the_socket(session: Path) -> None:
    found = load(session)
    assert [exchange.client_id for exchange in found.exchanges] == ["first", "second"]
    (first, _) = found.exchanges
    sent = b"".join(map(bytes, headers.write_request(MetadataRequest(topics=[]), first.correlation_id, "first", 12)))
    assert first.request_frame == sent[4:]
    assert (first.api_key, first.version, first.node) == (ApiKeys.METADATA, 12, 1)
    assert first.answer().brokers[0].node_id == 1
    assert found.brokers() == found.nodes == [1]


def test_a_request_of_a_node_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "session.parquet"
    with KafkaDouble(capture=path, capture_frames=True, controller_port=0) as kafka:
        ask(kafka.controller_bootstrap_servers, BrokerHeartbeatRequest(broker_id=7), 1, "node")
        metadata(kafka, "client")
    found = load(path)
    assert [exchange.client_id for exchange in found.exchanges] == ["client"]
    assert found.of_nodes == 1


def test_a_capture_without_frames_says_how_to_record(tmp_path: Path) -> None:
    path = tmp_path / "traffic.parquet"
    with KafkaDouble(capture=path) as kafka:
        metadata(kafka)
    with pytest.raises(UsageError, match=r"is a capture without frames: record with capture_frames=True"):
        load(path)
    with pytest.raises(UsageError, match=r"is a capture without frames: one with frames goes into another file"):
        KafkaDouble(capture=path, capture_frames=True).start()


def test_frames_need_a_path() -> None:
    with pytest.raises(UsageError, match="capture_frames without capture: say where they go"):
        KafkaDouble(capture_frames=True)


def test_the_report_on_traffic_reads_a_capture_with_frames(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from kafkadouble.__main__ import main

    assert main(["traffic", str(session)]) == 0
    assert capsys.readouterr().out.startswith("2 requests in 1 run")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"response_frame": b"\0\0\0\2\0\0"},
            r"session.parquet, request 1 of the run cannot be read: .*ResponseHeader",
        ),
        ({"request_frame": b"\0\3\0\14"}, r"request 1 of the run cannot be read: .*RequestHeader"),
        ({"request_frame": b"\x7f\xff" + bytes(20)}, r"request 1 of the run cannot be read: no API has the key 32767"),
        ({"connection": None}, "request 1 of the run: it has no time, node, connection or outcome"),
        ({"latency_us": -5}, ""),
    ],
)
def test_a_damaged_row_is_named(session: Path, tmp_path: Path, values: dict[str, Any], said: str) -> None:
    path = rewritten(session, tmp_path / "session.parquet", **values)
    if not said:
        assert len(load(path).exchanges) == 2
        return
    with pytest.raises(UsageError, match=said):
        load(path)


def test_a_request_that_no_server_could_read_is_left_out(session: Path, tmp_path: Path) -> None:
    damaged = {"request_frame": b"\0\3", "response_frame": None, "outcome": "disconnected"}
    found = load(rewritten(session, tmp_path / "session.parquet", **damaged))
    assert (len(found.exchanges), found.without_frame) == (1, 1)


def test_invalid_recording_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1]}), other)
    text = tmp_path / "text.parquet"
    text.write_text("hello")
    empty = tmp_path / "empty.parquet"
    pq.write_table(schema(True).empty_table(), empty)
    for path, said in (
        (other, "is no capture"),
        (text, "is no Parquet that can be read"),
        (empty, "has no requests"),
        (tmp_path / "absent", "there is no such file"),
    ):
        with pytest.raises(UsageError, match=said):
            load(path)


def test_a_recording_that_is_too_large_is_refused(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_BYTES", 100)
    with pytest.raises(UsageError, match="is too large: a recording has at most 0 MB"):
        load(session)
