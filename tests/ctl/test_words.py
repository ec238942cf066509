"""The words of a shell become the parameters that JSON has, for every verb."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.cli.calling import words as ctl_words
from kafkadouble.cli.calling.verbs import usable
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb
from tests.front.verbs.good_calls import GOOD

CALLS = [name for name, good in GOOD.items() if VERBS[name].is_for_json and not callable(good.given)]


def words_of(given: dict[str, Any]) -> list[str]:
    """The options for these parameters."""
    words: list[str] = []
    for name, value in given.items():
        if isinstance(value, bool) and name != "error":
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words += [f"--{name}", value if isinstance(value, str) else json.dumps(value)]
    return words


@pytest.mark.parametrize("name", CALLS)
def test_ctl_words_of_a_verb_give_its_parameters(name: str) -> None:
    verb = VERBS[name]
    given = verb.to_json(GOOD[name].parameters(KafkaDouble()))
    given.pop("path", None)
    words = words_of(given)
    if verb.reads_file:
        words += ["--path", "orders.jsonl"]
        given["path"] = "orders.jsonl"
    assert ctl_words.parameters(verb, words) == given
    assert (
        ctl_words.parameters(verb, [word.replace("_", "-") if word.startswith("--") else word for word in words])
        == given
    )


@pytest.mark.parametrize(
    ("verb", "words", "given"),
    [
        ("create_topic", "orders", {"name": "orders"}),
        ("create_topic", "orders --config a=1,b=x", {"name": "orders", "config": {"a": "1", "b": "x"}}),
        ("truncate", "orders 0 3", {"topic": "orders", "partition": 0, "offset": 3}),
        ("truncate", "orders --partition 0 3", {"topic": "orders", "partition": 0, "offset": 3}),
        ("fail", "Produce 6", {"api": "Produce", "error": 6}),
        (
            "fail",
            "Produce NETWORK_EXCEPTION --times null",
            {"api": "Produce", "error": "NETWORK_EXCEPTION", "times": None},
        ),
        ("fail", "Produce NETWORK_EXCEPTION,7,null", {"api": "Produce", "error": ["NETWORK_EXCEPTION", 7, None]}),
        ("half_open", "--link 1,null", {"link": [1, None]}),
        ("produce", "t --value 5", {"topic": "t", "value": "5"}),
        ("produce", "t --value null", {"topic": "t", "value": None}),
        ("produce", 't --value {"base64":"/w=="}', {"topic": "t", "value": {"base64": "/w=="}}),
        ("produce", "t --value @@home", {"topic": "t", "value": "@home"}),
        ("produce", "t --timestamp -1", {"topic": "t", "timestamp": -1}),
        ("wait_for_isr", "orders 0 1,2,3", {"topic": "orders", "partition": 0, "isr": [1, 2, 3]}),
        ("assert_seen", "--apis Produce,Fetch", {"apis": ["Produce", "Fetch"]}),
        ("advance", "1.5", {"seconds": 1.5}),
        ("reset_offsets", "g t earliest", {"group": "g", "topic": "t", "to": "earliest"}),
        ("reset_offsets", "g t 5", {"group": "g", "topic": "t", "to": 5}),
        ("topics", "--internal", {"internal": True}),
        ("topics", "--no-internal", {"internal": False}),
        ("create_topic", "t --partitions many", {"name": "t", "partitions": "many"}),
    ],
)
def test_words_as_a_person_types_them(verb: str, words: str, given: dict[str, Any]) -> None:
    assert ctl_words.parameters(VERBS[verb], words.split()) == given


def test_a_value_is_read_from_a_file_or_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "value").write_text("two\npears")
    parameters = ctl_words.parameters(VERBS["produce"], ["orders", "--value", f"@{tmp_path / 'value'}"])
    assert parameters["value"] == "two\npears"
    monkeypatch.setattr("sys.stdin", io.StringIO('["a", "b"]'))
    assert ctl_words.parameters(VERBS["produce_all"], ["orders", "@-"])["records"] == ["a", "b"]


def test_a_file_that_is_no_text_is_given_as_bytes(tmp_path: Path) -> None:
    for name, verb, words in (("body", "respond", ["Heartbeat"]), ("value", "produce", ["orders", "--value"])):
        for data, base64 in ((b"\0\0\0\7\0\x19", "AAAABwAZ"), (b"\xff", "/w==")):
            (tmp_path / "bytes").write_bytes(data)
            parameters = ctl_words.parameters(VERBS[verb], [*words, f"@{tmp_path / 'bytes'}"])
            assert parameters[name] == {"base64": base64}


@pytest.mark.parametrize("words", [["a", "b"], ["--no-such-option", "x"]])
def test_ctl_refuses_surplus_arguments(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        ctl_words.parameters(VERBS["delete_topic"], words)
    assert ended.value.code == 2
    assert "kafkadouble ctl delete_topic: error: " in capsys.readouterr().err


@pytest.mark.parametrize("verb", [each for each in VERBS.values() if each.is_for_json], ids=lambda each: each.name)
def test_every_verb_has_help(verb: Verb) -> None:
    shown = " ".join(ctl_words.parser_of(verb).format_help().split())
    for parameter in verb.parameters.values():
        if parameter.schema is not None:
            assert f"--{parameter.name}" in shown


@pytest.mark.parametrize("verb", usable(), ids=lambda verb: verb.name)
def test_the_help_has_an_example_that_is_allowed(verb: Verb) -> None:
    shown = ctl_words.parser_of(verb).format_help()
    (example,) = re.findall(r"^  (kafkadouble ctl .*)$", shown, re.MULTILINE)
    program, command, name, *words = shlex.split(example)
    assert (program, command, name) == ("kafkadouble", "ctl", verb.name)
    parameters = ctl_words.parameters(verb, words)
    assert {parameter.name for parameter in verb.parameters.values() if parameter.is_required} <= set(parameters)
    verb.check(verb.from_json(parameters))
