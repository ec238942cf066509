"""The errors of a wrong call over HTTP are in the words of the caller's language."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.calls.verb_calls import described
from kafkadouble.control.server import ControlServer
from kafkadouble.wire.wording import Caller, caller_of
from tests.control.http import call

ALL = os.environ.get("KAFKADOUBLE_INTEROP_ALL")
OTHERS: list[Caller] = [each for each in Caller if each is not Caller.PYTHON]

PYTHON = re.compile(
    r"\b(None|True|False)\b"  # constants
    r"|\b[a-z_]+=(True|False|None|\d|'|\[)"  # keywords
    r"|\b(b'|dict\b|tuple\b|bool\b|str\b|int\b)"  # literals and types
    r"|\b[a-z]+_[a-z_]+\("  # calls
    r"|\{'|: '[^']*'\}"  # mappings
)

WRONG: tuple[Any, ...] = (None, True, -1, 0.5, "no such", {"a": None}, [None, True], {"base64": "!"}, [{"a": False}])

WITH_A_HINT: dict[str, dict[str, Any]] = {
    "advance": {"seconds": 1},
    "telemetry": {},
    "set_certificate": {"certificate": "expired"},
    "set_user": {"user": "alice", "password": "secret"},
    "client_config": {"user": "alice"},
    "add_broker": {},
    "expire_session": {"broker": 1},
    "isolate_broker": {"broker": 1},
    "disk_full": {},
    "lose_flushes": {},
    "partition_link": {"link": [1, 2]},
    "fail": {"api": "Vote", "error": "NOT_LEADER_OR_FOLLOWER"},
    "latency": {"seconds": 1, "principal": "User:alice"},
}
"""Calls that need another start, or another parameter."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with KafkaDouble() as kafka:
        kafka.create_topic("t")
        with ControlServer(kafka) as server:
            yield server.url


def message(url: str, verb: str, given: dict[str, Any], caller: Caller) -> str:
    """The text of the error; empty if there is none."""
    answer = call(url, "POST", f"/verbs/{verb}", given, {"User-Agent": f"{caller.value}/1"})
    return "" if answer.status == 200 else str(answer.error["message"])


def wrong_calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each verb without its parameters, with an unknown one, and with each one wrong."""
    for verb in described():
        names = {each["name"] for each in verb["parameters"]}
        quick = {"timeout": 0} if "timeout" in names else {}
        yield verb["name"], quick
        yield verb["name"], {"nothing": None}
        for each in verb["parameters"]:
            for value in WRONG if ALL else WRONG[len(each["name"]) % 3 :: 3]:
                yield verb["name"], {**quick, **good(verb, each["name"]), each["name"]: value}
    yield from WITH_A_HINT.items()


GOOD: dict[str, Any] = {"topic": "t", "name": "t", "api": "Produce", "error": 6, "partition": 0, "seconds": 0}


def good(verb: dict[str, Any], but: str) -> dict[str, Any]:
    """Values for the other parameters that must be given."""
    required = [each["name"] for each in verb["parameters"] if each["required"] and each["name"] != but]
    return {name: GOOD[name] for name in required if name in GOOD}


@pytest.mark.parametrize("caller", OTHERS, ids=lambda caller: caller.name)
def test_no_error_has_words_of_python(url: str, caller: Caller) -> None:
    """Each call is made by one of the callers, and each parameter is wrong for all of them; with
    KAFKADOUBLE_INTEROP_ALL=1 every caller makes every call."""
    found, first = {}, OTHERS.index(caller)
    for verb, given in list(wrong_calls())[slice(None) if ALL else slice(first, None, len(OTHERS))]:
        text = message(url, verb, given, caller)
        if PYTHON.search(text):
            found[text] = verb, given
    assert found == {}


@pytest.mark.parametrize(
    ("verb", "given", "expected"),
    [
        (
            "advance",
            {"seconds": 1},
            {
                Caller.HTTP: "give `kafkadouble serve --stepped`, or freeze it",
                Caller.COMMAND_LINE: "give `kafkadouble serve --stepped`, or freeze it",
                Caller.JAVA: "give stepped(), or freeze() it",
                Caller.GO: "give WithStepped(), or Freeze() it",
                Caller.NODE: "give stepped: true, or freeze() it",
            },
        ),
        (
            "telemetry",
            {},
            {
                Caller.HTTP: "give `kafkadouble serve --telemetry`",
                Caller.JAVA: 'give arguments("--telemetry")',
                Caller.GO: 'give WithArguments("--telemetry")',
                Caller.NODE: 'give arguments: ["--telemetry"]',
            },
        ),
        (
            "produce",
            {"topic": "t", "value": 5},
            {
                Caller.HTTP: 'value is a text, bytes as {"base64": "..."}, or null, not 5',
                Caller.JAVA: "value is a text, a byte[], or null, not 5",
                Caller.GO: "Value is a text, a []byte, or nil, not 5",
                Caller.NODE: "value is a text, a Buffer, or null, not 5",
            },
        ),
        (
            "fail",
            {"api": "Fetch", "error": 6, "client_id": True},
            {
                Caller.HTTP: "client_id is a text, not true",
                Caller.JAVA: "clientId is a text, not true",
                Caller.GO: "ClientID is a text, not true",
            },
        ),
        (
            "fail",
            {"api": "Vote", "error": 6, "peers": False},
            {Caller.HTTP: "give `kafkadouble serve --controller-port 0`"},
        ),
        (
            "produce_all",
            {"topic": "t", "records": ["a", 5]},
            {Caller.HTTP: "record 2: a record is a value or an object with value, key"},
        ),
    ],
)
def test_parameter_errors_use_the_words_of_the_caller(
    url: str, verb: str, given: dict[str, Any], expected: dict[Caller, str]
) -> None:
    for caller, words in expected.items():
        assert words in message(url, verb, given, caller), caller


@pytest.mark.parametrize(
    ("agent", "caller"),
    [
        ("kafkadouble-go/0.1.0", Caller.GO),
        ("kafkadouble-junit5", Caller.JAVA),
        ("kafkadouble-node/0.1.0", Caller.NODE),
        ("kafkadouble-ctl/0.1.0", Caller.COMMAND_LINE),
        ("curl/8.5.0", Caller.HTTP),
        ("", Caller.HTTP),
    ],
)
def test_the_user_agent_names_the_caller(agent: str, caller: Caller) -> None:
    assert caller_of(agent) is caller


def test_descriptions_of_verbs_have_no_words_of_python() -> None:
    found = [(verb["name"], each["allowed"]) for verb in described() for each in verb["parameters"]]
    found += [(verb["name"], verb["summary"]) for verb in described()]
    assert [each for each in found if PYTHON.search(each[1])] == []
