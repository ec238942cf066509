"""A rule is a value: what it may say, how it is refused, how it travels."""

import json

import pytest

from kafkadouble.server.faults.rule import SCOPE, Rule
from kafkadouble.wire.errors import UsageError

RULES = [
    Rule.of(action="fail", api="Produce", error="NOT_ENOUGH_REPLICAS"),
    Rule.of(action="fail", api="Fetch", error=6, topic="orders", partition=0, times=None, when="after", message="no"),
    Rule.of(action="delay", api="*", seconds=0.25, on_call=3, probability=0.5, seed=7),
    Rule.of(action="disconnect", api="Heartbeat", group="g", client_id="c", broker=1, transactional_id="t"),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_goes_through_json_and_back(rule: Rule) -> None:
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


def test_json_holds_only_the_given_fields() -> None:
    assert RULES[0].to_dict() == {"action": "fail", "api": "Produce", "error": "NOT_ENOUGH_REPLICAS"}
    assert RULES[1].to_dict()["times"] is None


def test_an_error_is_given_by_name_or_by_code() -> None:
    assert Rule.of(action="fail", api="Fetch", error=6) == Rule.of(
        action="fail", api="Fetch", error="NOT_LEADER_OR_FOLLOWER"
    )
    assert Rule.of(action="fail", api="Fetch", error=-1).code == -1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"api": "Fetch"}, "a rule needs action"),
        ({}, "a rule needs action and api"),
        ({"action": "explode", "api": "Fetch"}, "action of a rule is fail, delay or disconnect, not 'explode'"),
        ({"action": "fail", "api": "Fetch"}, "a rule that fails needs an error"),
        ({"action": "fail", "api": "fetch", "error": 6}, "Kafka has no API 'fetch'; did you mean 'Fetch'?"),
        ({"action": "fail", "api": None, "error": 6}, "Kafka has no API None"),
        ({"action": "fail", "api": "Fetch", "error": "NOT_LEADER"}, "did you mean 'NOT_LEADER_OR_FOLLOWER'?"),
        ({"action": "fail", "api": "Fetch", "error": "qqqqqqqq"}, "Kafka has no error 'qqqqqqqq'"),
        ({"action": "fail", "api": "Fetch", "error": 0}, "Kafka has no error 0"),
        ({"action": "fail", "api": "Fetch", "error": True}, "Kafka has no error True"),
        ({"action": "fail", "api": "Fetch", "error": 9999}, "Kafka has no error 9999"),
        ({"action": "fail", "api": "Fetch", "error": []}, "Kafka has no error []"),
        ({"action": "fail", "api": "Fetch", "error": 6, "topics": "t"}, "no field 'topics'; did you mean 'topic'?"),
        ({"action": "fail", "api": "Fetch", "error": 6, "seconds": 1}, "seconds belongs to a rule that says delay"),
        ({"action": "delay", "api": "Fetch"}, "a rule that delays needs seconds"),
        ({"action": "delay", "api": "Fetch", "seconds": -1}, "a number of seconds from 0 to 86400, not -1"),
        ({"action": "delay", "api": "Fetch", "seconds": float("nan")}, "a number of seconds"),
        ({"action": "delay", "api": "Fetch", "seconds": "1"}, "a number of seconds"),
        ({"action": "disconnect", "api": "Fetch", "error": 6}, "error belongs to a rule that says fail"),
        ({"action": "disconnect", "api": "Fetch", "times": 0}, "times of a rule is a count from 1"),
        ({"action": "disconnect", "api": "Fetch", "times": True}, "times of a rule is a count from 1"),
        ({"action": "disconnect", "api": "Fetch", "on_call": None}, "on_call of a rule is a count from 1"),
        ({"action": "disconnect", "api": "Fetch", "probability": 1.5}, "a number from 0 to 1"),
        ({"action": "disconnect", "api": "Fetch", "when": "during"}, "before or after"),
        ({"action": "disconnect", "api": "Fetch", "partition": "0"}, "an index from 0"),
        ({"action": "disconnect", "api": "Fetch", "topic": b"t"}, "a topic's name"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        Rule.from_dict(fields)
    assert problem in str(refused.value)


def test_a_rule_reads_as_a_sentence() -> None:
    assert [repr(rule) for rule in RULES] == [
        "fail Produce with NOT_ENOUGH_REPLICAS once",
        "fail Fetch with NOT_LEADER_OR_FOLLOWER after it is processed topic 'orders', partition 0 every time",
        "delay any request by 0.25 s from the 3. on once with probability 0.5",
        "disconnect Heartbeat group 'g', transactional_id 't', client_id 'c', broker 1 once",
    ]


def test_every_scope_is_a_field() -> None:
    assert set(SCOPE) <= set(Rule._fields)
