"""The verbs as the emitters of all languages need them: names, types and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafkadouble.control.calls.verb_calls import described
from kafkadouble.verbs.registry import VERBS
from kafkadouble.wire.wording import Caller, allowed_for

from .literals import words_of
from .results import type_of

DURATIONS = frozenset({"after_seconds", "for_seconds", "gap", "jitter", "seconds", "timeout"})
"""Parameters that are numbers of seconds."""

OR = ", or "

SHAPES: Mapping[str, str] = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "switch": "switch",
    "object": "any",
    "value": "any",
}
"""The kind of a parameter in a description -> its type here, but for lists."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "remove_rule.rule": ("Rule",),
    "wait_for_rule.rule": ("Rule",),
    "restore.snapshot": ("Snapshot",),
    "since": ("Request",),
    "records.since": ("Records", "EndOffsets"),
    "wait_for_records.since": ("Records", "EndOffsets"),
}
"""A parameter, or one of a verb -> the values that it takes besides a text or an integer: results
of verbs that are given back."""


class ParameterModel(NamedTuple):
    """One parameter. `shape` is text, integer, number, duration, switch, any, or a list as
    `text[]`. `words` are the sets and words that its texts are from, empty for any text. `other`
    are the names of results that may be given instead: `Records` for a list of Record,
    `EndOffsets` for offsets by partition. `verb` is one that has it."""

    name: str
    shape: str
    allowed: str
    words: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    verb: str = ""


class VerbModel(NamedTuple):
    """One verb. `result` is a type as in `results.py`; None without a result."""

    name: str
    subject: str
    summary: str
    result: str | None
    required: tuple[ParameterModel, ...]
    optional: tuple[ParameterModel, ...]


def verbs() -> list[VerbModel]:
    """Every verb of the control plane, in the order of the alphabet."""
    return [_verb(each) for each in described()]


def optional_parameters(models: Iterable[VerbModel]) -> list[ParameterModel]:
    """Each optional parameter once, with all that it may be in words."""
    by_name: dict[str, list[ParameterModel]] = {}
    for verb in models:
        for model in verb.optional:
            by_name.setdefault(model.name, []).append(model)
    return [_merged(by_name[name]) for name in sorted(by_name)]


def _merged(same: list[ParameterModel]) -> ParameterModel:
    types = {(model.shape, model.words) for model in same}
    if len(types) > 1:
        raise ValueError(f"{same[0].name} has several types: {sorted(types)}")
    others = dict.fromkeys(other for model in same for other in model.other)
    return same[0]._replace(allowed=OR.join(dict.fromkeys(model.allowed for model in same)), other=tuple(others))


def _verb(described_verb: Mapping[str, Any]) -> VerbModel:
    name, given = described_verb["name"], described_verb["parameters"]
    return VerbModel(
        name,
        described_verb["subject"],
        described_verb["summary"],
        None if described_verb["result"] == "None" else type_of(described_verb["result"]),
        tuple(_parameter(name, each) for each in given if each["required"]),
        tuple(_parameter(name, each) for each in given if not each["required"]),
    )


def _parameter(verb: str, given: Mapping[str, Any]) -> ParameterModel:
    name = given["name"]
    allowed = VERBS[verb].parameters[name].allowed
    other = OTHERS.get(f"{verb}.{name}") or OTHERS.get(name, ())
    return ParameterModel(name, _shape(given), allowed, words_of(verb, given), other, verb)


def allowed_in(parameter: ParameterModel, caller: Caller) -> str:
    """What a parameter allows, in the words of a language."""
    return OR.join(allowed_for(each, caller) for each in parameter.allowed.split(OR))


def _shape(given: Mapping[str, Any]) -> str:
    if given["name"] in DURATIONS:
        return "duration"
    if given["kind"] != "list":
        return SHAPES[given["kind"]]
    schema = given["schema"]
    items = schema.get("anyOf", [schema])[0].get("items", {}).get("type")
    return {"string": "text[]", "integer": "integer[]"}.get(items if isinstance(items, str) else "", "any[]")
