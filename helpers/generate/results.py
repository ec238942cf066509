"""The values that verbs return, as the emitters of all languages need them: from the classes of the
product, so that no library says what is not there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import get_annotations, getdoc
from typing import Any, NamedTuple

from kafkadouble.brokers.cluster_description import BrokerDescription, ClusterDescription
from kafkadouble.common.step_outcome import StepOutcome
from kafkadouble.coordinators.group_values import Committed, Group, Member
from kafkadouble.coordinators.transactions import Transaction
from kafkadouble.lint.finding import LintCase, LintFinding
from kafkadouble.records.read_records import ReadRecord
from kafkadouble.server.tracing.seen_parts import SeenPart
from kafkadouble.topics.partition_state import PartitionState
from kafkadouble.topics.topic_description import TopicDescription

WORDS: Mapping[str, str] = {
    "ReadRecord": "Record",
    "SeenRequest": "Request",
    "SeenPart": "RequestPart",
    "Group": "GroupDescription",
    "Committed": "Offset",
    "RuleHandle": "Rule",
    "Rule": "any",
    "Object": "object",
    "TelemetryValue": "any",
    "Any": "any",
    "str": "text",
    "int": "integer",
    "float": "number",
    "bool": "switch",
}
"""Python's name of a type -> the name in the libraries, if it is another one."""

FORMS = (
    (r"\bMapping\[", "dict["),
    (r"\bHeaders\b", "list[Header]"),
    (r"tuple\[(\w+), \.\.\.\]", r"list[\1]"),
    (r"dict\[TopicPartition, (\w+)\]", r"dict[str, dict[int, \1]]"),
)
"""A form of a type in Python -> that of its JSON."""


class FieldModel(NamedTuple):
    """A field of a value. `type` is as in `type_of`; `words` is the name of the set that its texts
    are from, or empty."""

    name: str
    type: str
    words: str = ""


class ResultModel(NamedTuple):
    """A value that verbs return; `about` says what it is, with the names of fields in backticks."""

    name: str
    about: str
    fields: tuple[FieldModel, ...]


REQUEST: Mapping[str, str] = {
    "number": "int",
    "time": "int",
    "took": "int | None",
    "broker": "int",
    "peer": "str | None",
    "client_id": "str | None",
    "principal": "str",
    "api": "str",
    "version": "int",
    "correlation_id": "int",
    "outcome": "str",
    "rules": "list[str]",
    "errors": "list[str]",
    "parts": "list[SeenPart]",
    "size": "int",
    "answer_size": "int | None",
    "records": "int | None",
    "record_bytes": "int | None",
    "request": "Object | None",
    "answer": "Object | None",
    "text": "str | None",
}
"""A request has a JSON form of its own; and a shorter one for the last requests, with `text`."""

REQUEST_ABOUT = (
    "A request that a client sent. `took` is in milliseconds, None while the request waits. `request` and "
    "`answer` are in the form of Kafka's own JSON, None if they are not kept. Of the last requests, without "
    "their contents, `text` is a line for a person; it is None elsewhere."
)
SNAPSHOT: Mapping[str, str] = {"name": "str", "topics": "int", "records": "int", "size_bytes": "int", "taken_ms": "int"}
SNAPSHOT_ABOUT = "What a snapshot holds, and the `name` by which the double keeps it. `restore` takes it back."

CLASSES: Mapping[str, Any] = {
    "Record": ReadRecord,
    "RequestPart": SeenPart,
    "PartitionState": PartitionState,
    "TopicDescription": TopicDescription,
    "Offset": Committed,
    "Member": Member,
    "GroupDescription": Group,
    "Transaction": Transaction,
    "BrokerDescription": BrokerDescription,
    "ClusterDescription": ClusterDescription,
    "StepOutcome": StepOutcome,
    "LintCase": LintCase,
    "LintFinding": LintFinding,
}

WORDS_OF_FIELDS: Mapping[str, str] = {
    "Request.api": "ApiName",
    "Request.errors": "ErrorName",
    "Request.outcome": "RequestOutcome",
    "Request.rules": "RuleAction",
    "RequestPart.error": "ErrorName",
    "GroupDescription.state": "GroupState",
    "GroupDescription.type": "GroupType",
    "Transaction.state": "TransactionState",
    "BrokerDescription.state": "BrokerState",
    "StepOutcome.state": "StepState",
    "LintFinding.rule": "LintRule",
}
"""A field -> the set of `literals.py` that its texts are from."""


def results() -> list[ResultModel]:
    """Every value, each after those that it holds."""
    classes = {name: _model(name, _about(getdoc(cls) or ""), get_annotations(cls)) for name, cls in CLASSES.items()}
    own = (_model("Request", REQUEST_ABOUT, REQUEST), _model("Snapshot", SNAPSHOT_ABOUT, SNAPSHOT))
    return [*classes.values(), *own]


def _about(text: str) -> str:
    """The docstring of a class as one line; what its list says of each field is a sentence."""
    return " ".join(re.sub(r"^- ", "", text, flags=re.MULTILINE).split())


def _model(name: str, about: str, annotations: Mapping[str, Any]) -> ResultModel:
    fields = (
        FieldModel(field, type_of(_text(annotation)), WORDS_OF_FIELDS.get(f"{name}.{field}", ""))
        for field, annotation in annotations.items()
    )
    return ResultModel(name, about, tuple(fields))


def _text(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))


def type_of(annotation: str) -> str:
    """The type of a value: text, integer, number, switch, bytes, object (of JSON), any, the name of
    a value, `list[...]`, `dict[K, ...]`, or one of these with ` | None`."""
    for form, made in FORMS:
        annotation = re.sub(form, made, annotation)
    return re.sub(r"[A-Za-z]\w*", lambda found: WORDS.get(found[0], found[0]), annotation)


def parsed(type: str) -> tuple[str, list[str]]:
    """The outer part of a type, and its arguments: `dict`, [`text`, `integer`]; `optional` for
    `... | None`."""
    if type.endswith(" | None"):
        return "optional", [type.removesuffix(" | None")]
    outer, bracket, rest = type.partition("[")
    if not bracket:
        return outer, []
    inner = rest[:-1]
    return (outer, inner.split(", ", 1)) if outer == "dict" else (outer, [inner])
