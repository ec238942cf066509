"""Answers whose body is given as bytes."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.server.faults.actions import Respond
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.requests.answer import DISCONNECT, Altered, ExactBody, Framing, without_frame
from kafkadouble.wire.errors import UsageError
from tests.server.faults.producing import produce
from tests.server.harness import Harness

HEARTBEAT = HeartbeatRequest(group_id="g", member_id="m")
ANSWER = b"\0\0\0\7\0\x19"
GARBAGE = b"\xff" * 5


def sent(cluster: Harness, body: Any, version: int = 3) -> Altered:
    cluster.node.faults.arm(Rule.of("respond", api="Heartbeat", body=body))
    pending = cluster.begin(HEARTBEAT, version)
    assert pending.altered is not None
    return pending.altered


@pytest.mark.parametrize("body", [ANSWER, bytearray(ANSWER), memoryview(ANSWER), {"base64": "AAAABwAZ"}])
def test_response_body_of_a_rule_is_sent_as_it_is(body: Any) -> None:
    exact = sent(Harness(), body).message
    assert isinstance(exact, ExactBody)
    assert exact.parts(3) == [ANSWER]
    assert exact.message == HeartbeatResponse(throttle_time_ms=7, error_code=25)


def test_bytes_that_are_no_answer_are_sent_too() -> None:
    exact = sent(Harness(), GARBAGE).message
    assert (exact.parts(3), exact.message) == ([GARBAGE], None)


def test_a_function_may_return_bytes() -> None:
    for result in (ANSWER, bytearray(ANSWER), Respond(ANSWER)):
        cluster = Harness()
        cluster.node.faults.arm(Rule.of("call", api="Heartbeat", function=lambda _, result=result: result))
        assert cluster.submit(HEARTBEAT, 3) == HeartbeatResponse(throttle_time_ms=7, error_code=25)


def test_a_damaged_frame_has_the_bytes_and_fields_stay() -> None:
    cluster = Harness()
    arm = cluster.node.faults.arm
    arm(Rule.of("change_field", api="Heartbeat", path="throttleTimeMs", value=9))
    arm(Rule.of("short_frame", api="Heartbeat", bytes=2))
    altered = sent(cluster, ANSWER)
    assert altered.framing == Framing(length=2)
    assert altered.message.parts(3) == [ANSWER]


def test_produce_with_acks_0_has_no_answer_either() -> None:
    cluster = Harness()
    cluster.create("a")
    cluster.node.faults.arm(Rule.of("respond", api="Produce", body=GARBAGE))
    request = produce(("a", 0))
    request.acks = 0
    assert cluster.submit(request, 9) is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("AAAABwAZ", "body of a rule is an object or bytes, not 'AAAABwAZ'"),
        ({"base64": "A"}, "body of a rule is no valid base64"),
        ({"base64": 1}, "body of a rule is no valid base64"),
        (b"\0\0\0\x0a\0\0\0\1" + ANSWER, "these bytes are a frame with its size: give the body alone"),
    ],
)
def test_malformed_response_body_of_a_rule_is_refused(body: Any, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        sent(Harness(), body)
    assert problem in str(refused.value)


def test_response_body_that_begins_like_a_frame_size_is_a_body() -> None:
    exact = sent(Harness(), b"\0\0\0\2\0\x19").message
    assert exact.message == HeartbeatResponse(throttle_time_ms=2, error_code=25)


def test_a_node_of_the_same_process_gets_what_the_bytes_say() -> None:
    exact = ExactBody(ANSWER, HeartbeatResponse, 3)
    assert without_frame(Altered(exact)) == HeartbeatResponse(throttle_time_ms=7, error_code=25)
    assert without_frame(Altered(ExactBody(GARBAGE, HeartbeatResponse, 3))) is DISCONNECT
    assert without_frame(Altered(exact, Framing(length=1))) is DISCONNECT
    assert without_frame(Altered(None, mute_ms=5)) is None
