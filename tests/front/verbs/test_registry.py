"""The registry of verbs: every verb is played with one good call, and with each parameter wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kafkadouble import KafkaDouble, Rule, RuleHandle, UsageError
from kafkadouble.arguments.parameters import SECRETS
from kafkadouble.verbs import collecting
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Parameter, Verb
from tests.front.verbs.good_calls import GOOD, TOPIC, Is

WRONG: Mapping[str, Any] = {
    "text": 5,
    "integer": "five",
    "number": "five",
    "switch": "yes",
    "object": 5,
    "list": 5,
    "function": 5,
    "value": object(),
}
"""A value that no parameter of this kind allows."""

ANY_VALUE = {("change_field", "value")}
"""Parameters that allow every value."""

HANDLE: Any = RuleHandle.__new__(RuleHandle)
"""A handle that no broker knows: it has the right type."""

PARAMETERS = [(verb, parameter) for verb in VERBS.values() for parameter in verb.parameters.values()]
REQUIRED = [(verb, each) for verb, each in PARAMETERS if each.is_required]


@contextmanager
def running(
    brokers: int = 1,
    stepped: bool = True,
    data_dir: Path | None = None,
    telemetry: bool = False,
    more: Mapping[str, Any] = {},
) -> Iterator[KafkaDouble]:
    double = KafkaDouble(brokers=brokers, stepped=stepped, seed=1, data_dir=data_dir, telemetry=telemetry, **more)
    with double as kafka:
        kafka.create_topic(TOPIC, replication_factor=brokers)
        kafka.produce(TOPIC, "a")
        yield kafka


def ids(rows: list[tuple[Verb, Parameter]]) -> list[str]:
    return [f"{verb.name}-{parameter.name}" for verb, parameter in rows]


def test_every_verb_has_a_good_call() -> None:
    assert sorted(GOOD) == list(VERBS)


@pytest.mark.parametrize("name", GOOD)
def test_good_call_of_a_verb_returns_the_expected_json(name: str, tmp_path: Path) -> None:
    verb, good = VERBS[name], GOOD[name]
    with running(good.brokers, good.stepped, tmp_path if good.on_disk else None, good.telemetry, good.more) as kafka:
        good.prepare(kafka)
        result = verb.to_json(verb.call(kafka, **good.parameters(kafka)))
    assert json.loads(json.dumps(result)) == result
    if isinstance(good.json, Is):
        assert good.json.check(result), result
    else:
        assert result == good.json


@pytest.mark.parametrize(("verb", "parameter"), PARAMETERS, ids=ids(PARAMETERS))
def test_a_wrong_value_is_refused(verb: Verb, parameter: Parameter) -> None:
    wrong = WRONG[parameter.kind]
    good = {parameter.name: None for parameter in verb.parameters.values() if parameter.default is None}
    assert (verb.name, parameter.name) in ANY_VALUE or not parameter.argument[0](wrong)
    if (verb.name, parameter.name) in ANY_VALUE:
        return
    given_value = "" if parameter.name in SECRETS else f", not {wrong!r}"
    problem = f"^{re.escape(f'{parameter.name} is {parameter.allowed}{given_value}')}$"
    with pytest.raises(UsageError, match=problem):
        parameter.check(wrong)
    given = {**{each.name: _fitting(verb, each) for each in _before(verb, parameter)}, **good, parameter.name: wrong}
    with pytest.raises(UsageError, match=problem):
        verb.call(KafkaDouble(), **given)


def _before(verb: Verb, parameter: Parameter) -> list[Parameter]:
    """The required parameters that are checked before this one."""
    names = list(verb.parameters)
    return [verb.parameters[name] for name in names[: names.index(parameter.name)] if verb.parameters[name].is_required]


def _fitting(verb: Verb, parameter: Parameter) -> Any:
    """A value from the good call."""
    given = GOOD[verb.name].given
    if callable(given):
        return {"topic": "t", "partition": 0, "group": "g", "member_id": "m", "broker": 1, "rule": HANDLE}[
            parameter.name
        ]
    return given[parameter.name]


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_an_unknown_parameter_is_refused(verb: Verb) -> None:
    first = next(iter(verb.parameters), None)
    if first is None:
        with pytest.raises(UsageError, match=f"{verb.name} has no parameter 'topic'; it has none"):
            verb.call(KafkaDouble(), topic="t")
        return
    near = f"{verb.name} has no parameter '{first}x'; did you mean '{first}'?; it has {first}"
    with pytest.raises(UsageError, match=re.escape(near)):
        verb.call(KafkaDouble(), **{f"{first}x": 1})


@pytest.mark.parametrize(("verb", "parameter"), REQUIRED, ids=ids(REQUIRED))
def test_a_missing_parameter_is_named(verb: Verb, parameter: Parameter) -> None:
    arguments = {each.name: _fitting(verb, each) for each in _before(verb, parameter)}
    with pytest.raises(UsageError, match=re.escape(f"{verb.name} needs {parameter.name}, {parameter.allowed}")):
        verb.call(KafkaDouble(), **arguments)


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_a_verb_says_what_it_does(verb: Verb) -> None:
    assert verb.summary
    assert verb.summary.endswith(".")
    assert verb.schema["additionalProperties"] is False
    json.dumps(verb.schema)
    assert all(parameter.allowed for parameter in verb.parameters.values())


def test_a_call_with_json() -> None:
    with running() as kafka:
        call = VERBS["produce"].call_json
        given = {"topic": TOPIC, "key": {"base64": "/wA="}, "headers": [["h", {"base64": "/w=="}]], "timestamp": 7}
        assert call(kafka, given) == 1
        record = kafka.records(TOPIC)[1]
        assert (record.key, record.value, record.headers) == (b"\xff\x00", None, (("h", b"\xff"),))
        assert VERBS["records"].call_json(kafka, {"topic": TOPIC})[1] == {
            "topic": TOPIC,
            "partition": 0,
            "offset": 1,
            "timestamp": 7,
            "key": {"base64": "/wA="},
            "value": None,
            "headers": [["h", {"base64": "/w=="}]],
        }
        rule = Rule.of("fail", api="Fetch", error="UNKNOWN_SERVER_ERROR").to_dict()
        assert VERBS["arm"].call_json(kafka, {"rule": rule}) == {"id": 1, "rule": rule, "hits": 0, "spent": False}
        with pytest.raises(UsageError, match=r"a rule has no field 'acton'; did you mean 'action'\?"):
            VERBS["arm"].call_json(kafka, {"rule": {"acton": {}}})
        with pytest.raises(UsageError, match="value is bytes, a text or None, not"):
            call(kafka, {"topic": TOPIC, "value": {"base64": "?"}})


if TYPE_CHECKING:
    # A type checker finds misspelt keywords, and words that a parameter does not take: `make types`
    # fails where an `ignore` hides no error, or an error has none.
    kafka = KafkaDouble()
    kafka.produce("t", "x", partiton=1)  # type: ignore[call-arg]
    kafka.truncate(topic="t", partition=0, ofset=3)  # type: ignore[call-arg]
    kafka.fail("Fetch", 6, topc="t")  # type: ignore[call-arg]
    kafka.brokers[1].kill(now=True)  # type: ignore[call-arg]
    kafka.produce("t", "x", partition=1)
    KafkaDouble(security="SASLSSL")  # type: ignore[arg-type]
    KafkaDouble(listeners={"EXTERNAL": 0}, security={"EXTERNAL": "SASL-SSL"})  # type: ignore[dict-item]
    KafkaDouble(security="SSL", certificate="old")  # type: ignore[arg-type]
    KafkaDouble(security="SASL_SSL", certificate="expired")
    kafka.records("t", isolation="committed")  # type: ignore[arg-type]
    kafka.produce_file("t", "records", format="csv")  # type: ignore[arg-type]
    kafka.set_certificate("invalid")  # type: ignore[arg-type]
    kafka.client_config(client="librdkafka")  # type: ignore[arg-type]
    kafka.wait_for_group("shop", "stable")  # type: ignore[arg-type]
    kafka.wait_for_transaction("t1", "Commited")  # type: ignore[arg-type]
    kafka.records("t", isolation="read_committed")
    kafka.wait_for_group("shop", "Stable")


def test_a_verb_belongs_to_the_module_that_defines_it_alone() -> None:
    found = [(verb.name, verb.subject) for verb in collecting._of_double()]
    assert [subject for name, subject in found if name == "groups"] == ["groups"]
    assert len({name for name, _ in found}) == len(found)
