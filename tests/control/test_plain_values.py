"""Texts that are no Unicode and integers that are too large, in every parameter of every verb."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Parameter, Verb
from kafkadouble.wire import plain_values
from tests.control.http import call, post

HALF = "a\ud800"
FAULTS = {HALF: "a text has no half of a surrogate pair", 10**400: "an integer has at most 64 bits"}
PLAIN = {
    "text": "x",
    "integer": 1,
    "number": 1.0,
    "switch": True,
    "object": {"t": {"0": 1}},
    "list": ["x"],
    "value": "x",
}
"""A value for a parameter that must be given, by its kind."""

OF_JSON = [each for each in VERBS.values() if each.is_for_json and not each.reads_file]
VIEWS = ("rules", "snapshots", "groups", "topics", "describe_cluster")


def forms(parameter: Parameter, wrong: Any) -> Iterator[Any]:
    """A wrong value where a parameter may have one: itself, in a list, and in objects."""
    yield wrong
    yield [wrong]
    yield {"t": wrong}
    yield {"t": {"0": [wrong]}}
    if isinstance(wrong, str):
        yield {wrong: "x"}


def bodies_of(verb: Verb, wrong: Any) -> Iterator[dict[str, Any]]:
    """A body for each parameter, with the wrong value in one of its forms, which take turns."""
    required = {
        parameter.name: PLAIN[parameter.kind] for parameter in verb.parameters.values() if parameter.is_required
    }
    for index, parameter in enumerate(verb.parameters.values()):
        if parameter.schema is not None:
            values = list(forms(parameter, wrong))
            yield {**required, parameter.name: values[index % len(values)]}


@pytest.mark.parametrize("wrong", FAULTS, ids=["half_a_surrogate_pair", "integer_of_401_digits"])
def test_every_verb_refuses_what_no_message_carries(url: str, kafka: KafkaDouble, wrong: Any) -> None:
    count = 0
    for verb in OF_JSON:
        for body in bodies_of(verb, wrong):
            answer = call(url, "POST", f"/verbs/{verb.name}", body)
            assert (answer.status, answer.error["kind"]) == (400, "usage"), (verb.name, body, answer)
            assert FAULTS[wrong] in answer.error["message"]
            count += 1
    assert count > 300
    for view in VIEWS:
        post(url, view)


@pytest.mark.parametrize(
    "text", ['"\\ud800"', '"\\udfff\\ud800"', '"\ud800"', "9" * 21, "-" + "9" * 21, "1" * 5000, "1" * 2_000_000]
)
def test_a_body_with_such_a_value_is_refused(url: str, text: str) -> None:
    body = f'{{"topic": {text}}}'.encode("utf-8", "surrogatepass")
    answer = call(url, "POST", "/verbs/topics", body, {"Content-Type": "application/json"})
    assert answer.status == 400
    assert any(each in answer.error["message"] for each in FAULTS.values())


def test_very_long_json_int_is_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    converted = []
    monkeypatch.setattr(plain_values, "int", lambda text: converted.append(len(text)), raising=False)
    for digits in (19, 20, 21, 4000):
        try:
            plain_values.integer("1" * digits)
        except ValueError:
            continue
    assert converted == [19, 20]


def test_json_surrogate_pairs_and_64_bit_int_are_allowed(url: str) -> None:
    body = b'{"topic": "t", "value": "\\ud83d\\ude00"}'
    assert call(url, "POST", "/verbs/produce", body, {"Content-Type": "application/json"}).status == 200
    (record,) = post(url, "records", topic="t")
    assert record["value"] == "\U0001f600"
    late = call(url, "POST", "/verbs/produce", {"topic": "t", "timestamp": 2**63 - 1})
    assert (late.status, late.error["name"]) == (409, "INVALID_TIMESTAMP")


def test_names_of_headers_that_are_no_utf_8_are_shown_and_can_be_given_back(url: str, kafka: KafkaDouble) -> None:
    kafka.produce("t", b"v", headers=[("\udcff", b"x"), ("plain", None)])
    (record,) = post(url, "records", topic="t")
    assert record["headers"] == [[{"base64": "/w=="}, "x"], ["plain", None]]
    post(url, "produce_all", topic="t", records=[record])
    assert [record.headers for record in kafka.records("t")] == [(("\udcff", b"x"), ("plain", None))] * 2


def test_faults_are_found_in_every_container() -> None:
    for value in ([HALF], (HALF,), {HALF}, {HALF: 1}, {"a": [{"b": {HALF}}]}, {("t", 0): 2**65}):
        assert plain_values.fault_of(value)
    assert plain_values.fault_of(json.loads('{"a": [1, "\\u00e4", null, true, 1.5]}')) is None
    assert plain_values.fault_of([2**64 - 1, -(2**63)]) is None
