"""The JSON schema of a scenario, for editors: made of the verbs and of the schema of a rule.

It holds everything that is said of one value. What only two values together show, such as a topic
that is there twice, only `load` finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafkadouble.access.security import SECURE
from kafkadouble.arguments.parameters import ACL, ARGUMENTS, PRINCIPAL, TOKENS
from kafkadouble.records.bulk import FIELDS
from kafkadouble.server.faults.rule import Rule
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb

from .contents import RECORDS
from .record_trigger import TOPIC, TRIGGER_ROWS
from .step import AT, EVERY, ON_RECORD, PRODUCE, TIMES, UNTIL, VERB, reason_against
from .taken_values import BYTES, HEADER, RECORD, TAKEN_FROM

Schema = dict[str, Any]

STEPS = tuple(each for each in VERBS.values() if reason_against(each) is None)
"""The verbs that can be a step."""


def _topic() -> Schema:
    schema = _described(VERBS["create_topic"])
    schema["properties"][RECORDS] = {"type": "array", "items": {"$ref": "#/$defs/record"}}
    return schema


def _record() -> Schema:
    parameters = VERBS["produce"].parameters
    fields = {name: parameters[name].schema for name in FIELDS}
    return {
        "description": "A value, or some of the fields of a record. Bytes that are not UTF-8 are {base64: ...}.",
        "anyOf": [
            {"type": ["string", "null"]},
            {"type": "object", "properties": fields, "additionalProperties": False},
            {
                "type": "object",
                "properties": {"base64": {"type": "string"}},
                "required": ["base64"],
                "additionalProperties": False,
            },
        ],
    }


def _group() -> Schema:
    return _described(VERBS["commit_offsets"])


def _rule() -> Schema:
    return {name: each for name, each in Rule.json_schema().items() if name != "$schema"}


def _step() -> Schema:
    return {
        "type": "object",
        "required": [VERB],
        "if": {"required": [ON_RECORD]},
        "then": {"$ref": "#/$defs/on_record"},
        "else": {
            "properties": {**_times(), VERB: {"enum": [each.name for each in STEPS]}},
            "anyOf": [{"required": [AT]}, {"required": [EVERY]}],
            "dependentRequired": {UNTIL: [EVERY]},
            "allOf": [
                {
                    "if": {"properties": {VERB: {"const": each.name}}, "required": [VERB]},
                    "then": {"$ref": f"#/$defs/{each.name}"},
                }
                for each in STEPS
            ],
        },
    }


def _times() -> Schema:
    return {name: row[2] for name, row in TIMES.items()}


def _on_record() -> Schema:
    rows = {name: row[2] for name, row in TRIGGER_ROWS.items()}
    trigger = {"type": "object", "properties": rows, "required": [TOPIC], "additionalProperties": False}
    schema = _described(VERBS[PRODUCE])
    parameters = {name: {"anyOf": [each, *_references(name)]} for name, each in schema["properties"].items()}
    return {**schema, "properties": {ON_RECORD: trigger, VERB: {"const": PRODUCE}, **parameters}}


def _references(parameter: str) -> list[Schema]:
    """The schema of a parameter of `produce` that is taken from a record."""
    fields = TAKEN_FROM[parameter]
    kinds = {RECORD: {"enum": [*fields]}, **({HEADER: {"type": "string"}} if fields == BYTES else {})}
    return [
        {"type": "object", "properties": {kind: each}, "required": [kind], "additionalProperties": False}
        for kind, each in kinds.items()
    ]


def _described(verb: Verb) -> Schema:
    return {"description": verb.summary_for_json, **verb.schema}


def _step_of(verb: Verb) -> Schema:
    schema = _described(verb)
    return {**schema, "properties": {**{name: {} for name in (*TIMES, VERB)}, **schema["properties"]}}


def _users() -> Schema:
    return {"type": "object", "minProperties": 1, "additionalProperties": ARGUMENTS["password"][2]}


def _list_of(item: Callable[[], Schema]) -> Callable[[], Schema]:
    return lambda: {"type": "array", "items": item()}


ITEMS: dict[str, tuple[str, Callable[[], Schema]]] = {
    "security": ("The protocol of every listener.", lambda: {"enum": [*SECURE]}),
    "certificate": ("What brokers show with TLS.", lambda: dict(ARGUMENTS["certificate"][2] or {})),
    "users": ("The users that log in by SASL, each with a password.", _users),
    "oauthbearer": ("The tokens of OAUTHBEARER with which clients log in by SASL.", lambda: {"enum": [*TOKENS]}),
    "acls": ("What clients may do; without an element, nothing.", _list_of(lambda: ACL)),
    "super_users": ("The principals that may do everything.", _list_of(lambda: dict(PRINCIPAL[2] or {}))),
    "topics": ("What is there from the start: topics with their records.", _list_of(_topic)),
    "groups": ("Groups with committed offsets.", _list_of(_group)),
    "rules": ("Fault rules that are armed.", _list_of(_rule)),
    "steps": ("Verbs that are called at times, or when a record arrives.", _list_of(_step)),
}
"""By section: what it is, and its schema."""


def json_schema() -> Schema:
    """The schema of the values of a scenario file."""
    definitions = {"record": _record(), "on_record": _on_record(), **{each.name: _step_of(each) for each in STEPS}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of kafkadouble",
        "type": "object",
        "properties": {name: {"description": about, **schema()} for name, (about, schema) in ITEMS.items()},
        "additionalProperties": False,
        "$defs": definitions,
    }
