"""Each action of each plane with good and bad values of each field: a bad one is refused with the
field, what was given and what is allowed, and the JSON schema agrees."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from typing import Any

import jsonschema
import pytest

from kafkadouble.server.faults import CONNECTION, LINK, REQUEST
from kafkadouble.server.faults.actions import ACTIONS
from kafkadouble.server.faults.field_kinds import FieldKind
from kafkadouble.server.faults.match import MATCH_FIELDS
from kafkadouble.server.faults.planes import PLANES
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.faults.trigger import TRIGGER_FIELDS
from kafkadouble.wire.errors import UsageError

NAN = float("nan")
NO_TEXT: list[Any] = [1, b"t", ["t"], True]
NO_COUNT: list[Any] = [-1, True, 1.5, "1", [1]]
NO_SECONDS: list[Any] = [-0.1, 86_401, True, "1", NAN, [1]]
NO_SWITCH: list[Any] = [None, 0, "yes"]
SECONDS: list[Any] = [0, 0.5, 86_400]

GOOD: dict[str, list[Any]] = {
    # Of actions.
    "error": ["NOT_LEADER_OR_FOLLOWER", 6],
    "message": [None, "moved"],
    "when": ["before", "after"],
    "seconds": SECONDS,
    "body": [{}],
    "steps": [[{"type": "fail", "error": "NOT_LEADER_OR_FOLLOWER"}, None]],
    "path": ["throttleTimeMs"],
    "value": [None, 1],
    "how": ["crc", "bit"],
    "bytes": [1, 10**9],
    "bytes_per_second": [1, 10**9],
    "function": [len],
    "jitter": [0, 0.25],
    "gap": SECONDS,
    "on": ["append", "read", "flush"],
    # Of Match.
    "api": ["Fetch", "*"],
    "version": [None, 0, 3],
    "topic": [None, "t"],
    "partition": [None, 0, 7],
    "group": [None, "g"],
    "transactional_id": [None, "i"],
    "member_id": [None, "m"],
    "client_id": [None, "c"],
    "principal": [None, "User:alice", "Group:a:b"],
    "mechanism": [None, "PLAIN"],
    "listener": [None, "PLAINTEXT"],
    "broker": [None, 0, 3],
    "peers": [True, False],
    "predicate": [None, bool],
    "link": [[1, 2], (2, 1), (None, 1), (1, None), (None, None)],
    "both_ways": [True, False],
    "log_dir": [None, "/data"],
    # Of Trigger.
    "times": [None, 1, 3],
    "on_call": [1, 3],
    "probability": [None, 0, 0.5, 1],
    "seed": [None, 0, 7],
    "after_seconds": [None, *SECONDS],
    "for_seconds": [None, *SECONDS],
}

BAD: dict[str, list[Any]] = {
    "error": [True, [], "NOT_A_LEADER", 0, 9999, None],
    "message": NO_TEXT,
    "when": [None, "during", 1],
    "seconds": [None, *NO_SECONDS],
    "body": [None, [], "x"],
    "steps": [None, [], "x", 1],
    "path": [None, 1, []],
    "value": [],
    "how": [None, "all"],
    "bytes": [None, *NO_COUNT],
    "bytes_per_second": [None, 0, *NO_COUNT],
    "function": [None, "len"],
    "jitter": [None, *NO_SECONDS],
    "gap": [None, *NO_SECONDS],
    "on": [None, "write", 1],
    "api": [None, 1, "Fech"],
    "version": NO_COUNT,
    "topic": NO_TEXT,
    "partition": NO_COUNT,
    "group": NO_TEXT,
    "transactional_id": NO_TEXT,
    "member_id": NO_TEXT,
    "client_id": NO_TEXT,
    "principal": [*NO_TEXT, "alice", "User:", ":alice"],
    "mechanism": NO_TEXT,
    "listener": NO_TEXT,
    "broker": NO_COUNT,
    "peers": NO_SWITCH,
    "predicate": ["x", 1],
    "link": [1, "12", [], [1], [1, 2, 3], [1, 1], [-1, 2], ["1", 2], {1: 2}],
    "both_ways": NO_SWITCH,
    "log_dir": NO_TEXT,
    "times": [0, *NO_COUNT],
    "on_call": [None, 0, *NO_COUNT],
    "probability": [-0.1, 1.1, True, "1", NAN],
    "seed": NO_COUNT,
    "after_seconds": NO_SECONDS,
    "for_seconds": NO_SECONDS,
}

NAMED_OTHERWISE = {"error": "Kafka has no error", "Fech": "Kafka has no API"}
"""What is said of a name that Kafka does not have, in place of the field."""

NOT_IN_JSON = ("function", "predicate", "error", "api")
"""Fields that JSON cannot hold, or whose names the schema does not list."""


PLACES = [(action, plane) for action, row in ACTIONS.items() for plane in row.planes]
"""Every action in each of its planes."""


def given(action: str, plane: str) -> dict[str, Any]:
    """A rule with every field that it must have."""
    needed = [field.name for field in fields(ACTIONS[action].cls) if field.default is MISSING]
    found = {name: 0.5 if name == "seconds" else GOOD[name][0] for name in needed}
    more: dict[str, dict[str, Any]] = {REQUEST: {"api": "Fetch"}, LINK: {"link": (1, 2)}}
    return {**found, **more.get(plane, {})}


def fields_of(action: str, plane: str) -> dict[str, FieldKind]:
    """Every field that a rule with this action knows in this plane, but those of the plane that it
    does not have."""
    row = ACTIONS[action]
    known = [name for name in PLANES[plane].fields if not (plane == CONNECTION and name in row.without)]
    fields = {**{name: MATCH_FIELDS[name] for name in known}, **TRIGGER_FIELDS, **row.kinds}
    if action == "dialogue":  # its steps say how often
        del fields["times"]
    return fields


@pytest.mark.parametrize(("action", "plane"), PLACES)
def test_every_good_value_is_taken(action: str, plane: str) -> None:
    for name in fields_of(action, plane):
        for value in GOOD[name]:
            rule = Rule.of(action, **{**given(action, plane), name: value})
            assert rule.plane == plane
            if action != "call" and rule.match.predicate is None:
                assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize(("action", "plane"), PLACES)
def test_every_bad_value_is_refused_with_what_is_allowed(action: str, plane: str) -> None:
    for name, kind in fields_of(action, plane).items():
        for value in BAD[name]:
            with pytest.raises(UsageError) as refused:
                Rule.of(action, **{**given(action, plane), name: value})
            text = str(refused.value)
            assert repr(value) in text, (name, value)
            named = NAMED_OTHERWISE.get(name) or NAMED_OTHERWISE.get(str(value))
            assert named in text if named else f"{name} of a rule is {kind.expected}" in text, (name, value)


@pytest.mark.parametrize(("action", "plane"), PLACES)
def test_a_field_of_another_plane_is_refused_by_name(action: str, plane: str) -> None:
    known = fields_of(action, plane)
    for name in MATCH_FIELDS.keys() - known.keys() - {"link", "both_ways"}:
        value = next(each for each in GOOD[name] if each not in (None, False))
        with pytest.raises(UsageError, match=rf"(a {plane}|{re.escape(action)}) has no {name}; a rule for"):
            Rule.of(action, **{**given(action, plane), name: value})


@pytest.mark.parametrize(("action", "plane"), PLACES)
def test_the_schema_agrees(action: str, plane: str) -> None:
    if action == "call":
        return
    validator = jsonschema.Draft202012Validator(Rule.json_schema())
    base = Rule.of(action, **given(action, plane)).to_dict()
    validator.validate(base)
    for name in fields_of(action, plane).keys() - set(NOT_IN_JSON):
        part = "match" if name in MATCH_FIELDS else "trigger" if name in TRIGGER_FIELDS else "action"
        for values, is_valid in ((GOOD[name], True), (BAD[name], False)):
            for value in values:
                if isinstance(value, tuple | bytes | dict) or value != value or value == [1, 1]:
                    continue
                rule = {**base, part: {**base.get(part, {}), name: value}}
                assert validator.is_valid(rule) == is_valid, rule


def test_every_field_has_values() -> None:
    names = {name for action, plane in PLACES for name in fields_of(action, plane)}
    assert names == GOOD.keys() == BAD.keys()
