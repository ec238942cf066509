"""Checks the arguments of KafkaDouble's methods: a table with one row for each argument name.

A value of a wrong type raises a UsageError that names the argument; no broker is called. A value of
the right type that names no existing topic or partition reaches the broker, which answers with an
error code: a KafkaError. The registry of verbs reads the same table.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.kinds import is_given_as
from kafkadouble.wire.plain_values import fault_of
from kafkadouble.wire.wording import AllowedValues, OwnName, ShownValue

from .record_arguments import RECORD_ARGUMENTS

INT64 = 2**63
LARGEST_FACTOR = 1_000_000
LONGEST_LABEL = 249
ISOLATION_LEVELS = "read_uncommitted", "read_committed"
FORMATS = "json", "text"

Argument = tuple[Callable[[Any], bool], str, "dict[str, Any] | None"]
"""The check of a value, what is allowed, and the JSON schema; None if JSON cannot hold a value."""


def _integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _index(value: Any) -> bool:
    return _integer(value) and 0 <= value < 2**31


def _offset(value: Any) -> bool:
    return _integer(value) and 0 <= value < INT64


def _committed(value: Any) -> bool:
    if is_given_as("committed offset", value):
        return _offset(value.offset) and isinstance(value.metadata, str)
    return _offset(value)


def _count(value: Any) -> bool:
    return _integer(value) and value >= 1


def _ids(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset) and all(map(_integer, value))


def _int64(value: Any) -> bool:
    return _integer(value) and -INT64 <= value < INT64


def _duration(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _factor(value: Any) -> bool:
    return _duration(value) and 1 / LARGEST_FACTOR <= value <= LARGEST_FACTOR


def _is(*kinds: Any) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kinds)


def _bytes_like(value: object) -> bool:
    return value is None or isinstance(value, str | bytes)


def _iterable(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping)


def _pairs(value: object) -> bool:
    return isinstance(value, Mapping) or _iterable(value)


def _names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _replicas(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_index, value))


def _partition(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and _index(value[1])


def _offsets(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and len(value) > 0
        and all(map(_partition, value))
        and all(map(_committed, value.values()))
    )


def _assignment(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and all(isinstance(name, str) for name in value)
        and all(
            isinstance(each, list | tuple | set | frozenset) and all(map(_partition, each)) for each in value.values()
        )
    )


def _reset_point(value: Any) -> bool:
    return value in ("earliest", "latest") if isinstance(value, str) else _offset(value)


def _rule(value: object) -> bool:
    from kafkadouble.server.faults.rule import Rule  # where a value is one

    return isinstance(value, Rule) or is_given_as("rule handle", value)


def _handle(value: object) -> bool:
    return is_given_as("rule handle", value) or _integer(value)


def _snapshot(value: object) -> bool:
    return isinstance(value, str) or is_given_as("snapshot", value)


def _label(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= LONGEST_LABEL


def _since(value: object) -> bool:
    from kafkadouble.server.tracing.history import SeenRequest  # where a value is one

    return _integer(value) or isinstance(value, SeenRequest) or is_given_as("number of a request", value)


def _principal(value: object) -> bool:
    return isinstance(value, str) and all(value.partition(":"))


def _password(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _acls(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) or is_given_as("ACL", each) for each in value)


def _response(value: object) -> bool:
    from kafkadouble.messages.message import Message  # where a value is one

    return isinstance(value, Message | Mapping | bytes | bytearray | memoryview) or _steps(value)


def _steps(value: object) -> bool:
    """Mappings and actions pass: the rule checks their contents."""
    never = (bool, float, list, tuple, set)
    return isinstance(value, list | tuple) and len(value) > 0 and not any(isinstance(each, never) for each in value)


def _error(value: object) -> bool:
    return isinstance(value, str | int) or _steps(value)


NAME: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}
INDEX: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 1}
BYTES: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"base64": {"type": "string"}}, "required": ["base64"]},
        {"type": "null"},
    ]
}
HEADERS: dict[str, Any] = {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": ["array", "object"]}}]}
OFFSET: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {
            "type": "object",
            "properties": {"offset": {"type": "integer", "minimum": 0}, "metadata": NAME},
            "required": ["offset", "metadata"],
        },
    ]
}
OFFSETS: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "object", "additionalProperties": OFFSET},
}
ASSIGNMENT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "array", "prefixItems": [NAME, INDEX], "minItems": 2, "maxItems": 2},
                {
                    "type": "object",
                    "properties": {"topic": NAME, "partition": INDEX},
                    "required": ["topic", "partition"],
                },
            ]
        },
    },
}

PRINCIPAL: Argument = (
    _principal,
    "a type and a name, such as User:alice",
    {"type": "string", "pattern": "^[^:]+:.+"},
)
ACL: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "principal": NAME,
                "operations": {"anyOf": [NAME, {"type": "array", "items": NAME}]},
                "resource": NAME,
                "permission": {"enum": ["allow", "deny"]},
                "host": NAME,
            },
            "required": ["principal", "operations", "resource"],
            "additionalProperties": False,
        },
    ]
}
CERTIFICATES = "valid", "expired", "self-signed", "wrong-host"
TOKENS = "unsecured", "signed", "any"
LABEL: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL}
HANDLE: Argument = (_handle, "the handle or the id of a rule", {"type": ["integer", "object"], "minimum": 1})
FACTOR: dict[str, Any] = {"type": "number", "minimum": 1 / LARGEST_FACTOR, "maximum": LARGEST_FACTOR}
RESET_POINT: dict[str, Any] = {"anyOf": [{"enum": ["earliest", "latest"]}, {"type": "integer", "minimum": 0}]}

ARGUMENTS: dict[str, Argument] = {
    **RECORD_ARGUMENTS,
    "topic": (_is(str), "a name", NAME),
    "name": (_is(str), "a name", NAME),
    "group": (_is(str), "a name", NAME),
    "member_id": (_is(str), "the id of a member", NAME),
    "listener": (_is(str), "the name of a listener", NAME),
    "transactional_id": (_is(str), "a name", NAME),
    "host": (_is(str), "a name or an address", NAME),
    "partition": (_index, "an index from 0", INDEX),
    "partitions": (_integer, "a number of partitions", INTEGER),
    "replication_factor": (_integer, "a number of replicas", INTEGER),
    "config": (_is(Mapping), "a mapping of names to values", {"type": "object"}),
    "before": (_integer, "an offset", INTEGER),
    "offset": (_integer, "an integer", INTEGER),
    "timestamp": (_int64, "an integer, milliseconds since the epoch", INTEGER),
    "to": (_integer, "the id of a broker", INTEGER),
    "broker": (_integer, "the id of a broker", INTEGER),
    "count": (_count, "a count from 1", COUNT),
    "hits": (_count, "a count from 1", COUNT),
    "members": (_index, "a count from 0", INDEX),
    "lag": (_index, "a number of records from 0", INDEX),
    "epoch": (_index, "an integer from 0", INDEX),
    "isr": (_ids, "ids of brokers", {"type": "array", "items": INTEGER}),
    "leader": (_integer, "the id of a broker", INTEGER),
    "api": (_is(str), "the name of an API", NAME),
    "apis": (_names, "names of APIs", {"type": "array", "items": NAME}),
    "assert_seen.times": (_index, "a number of requests from 0", INDEX),
    "client_id": (_is(str), "a text", NAME),
    "user": (_is(str), "the name of a user", NAME),
    "ip": (_is(str), "an address", NAME),
    "password": (_password, "a text of one character or more", {"type": "string", "minLength": 1}),
    "principal": PRINCIPAL,
    "mechanism": (_is(str), "the name of a SASL mechanism", NAME),
    "client": (_is(str), "the name of a client library", NAME),
    "contents": (_is(bool), "True or False", {"type": "boolean"}),
    "acls": (_acls, "a list of ACLs, such as 'User:alice allow READ topic:orders*'", {"type": "array", "items": ACL}),
    "certificate": (
        lambda value: value in CERTIFICATES,
        ", ".join(CERTIFICATES),
        {"enum": [*CERTIFICATES]},
    ),
    "oauthbearer": (lambda value: value in TOKENS, ", ".join(TOKENS), {"enum": [*TOKENS]}),
    "lifetime_ms": (_integer, "a number of milliseconds", INTEGER),
    "claims": (_is(Mapping), "a mapping of claims to values", {"type": "object"}),
    "producer_byte_rate": (_duration, "a number of bytes per second", {"type": "number"}),
    "consumer_byte_rate": (_duration, "a number of bytes per second", {"type": "number"}),
    "request_percentage": (_duration, "a percentage of the time of one thread", {"type": "number"}),
    "controller_mutation_rate": (_duration, "a number of partitions per second", {"type": "number"}),
    "connection_creation_rate": (_duration, "a number of connections per second", {"type": "number"}),
    "state": (_is(str), "the name of a state", NAME),
    "where": (callable, "a function", None),
    "timeout": (_duration, "a number of seconds", {"type": "number"}),
    "reassign": (_is(bool), "True or False", {"type": "boolean"}),
    "replicas": (_replicas, "a list of ids of brokers", {"type": "array", "items": INDEX, "minItems": 1}),
    "seconds": (_duration, "a number of seconds", {"type": "number"}),
    "factor": (_factor, f"a number from {1 / LARGEST_FACTOR:f} to {LARGEST_FACTOR}", FACTOR),
    "seed": (_integer, "an integer", INTEGER),
    "value": (_bytes_like, "bytes, a text or None", BYTES),
    "key": (_bytes_like, "bytes, a text or None", BYTES),
    "headers": (_pairs, "pairs of a name and a value", HEADERS),
    "isolation": (
        lambda value: value in ISOLATION_LEVELS,
        " or ".join(ISOLATION_LEVELS),
        {"enum": [*ISOLATION_LEVELS]},
    ),
    "after": (_is(bool), "True or False", {"type": "boolean"}),
    "records": (_iterable, "an iterable of records", {"type": "array"}),
    "path": (_is(str, os.PathLike), "the path of a file", NAME),
    "scenario": (_is(str, os.PathLike), "the path of a file", NAME),
    "format": (lambda value: value in FORMATS, " or ".join(FORMATS), {"enum": [*FORMATS]}),
    "internal": (_is(bool), "True or False", {"type": "boolean"}),
    "offsets": (_offsets, "a mapping of (topic, partition) to an offset from 0", OFFSETS),
    "assignment": (_assignment, "a mapping of members to lists of (topic, partition)", ASSIGNMENT),
    "reset_offsets.to": (_reset_point, "earliest, latest or an offset from 0", RESET_POINT),
    "rule": (_rule, "a rule, or the handle of one", {"type": "object"}),
    "handle": HANDLE,
    "remove_rule.rule": HANDLE,
    "wait_for_rule.rule": HANDLE,
    "wait_for_request.error": (
        _is(str, int, bool),
        "the name or the number of an error, True or False",
        {"type": ["string", "integer", "boolean"]},
    ),
    "ready": (_is(bool), "True or False", {"type": "boolean"}),
    "advance": (_is(bool), "True or False", {"type": "boolean"}),
    "wait_for_request.since": (_since, "milliseconds since the epoch, or a request", {"type": ["integer", "object"]}),
    "snapshot": (_snapshot, "a snapshot of snapshot(), or the name of one", {"type": ["string", "object"]}),
    "snapshot.name": (_label, "a name of 1 to 249 characters", LABEL),
    "ignore": (_iterable, "names of rules", {"type": "array", "items": NAME}),
    "fail.error": (
        _error,
        "the name or the number of an error, or a list of them",
        {"type": ["string", "integer", "array"]},
    ),
    "respond.body": (
        _response,
        "a response, a mapping as in Kafka's JSON, bytes, or a list of them",
        {"type": ["object", "array"], "properties": {"base64": {"type": "string"}}},
    ),
}
"""For each argument: the check of a value, what is allowed, for the error message, and the JSON
schema. A row `verb.argument` is for one verb. A method whose default is None also allows None."""


BYTES_OF_RECORDS = ("headers", "records")
"""The arguments whose texts may be bytes that are no UTF-8, as Python's `surrogateescape` has them;
they are checked when they are encoded."""

SECRETS = ("password",)
"""The arguments whose values no error shows."""


def check(**given: object) -> None:
    """Raises UsageError for the first value that its argument does not allow."""
    for name, value in given.items():
        check_one(name, ARGUMENTS[name], value)


def check_one(name: str, argument: Argument, value: object) -> None:
    """Raises UsageError if this argument does not allow the value."""
    fault = None if name in BYTES_OF_RECORDS else fault_of(value)
    if fault is None and argument[0](value):
        return
    words: dict[str, Any] = {"name": OwnName(name), "allowed": AllowedValues(argument[1])}
    if name in SECRETS:
        raise UsageError("{name} is {allowed}", **words)
    if fault is not None:
        raise UsageError("{name} is {allowed}: {fault}", **words, fault=fault)
    raise UsageError("{name} is {allowed}, not {value}", **words, value=ShownValue(value))


def check_plain(**given: object) -> None:
    """Raises UsageError for a text or an integer that no argument may hold; for arguments with
    checks of their own."""
    for name, value in given.items():
        if fault := fault_of(value):
            raise UsageError("{name} cannot be used: {fault}", name=OwnName(name), fault=fault)


def check_given(**given: object) -> None:
    """As `check`, for arguments whose default is None: None is allowed."""
    check(**{name: value for name, value in given.items() if value is not None})
