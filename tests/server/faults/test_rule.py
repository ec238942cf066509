"""A rule is a value: what it may say, how it is refused, how it travels."""

import json
from dataclasses import fields
from typing import Any

import jsonschema
import pytest

from kafkadouble.server.faults.actions import ACTIONS, Call, Disconnect, Fail
from kafkadouble.server.faults.match import MATCH_FIELDS, Match
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.faults.trigger import TRIGGER_FIELDS, Trigger
from kafkadouble.wire.errors import UsageError
from tests.server.harness import Harness

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
    assert RULES[0].to_dict() == {
        "match": {"api": "Produce"},
        "action": {"type": "fail", "error": "NOT_ENOUGH_REPLICAS"},
    }
    assert RULES[1].to_dict()["trigger"] == {"times": None}


def test_an_error_is_given_by_name_or_by_code() -> None:
    assert Rule.of(action="fail", api="Fetch", error=6) == Rule.of(
        action="fail", api="Fetch", error="NOT_LEADER_OR_FOLLOWER"
    )
    unknown = Rule.of(action="fail", api="Fetch", error=-1).action
    assert isinstance(unknown, Fail)
    assert unknown.code == -1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "the match of a rule needs api"),
        ({"api": "fetch", "error": 6}, "Kafka has no API 'fetch'; did you mean 'Fetch'?"),
        ({"api": None, "error": 6}, "api of a rule is the name of an API, or *, not None"),
        ({"api": "Fetch"}, "the action fail needs error"),
        ({"api": "Fetch", "error": "NOT_LEADER"}, "did you mean 'NOT_LEADER_OR_FOLLOWER'?"),
        ({"api": "Fetch", "error": "qqqqqqqq"}, "Kafka has no error 'qqqqqqqq'"),
        ({"api": "Fetch", "error": 0}, "Kafka has no error 0"),
        ({"api": "Fetch", "error": True}, "Kafka has no error True"),
        ({"api": "Fetch", "error": 9999}, "Kafka has no error 9999"),
        ({"api": "Fetch", "error": []}, "Kafka has no error []"),
        ({"api": "Fetch", "error": 6, "topics": "t"}, "no field 'topics'; did you mean 'topic'?"),
        ({"api": "Fetch", "error": 6, "seconds": 1}, "a rule has no field 'seconds'"),
        ({"api": "Fetch", "error": 6, "times": 0}, "times of a rule is a count from 1"),
        ({"api": "Fetch", "error": 6, "times": True}, "times of a rule is a count from 1"),
        ({"api": "Fetch", "error": 6, "on_call": None}, "on_call of a rule is a count from 1"),
        ({"api": "Fetch", "error": 6, "probability": 1.5}, "a number from 0 to 1"),
        ({"api": "Fetch", "error": 6, "after_seconds": -1}, "a number of seconds from 0 to 86400, not -1"),
        ({"api": "Fetch", "error": 6, "for_seconds": float("nan")}, "a number of seconds"),
        ({"api": "Fetch", "error": 6, "when": "during"}, "before or after"),
        ({"api": "Fetch", "error": 6, "partition": "0"}, "an index from 0"),
        ({"api": "Fetch", "error": 6, "topic": b"t"}, "a topic's name"),
        ({"api": "Fetch", "error": 6, "predicate": "x"}, "predicate of a rule is a function, not 'x'"),
    ],
)
def test_rule_with_a_wrong_match_or_trigger_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        Rule.of("fail", **fields)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("action", "fields", "problem"),
    [
        ("explode", {}, "a rule has no action 'explode'"),
        ("dealy", {}, "did you mean 'delay'?"),
        ("delay", {}, "the action delay needs seconds"),
        ("delay", {"seconds": -1}, "seconds of a rule is a number of seconds from 0 to 86400, not -1"),
        ("delay", {"seconds": "1"}, "a number of seconds"),
        ("disconnect", {"error": 6}, "a rule has no field 'error'"),
        ("throttle", {}, "the action throttle needs seconds"),
        ("respond", {"body": []}, "body of a rule is an object or bytes, not []"),
        ("change_field", {"path": 1, "value": 2}, "path of a rule is the path of a field, not 1"),
        ("corrupt_records", {"how": "all"}, "how of a rule is crc or bit, not 'all'"),
        ("cut_frame", {"bytes": -1}, "bytes of a rule is a number of bytes from 0, not -1"),
        ("slow_frame", {"bytes_per_second": 0}, "a number of bytes from 1, not 0"),
        ("call", {"function": None}, "function of a rule is a function, not None"),
    ],
)
def test_rule_with_a_wrong_action_is_refused(action: str, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        Rule.of(action, api="Fetch", **fields)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "the match of a rule needs api"),
        ({"match": {"api": "Fetch"}}, "a rule needs an action, an object with a type"),
        ({"match": {"api": "Fetch"}, "action": "fail"}, "a rule needs an action, an object with a type"),
        ({"match": "Fetch"}, "the match of a rule is an object, not 'Fetch'"),
        ({"match": {"ap": "Fetch"}}, "the match of a rule has no field 'ap'; did you mean 'api'?"),
        ({"macth": {}}, "a rule has no field 'macth'; did you mean 'match'?"),
    ],
)
def test_rule_from_a_wrong_dict_is_refused(given: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        Rule.from_dict(given)
    assert problem in str(refused.value)


def test_a_rule_reads_as_a_sentence() -> None:
    assert [repr(rule) for rule in RULES] == [
        "fail Produce with NOT_ENOUGH_REPLICAS once",
        "fail Fetch with NOT_LEADER_OR_FOLLOWER after it is processed topic 'orders', partition 0 every time",
        "delay any request by 0.25 s from the 3. on once with probability 0.5",
        "disconnect Heartbeat group 'g', transactional_id 't', client_id 'c', broker 1 once",
    ]


def test_every_field_has_a_kind() -> None:
    actions = [(row.cls, row.kinds) for row in ACTIONS.values()]
    rows: list[tuple[Any, Any]] = [(Match, MATCH_FIELDS), (Trigger, TRIGGER_FIELDS), *actions]
    for cls, kinds in rows:
        assert [each.name for each in fields(cls)] == list(kinds), cls


def test_actions_with_the_same_fields_differ() -> None:
    assert {Rule.of(name, api="Fetch") for name in ("pause", "disconnect", "ignore")} == {
        Rule.of(name, api="Fetch") for name in ("ignore", "disconnect", "pause")
    }
    assert Rule.of("pause", api="Fetch") != Rule.of("disconnect", api="Fetch")


def test_a_function_is_not_written_as_json() -> None:
    for rule in (
        Rule(Match("Fetch"), Call(lambda request: None)),
        Rule(Match("Fetch", predicate=lambda request: True), Disconnect()),
    ):
        with pytest.raises(UsageError, match="a rule with a function cannot be written as JSON"):
            rule.to_dict()


def test_the_schema_accepts_what_the_code_accepts() -> None:
    schema = Rule.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for rule in RULES:
        validator.validate(rule.to_dict())
    for wrong in (
        {"match": {"api": "Fetch"}},
        {"match": {}, "action": {"type": "pause"}},
        {"match": {"api": "Fetch", "partition": -1}, "action": {"type": "pause"}},
        {"match": {"api": "Fetch"}, "action": {"type": "pause", "seconds": 1}},
        {"match": {"api": "Fetch"}, "action": {"type": "delay"}},
        {"match": {"api": "Fetch"}, "action": {"type": "call", "function": "f"}},
    ):
        assert not validator.is_valid(wrong), wrong


@pytest.mark.parametrize(
    ("match", "action", "trigger", "problem"),
    [
        (Match("Nope"), Disconnect(), Trigger(), "Kafka has no API 'Nope'"),
        (Match(), Disconnect(), Trigger(), "api of a rule is the name of an API"),
        (Match("Fetch"), Fail("NOPE"), Trigger(), "Kafka has no error 'NOPE'"),
        (Match("Fetch"), Disconnect(), Trigger(probability=2), "probability of a rule is a number from 0 to 1"),
        (Match("Fetch"), None, Trigger(), "a rule has a Match, an action and a Trigger"),
    ],
)
def test_a_rule_that_makes_no_sense_is_not_made(match: Match, action: Any, trigger: Trigger, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Rule(match, action, trigger)


def test_a_rule_is_checked_once_from_its_making_to_its_arming(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = list[object]()
    monkeypatch.setattr(
        "kafkadouble.server.faults.rule.check_fields", lambda owner, value, kinds: checked.append(value)
    )
    rule = Rule.of("fail", api="Fetch", error="UNKNOWN_SERVER_ERROR")
    Harness().node.faults.arm(rule)
    assert checked == [rule.match, rule.trigger, rule.action]
