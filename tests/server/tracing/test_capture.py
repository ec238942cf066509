"""The rows of captured traffic: one for each request, however it ends, on a connection without a
socket."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.renew_delegation_token import RenewDelegationTokenRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.bodies import bodies_of
from kafkadouble.server.tracing.capture import FIELDS, Capture
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.server.harness import NOW, Harness
from tests.server.topic_requests import appending, creating, fetching
from tests.support.listeners import BROKER

STEP = 7
"""The time that each reading of the capture clock takes, in us."""


class Line:
    """A transport that accepts every byte, and counts them."""

    def __init__(self) -> None:
        self.sent, self.closed = 0, False

    def write(self, buffers: Buffers) -> None:
        self.sent += sum(map(len, buffers))

    def close(self) -> None:
        self.closed = True

    def read_on(self, reading: bool) -> None:
        """Does nothing: there is nothing to read."""

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def others_first(self) -> None:
        """Does nothing: there are no other connections."""


class Stage:
    """A node, and one captured connection to it."""

    def __init__(self, *, bodies: bool = False) -> None:
        self.harness = Harness()
        self.harness.submit(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")]), 12)
        clock = count(1000, STEP * 1000)
        self.capture = Capture(lambda: next(clock), 999_999_000, bodies=bodies)
        self.harness.node.trace.subscribe(self.capture, self.capture.nanos)
        self.line = Line()
        self.connection = self.connect()

    def connect(self) -> Connection:
        return Connection(self.harness.node, Peer(1, "10.0.0.1", 50_001, BROKER), self.line, 1 << 20)

    def ask(self, body: Message, version: int, client_id: str = "app") -> int:
        """The number of bytes that were written."""
        data = b"".join(bytes(part) for part in headers.write_request(body, 5, client_id, version))
        self.connection.receive(data, NOW)
        while self.harness.node.waiting.is_busy:
            self.harness.node.tick(NOW)
        return len(data)

    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(FIELDS, row, strict=True)) for row in self.capture.take(1000)]

    def only(self) -> dict[str, Any]:
        (row,) = self.rows()
        return row


def produce(acks: int, topic: str = "t") -> ProduceRequest:
    batch = encode_batch([Record(0, NOW, None, b"secret", ())])
    return appending(topic, batch, acks=acks)


def test_a_row_has_the_request_and_its_outcome() -> None:
    stage = Stage()
    requested = stage.ask(ApiVersionsRequest(client_software_name="franz-go", client_software_version="1.2"), 3)
    assert stage.only() == {
        "time": 1_000_000,
        "node": 1,
        "connection": "1",
        "client_id": "app",
        "client_software": "franz-go",
        "client_version": "1.2",
        "address": "10.0.0.1:50001",
        "principal": "User:ANONYMOUS",
        "api_key": ApiKeys.API_VERSIONS,
        "version": 3,
        "request_bytes": requested,
        "response_bytes": stage.line.sent,
        "correlation_id": 5,
        "errors": (),
        "latency_us": STEP,
        "outcome": "answered",
        "highest": 5,
        "request": None,
        "response": None,
    }


def test_capture_has_error_codes_of_any_level() -> None:
    stage = Stage()
    stage.ask(produce(1, "unknown"), 9)
    assert stage.only()["errors"] == (error_codes.UNKNOWN_TOPIC_OR_PARTITION,)


def test_connections_are_numbered_over_the_whole_run() -> None:
    stage = Stage()
    stage.ask(MetadataRequest(topics=[]), 12)
    stage.connection = stage.connect()
    stage.ask(MetadataRequest(topics=[]), 12)
    assert [row["connection"] for row in stage.rows()] == ["1", "2"]


def test_a_request_that_has_no_answer_is_unanswered() -> None:
    stage = Stage()
    stage.ask(produce(0), 9)
    row = stage.only()
    assert (row["outcome"], row["response_bytes"], row["errors"]) == ("unanswered", None, ())


def test_a_client_that_leaves_abandons_its_waiting_request() -> None:
    stage = Stage()
    stage.ask(produce(1), 9)
    stage.rows()
    stage.ask(fetching("t", 1, max_wait_ms=500), 12)
    assert stage.rows() == [], "it waits"
    stage.connection.lost()
    assert stage.only()["outcome"] == "abandoned"


def test_a_client_disconnected_by_a_rule() -> None:
    stage = Stage()
    stage.harness.node.faults.arm(Rule.of(action="disconnect", api="Metadata"))
    stage.ask(MetadataRequest(topics=[]), 12)
    assert (stage.only()["outcome"], stage.line.closed) == ("disconnected", True)


def test_a_version_that_is_not_served_ends_the_connection_and_has_its_row() -> None:
    stage = Stage()
    stage.connection.receive(bytes.fromhex("0000000d 0001 0001 00000009 0003 6f6c64".replace(" ", "")), NOW)
    row = stage.only()
    assert stage.line.closed
    assert (row["api_key"], row["version"], row["correlation_id"], row["client_id"]) == (ApiKeys.FETCH, 1, 9, "old")
    assert (row["outcome"], row["request_bytes"], row["highest"]) == ("disconnected", 17, 18)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param("0063 0001 00000009 0003 6f6c64", id="an unknown API"),
        pytest.param("0003 000c 00000009 0003 6f6c64 00 ff", id="a body that cannot be read"),
    ],
)
def test_bytes_that_are_no_request_have_as_much_of_a_row_as_is_there(frame: str) -> None:
    stage = Stage()
    data = bytes.fromhex(frame)
    stage.connection.receive(len(data).to_bytes(4, "big") + data, NOW)
    row = stage.only()
    assert (row["outcome"], row["client_id"], row["correlation_id"]) == ("disconnected", "old", 9)


def test_bytes_without_a_header_have_none() -> None:
    stage = Stage()
    stage.connection.receive(b"\0\0\0\2\0\3", NOW)
    assert (stage.rows(), stage.line.closed) == ([], True)


def test_api_versions_of_the_future_are_answered_with_an_error() -> None:
    stage = Stage()
    stage.connection.receive(bytes.fromhex("0000000e 0012 0063 00000009 0003 6f6c64 00".replace(" ", "")), NOW)
    row = stage.only()
    assert (row["outcome"], row["errors"]) == ("answered", (error_codes.UNSUPPORTED_VERSION,))
    assert row["response_bytes"] == stage.line.sent


def test_memory_is_bounded_while_the_rows_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkadouble.server.tracing.capture.MOST_ROWS", 3)
    stage = Stage()
    for _ in range(5):
        stage.ask(MetadataRequest(topics=[]), 12)
    assert (len(stage.capture), stage.capture.lost) == (3, 2)
    assert len(stage.rows()) == 3
    stage.ask(MetadataRequest(topics=[]), 12)
    assert len(stage.capture) == 1


def test_captured_client_names_are_bounded() -> None:
    stage = Stage()
    name = "n" * 30_000
    stage.ask(ApiVersionsRequest(client_software_name=name, client_software_version=name), 3, client_id=name)
    row = stage.only()
    assert [row[name] for name in ("client_id", "client_software", "client_version")] == ["n" * 255] * 3


class TestBodies:
    def test_are_kafkas_json_without_the_records(self) -> None:
        stage = Stage(bodies=True)
        stage.ask(produce(1), 9)
        row = stage.only()
        request, response = json.loads(row["request"]), json.loads(row["response"])
        assert request["topicData"] == [{"name": "t", "partitionData": [{"index": 0, "records": ""}]}]
        assert response["responses"][0]["partitionResponses"][0]["baseOffset"] == 0

    def test_of_a_fetch_leave_the_records_where_they_are(self) -> None:
        stage = Stage(bodies=True)
        stage.ask(produce(1), 9)
        stage.ask(fetching("t"), 12)
        row = stage.rows()[1]
        assert json.loads(row["response"])["responses"][0]["partitions"][0]["records"] == ""
        assert row["response_bytes"] > 61 + len("secret"), "the client got them"

    def test_contain_no_secret(self) -> None:
        proof = _request(RenewDelegationTokenRequest(hmac=b"password"), ApiKeys.RENEW_DELEGATION_TOKEN, 2)
        assert bodies_of(proof, None) == (None, None)

    def test_contain_no_value_of_a_configuration(self) -> None:
        body = creating("t", configs={"some.password": "password"})
        requested, _ = bodies_of(_request(body, ApiKeys.CREATE_TOPICS, 7), None)
        assert json.loads(requested or "")["topics"][0]["configs"] == [{"name": "some.password", "value": None}]

    def test_captured_request_bodies_wait_up_to_a_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kafkadouble.server.tracing.capture.MOST_TEXT", 100)
        stage = Stage(bodies=True)
        for _ in range(3):
            stage.ask(MetadataRequest(topics=[]), 12)
        assert (len(stage.capture), stage.capture.lost) == (1, 2)
        stage.rows()
        stage.ask(MetadataRequest(topics=[]), 12)
        assert len(stage.capture) == 1


def _request(body: Any, api_key: int, version: int) -> Request[Any]:
    return Request(api_key, version, 1, "app", body, Peer(1, "h", 1, BROKER), NOW, 10)
