"""A rule with a list of errors or answers: one for each of the next requests."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.faults.actions import Delay, Disconnect, Fail, Respond
from kafkadouble.server.faults.dialogue import Dialogue
from kafkadouble.server.faults.match import Match
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.faults.trigger import Trigger
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.wire.errors import UsageError
from tests.server.faults.producing import produce
from tests.server.harness import Harness

A, B = "NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT"
HEARTBEAT = HeartbeatRequest(group_id="g", member_id="m")


@pytest.fixture
def cluster() -> Harness:
    harness = Harness()
    harness.create("a", partitions=2)
    return harness


def produced(cluster: Harness, partition: int = 0) -> int:
    """The error code of one more produced record."""
    answer = cluster.submit(produce(("a", partition)), 9)
    code: int = answer.responses[0].partition_responses[0].error_code
    return code


def test_a_list_of_errors_fails_one_request_after_another(cluster: Harness) -> None:
    armed = cluster.node.faults.arm(Rule.of("fail", api="Produce", error=[A, 7, None, A, "NONE", 0, B]))
    assert [produced(cluster) for _ in range(8)] == [6, 7, 0, 6, 0, 0, 7, 0]
    assert armed.spent
    assert armed.hits == 7
    assert cluster.node.faults.rules == []


def test_a_step_is_taken_only_by_a_request_that_the_rule_matches(cluster: Harness) -> None:
    cluster.node.faults.arm(Rule.of("fail", api="Produce", error=[A, B], partition=1, on_call=2))
    codes = [produced(cluster, partition) for partition in (1, 0, 1, 0, 1, 1)]
    assert codes == [0, 0, 6, 0, 7, 0]


def test_the_other_fields_of_a_failure_are_those_of_each_error(cluster: Harness) -> None:
    cluster.node.faults.arm(Rule.of("fail", api="Produce", error=[A, B], when="after"))
    assert [produced(cluster) for _ in range(2)] == [6, 7]
    assert cluster.partition("a").high_watermark == 2


def test_a_list_of_answers_may_have_errors_and_actions(cluster: Harness) -> None:
    body = [{"throttleTimeMs": 1}, "REBALANCE_IN_PROGRESS", Disconnect(), b"\0\0\0\2\0\x19", None]
    cluster.node.faults.arm(Rule.of("respond", api="Heartbeat", body=body))
    answers = [cluster.submit(HEARTBEAT, 3) for _ in range(5)]
    assert [answer if answer is DISCONNECT else (answer.throttle_time_ms, answer.error_code) for answer in answers] == [
        (1, 0),
        (0, 27),
        DISCONNECT,
        (2, 25),
        (0, 16),
    ]


def test_a_delay_may_be_a_step(cluster: Harness) -> None:
    cluster.node.faults.arm(Rule(Match("Metadata"), Dialogue((Delay(1), None))))
    first = cluster.begin(MetadataRequest(topics=[]), 12)
    assert (first.done, cluster.begin(MetadataRequest(topics=[]), 12).done) == (False, True)
    cluster.tick(1000)
    assert first.done


def test_a_dialogue_says_at_which_step_it_is(cluster: Harness) -> None:
    armed = cluster.node.faults.arm(Rule.of("fail", api="Produce", error=[A, B, None]))
    sentence = (
        "dialogue for Produce (fail with NOT_LEADER_OR_FOLLOWER, then fail with REQUEST_TIMED_OUT, then as usual)"
    )
    assert repr(armed.rule) == sentence
    produced(cluster)
    assert repr(armed) == f"{sentence}: applied 1 times, next is step 2 of 3: fail with REQUEST_TIMED_OUT"
    assert (armed.is_unfinished, cluster.node.faults.register.unfinished) == (True, [armed])
    produced(cluster)
    assert not armed.is_unfinished, "only a request as usual is left"
    produced(cluster)
    assert repr(armed) == f"{sentence}: applied 3 times"


def test_a_long_dialogue_is_shown_in_short() -> None:
    assert repr(Rule.of("respond", api="Fetch", body=[{}] * 9)) == (
        "dialogue for Fetch (respond, then respond, then respond, then respond, then respond, then 4 more)"
    )


def test_a_dialogue_goes_through_json() -> None:
    rule = Rule.of("respond", api="Fetch", body=[{"errorCode": 6}, A, b"\xff\0", None], topic="a")
    assert rule.to_dict() == {
        "match": {"api": "Fetch", "topic": "a"},
        "action": {
            "type": "dialogue",
            "steps": [
                {"type": "respond", "body": {"errorCode": 6}},
                {"type": "fail", "error": A},
                {"type": "respond", "body": {"base64": "/wA="}},
                None,
            ],
        },
    }
    assert Rule.from_dict(rule.to_dict()) == rule
    steps = (Respond({"errorCode": 6}), Fail(A), Respond(b"\xff\0"), None)
    assert rule == Rule(Match("Fetch", topic="a"), Dialogue(steps), Trigger())


@pytest.mark.parametrize(
    ("action", "fields", "problem"),
    [
        ("fail", {"error": [A], "times": 2}, "a list says how often the rule applies, once for each element"),
        ("fail", {"error": [A, B], "times": None}, "leave out times, or repeat the elements"),
        ("fail", {"error": [A, B], "times": 1}, "leave out times, or repeat the elements"),
        ("fail", {"error": []}, "Kafka has no error []"),
        ("fail", {"error": [None, None]}, "a rule whose steps are all None does nothing"),
        ("fail", {"error": [A, "REQUEST_TIMED_OU"]}, "Kafka has no error 'REQUEST_TIMED_OU'; did you mean"),
        ("fail", {"error": [A, True]}, "error of a rule may be a list of names or numbers of errors, actions and None"),
        ("fail", {"error": [A, [B]]}, f"not of ['{B}']"),
        ("fail", {"error": [A, {"errorCode": 6}]}, "not of {'errorCode': 6}"),
        ("fail", {"error": [A, {"type": "pause"}]}, "pause cannot be a step of a rule"),
        ("fail", {"error": [A, {"type": "disk_full"}]}, "disk_full cannot be a step of a rule"),
        ("fail", {"error": [A, {"type": "fail", "error": [B]}]}, "dialogue cannot be a step of a rule"),
        ("respond", {"body": [{}, 1.5]}, "body of a rule may be a list of answers, names or numbers of errors,"),
        ("respond", {"body": [{}, {"errorCod": 6}]}, "FetchResponse has no field 'errorCod'"),
        ("dialogue", {"steps": [A]}, "a rule needs an action, an object with a type"),
    ],
)
def test_a_wrong_list_is_refused(cluster: Harness, action: str, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        cluster.node.faults.arm(Rule.of(action, api="Fetch", **fields))
    assert problem in str(refused.value)


def test_times_of_a_dialogue_in_code_is_refused() -> None:
    with pytest.raises(UsageError, match="a list says how often the rule applies"):
        Rule(Match("Fetch"), Dialogue((Fail(A), None)), Trigger(times=2))
    with pytest.raises(UsageError, match="a step of a rule is an action or None, not 'x'"):
        Rule(Match("Fetch"), Dialogue(("x",)))
