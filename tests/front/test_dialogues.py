"""Answers given as bytes, and lists of answers, over sockets, over JSON and in reports."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.actions import Disconnect, Respond
from kafkadouble.common.errors import UsageError
from kafkadouble.messages import headers
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.apis.served import TABLE
from kafkadouble.server.requests.origin import NODE_APIS
from kafkadouble.verbs.registry import VERBS
from tests.front.hello import HELLO, connect, received
from tests.support.client import ask

LOGINS = ("SaslHandshake", "SaslAuthenticate")
"""A PLAINTEXT listener closes the connection for them."""

GARBAGE = b"\xff\xfe"
HEARTBEAT = HeartbeatRequest(group_id="g", member_id="m")


@pytest.fixture(scope="module")
def double() -> Iterator[KafkaDouble]:
    with KafkaDouble() as kafka:
        yield kafka


@pytest.fixture
def kafka(double: KafkaDouble) -> Iterator[KafkaDouble]:
    yield double
    double.reset()


def frame(kafka: KafkaDouble, request: bytes) -> bytes:
    """The whole answer to a request, with its size."""
    with connect(kafka) as sock:
        sock.sendall(request)
        size = received(sock, 4)
        return size + received(sock, int.from_bytes(size, "big"))


def heartbeat(kafka: KafkaDouble) -> HeartbeatResponse | None:
    """None if the connection is closed."""
    try:
        answer: HeartbeatResponse = ask(("127.0.0.1", kafka.port), HEARTBEAT, 4)
    except ConnectionError:
        return None
    return answer


def test_the_header_is_made_and_the_body_is_exact(kafka: KafkaDouble) -> None:
    metadata = b"".join(headers.write_request(MetadataRequest(topics=[]), 9, "test", 12))
    kafka.respond("ApiVersions", GARBAGE)
    kafka.respond("Metadata", GARBAGE)
    # ApiVersions has the response header 0 in every version, and Metadata 12 a tag buffer.
    assert frame(kafka, HELLO) == struct.pack(">ii", 6, 7) + GARBAGE
    assert frame(kafka, metadata) == struct.pack(">iib", 7, 9, 0) + GARBAGE
    seen = kafka.requests.of("Metadata")[0]
    assert (seen.outcome, seen.answer, seen.answer_size, seen.errors) == ("answered", None, 11, ())


def test_bytes_that_can_be_read_are_kept_as_an_answer(kafka: KafkaDouble) -> None:
    body = MetadataResponse(cluster_id="captured", topics=[]).encode(12)
    handle = kafka.on("Metadata", lambda seen: body if seen.version == 12 else None, times=2)
    assert ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 11).cluster_id != "captured"
    assert ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12).cluster_id == "captured"
    assert kafka.requests.of("Metadata")[-1].answer.cluster_id == "captured"
    assert handle.hits == 2


def test_a_frame_of_bytes_may_be_cut(kafka: KafkaDouble) -> None:
    kafka.cut_frame("ApiVersions", 9)
    kafka.respond("ApiVersions", GARBAGE)
    assert frame(kafka, HELLO) == struct.pack(">ii", 6, 7) + GARBAGE[:1]


def test_a_list_may_have_messages_errors_actions_and_none(kafka: KafkaDouble) -> None:
    answer = HeartbeatResponse(throttle_time_ms=3)
    handle = kafka.respond("Heartbeat", [answer, "REBALANCE_IN_PROGRESS", Disconnect(), None, Respond(b"\0" * 7)])
    found = [heartbeat(kafka) for _ in range(6)]
    assert found == [
        answer,
        HeartbeatResponse(error_code=27),
        None,
        HeartbeatResponse(error_code=16),
        HeartbeatResponse(),
        HeartbeatResponse(error_code=16),
    ]
    handle.wait(hits=5)
    rules = [seen.rules for seen in kafka.requests.of("Heartbeat")]
    assert rules == [("respond",), ("fail",), ("disconnect",), (), ("respond",), ()]


def test_json_has_lists_and_bytes(kafka: KafkaDouble) -> None:
    given = {"api": "Heartbeat", "error": ["REBALANCE_IN_PROGRESS", 16, None], "group": "g"}
    armed = VERBS["fail"].call_json(kafka, given)
    assert [each and each.error_code for each in (heartbeat(kafka) for _ in range(2))] == [27, 16]
    kafka.clear_rules()
    body = [{"throttleTimeMs": 4}, {"base64": "AAAABwAZAA=="}, "UNKNOWN_MEMBER_ID"]
    VERBS["respond"].call_json(kafka, {"api": "Heartbeat", "body": body})
    assert armed["rule"]["action"]["steps"][2] is None
    assert [(each.throttle_time_ms, each.error_code) for each in (heartbeat(kafka) for _ in range(4)) if each] == [
        (4, 0),
        (7, 25),
        (0, 25),
        (0, 16),
    ]
    again = VERBS["arm"].call_json(kafka, {"rule": armed["rule"]})
    assert again["rule"] == armed["rule"]


def test_response_body_may_not_be_a_text(kafka: KafkaDouble) -> None:
    expected = "body is a response, a mapping as in Kafka's JSON, bytes, or a list of them, not 'AAAA'"
    with pytest.raises(UsageError, match=expected):
        VERBS["respond"].call(kafka, api="Fetch", body="AAAA")
    with pytest.raises(UsageError, match="body of a rule is an object or bytes, not 'AAAA'"):
        kafka.respond("Fetch", "AAAA")


@pytest.mark.parametrize(("suffix", "none"), [("yaml", "null"), ("toml", '"NONE"')])
def test_a_scenario_has_dialogues(tmp_path: Path, suffix: str, none: str) -> None:
    texts = {
        "yaml": "rules: [{match: {api: Heartbeat}, action: {type: fail, error: [REBALANCE_IN_PROGRESS, %s, 25]}}]\n",
        "toml": '[[rules]]\nmatch.api = "Heartbeat"\n'
        'action = { type = "fail", error = ["REBALANCE_IN_PROGRESS", %s, 25] }\n',
    }
    path = tmp_path / f"scenario.{suffix}"
    path.write_text(texts[suffix] % none)
    with KafkaDouble(scenario=path) as kafka:
        answers = [heartbeat(kafka) for _ in range(3)]
        assert [answer and answer.error_code for answer in answers] == [27, 16, 25]


def test_the_report_says_at_which_step_a_dialogue_is(kafka: KafkaDouble) -> None:
    handle = kafka.fail("ApiVersions", [35, "NETWORK_EXCEPTION", None])
    frame(kafka, HELLO)
    line = (
        "not at its end: dialogue for ApiVersions (fail with UNSUPPORTED_VERSION, then fail with NETWORK_EXCEPTION, "
        "then as usual): applied 1 times, next is step 2 of 3: fail with NETWORK_EXCEPTION"
    )
    assert line in kafka.report()
    handle.remove()
    assert line in kafka.report(), "what is removed too early is shown as well"
    assert kafka.unused_rules == []


def test_a_half_open_socket_is_no_reader_of_a_dialogue(kafka: KafkaDouble) -> None:
    """A connection without a request takes no step."""
    handle = kafka.fail("ApiVersions", [35, 41])
    with socket.create_connection(("127.0.0.1", kafka.port), timeout=10):
        frame(kafka, HELLO)
    assert (handle.hits, handle.spent) == (1, False)


def test_random_answer_bytes_of_a_rule_leave_the_broker_running(
    kafka: KafkaDouble, caplog: pytest.LogCaptureFixture
) -> None:
    """What watches the answers, such as the request history, meets bytes that are no answer."""
    served = [row for row in TABLE if row.api.key not in NODE_APIS and row.name not in LOGINS]
    with connect(kafka) as sock:
        for row in served:
            request, version = row.api.request(), row.highest
            if isinstance(request, ProduceRequest):
                request.acks = 1
            empty = row.api.response().encode(version)
            for body in (b"", GARBAGE, empty, b"\0" * 200):
                kafka.respond(row.name, body)
                sock.sendall(b"".join(map(bytes, headers.write_request(request, 9, "test", version))))
                size = int.from_bytes(received(sock, 4), "big")
                assert received(sock, size)[4:].endswith(body), row.name
    assert len(list(kafka.requests)) == 4 * len(served)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
