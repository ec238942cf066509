"""Collects the verbs: reads the marked functions of the modules of verbs, and the marked methods of
a broker and of the requests, and finds the kind of each parameter.

A verb of a broker, as `kafka.brokers[1].kill()`, has the name `kill_broker` and a parameter
`broker`. A verb of the requests, as `kafka.requests.of("Fetch")`, takes the names of APIs as a
parameter `apis`. The kinds of the parameters of a fault rule are those of the rule's fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from inspect import get_annotations
from typing import Any

from kafkadouble.arguments.parameters import ARGUMENTS, Argument
from kafkadouble.brokers.broker_handle import BrokerHandle
from kafkadouble.common.marking import ATTRIBUTE, VERB
from kafkadouble.records.record_filter import RecordNarrowing
from kafkadouble.seen.request_filter import RequestNarrowing
from kafkadouble.seen.requests import Requests
from kafkadouble.server.faults.actions import ACTIONS
from kafkadouble.server.faults.field_kinds import FieldKind
from kafkadouble.server.faults.match import MATCH_FIELDS, Match
from kafkadouble.server.faults.narrowing import DiskNarrowing, LineNarrowing, Narrowing
from kafkadouble.server.faults.trigger import TRIGGER_FIELDS, Trigger

from .generated.double_verbs import ROOMS
from .verb import REQUIRED, Parameter, Verb

Row = Argument | None

BROKER = "broker"
FIELDS: Mapping[str, FieldKind] = {**MATCH_FIELDS, **TRIGGER_FIELDS}

VERBS_OF_REQUESTS: Mapping[str, str] = {"of": "requests", "clear": "clear_requests"}
"""Method of `KafkaDouble.requests` -> name of its verb, where it is another one."""

NARROWINGS: Mapping[str, Any] = {
    each.__name__: each for each in (Narrowing, LineNarrowing, DiskNarrowing, RequestNarrowing, RecordNarrowing)
}
"""The types of `**more: Unpack[...]`, by their names."""

RULE_FIELDS = (*fields(Match), *fields(Trigger))

LASTING = (LineNarrowing, DiskNarrowing)
"""A rule of these lasts until it is removed."""


def collected() -> dict[str, Verb]:
    """Every verb by its name, in the order of the alphabet."""
    found = {each.name: each for each in (*_of_double(), *_of_broker(), *_of_requests())}
    return dict(sorted(found.items()))


def _of_double() -> Iterator[Verb]:
    for room in ROOMS:
        for name, function in vars(import_module(room)).items():
            # A module may import a verb of another one.
            if VERB in getattr(function, "__dict__", ()) and function.__module__ == room:
                call = _getter(name) if ATTRIBUTE in function.__dict__ else _method(name)
                yield _verb(name, _subject(room), function, call)


def _getter(name: str) -> Callable[..., Any]:
    return lambda kafka: getattr(kafka, name)


def _method(name: str) -> Callable[..., Any]:
    """A call of the method as the class of the double has it, which may be a derived one."""
    return lambda kafka, **given: getattr(kafka, name)(**given)


def _subject(room: str) -> str:
    """The subject of the verbs of a module: its name, as `topics`, and `faults` for all of them."""
    *_, folder, name = room.split(".")
    return "faults" if folder == "faults" else name


def _of_broker() -> Iterator[Verb]:
    parameter = Parameter(BROKER, ARGUMENTS[BROKER], REQUIRED)
    for name, member in vars(BrokerHandle).items():
        if VERB in getattr(member, "__dict__", ()):
            verb = _verb(f"{name}_broker", "brokers", member, _at_broker(name))
            yield verb._replace(parameters={BROKER: parameter, **verb.parameters})


def _at_broker(name: str) -> Callable[..., Any]:
    return lambda kafka, broker, **given: getattr(kafka.brokers[broker], name)(**given)


def _of_requests() -> Iterator[Verb]:
    for name, member in vars(Requests).items():
        if VERB in getattr(member, "__dict__", ()):
            yield _verb(VERBS_OF_REQUESTS.get(name, name), "requests", member, _at_requests(name))


def _at_requests(name: str) -> Callable[..., Any]:
    return lambda kafka, apis=(), **given: getattr(kafka.requests, name)(*apis, **given)


def _verb(name: str, subject: str, function: Callable[..., Any], call: Callable[..., Any]) -> Verb:
    summary = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    signature = inspect.signature(function)
    result = "None" if signature.return_annotation is signature.empty else str(signature.return_annotation)
    return Verb(
        name, subject, {each.name: each for each in _parameters(name, subject, signature)}, call, result, summary
    )


def _parameters(verb: str, subject: str, signature: inspect.Signature) -> Iterator[Parameter]:
    _, *own = signature.parameters.values()
    for each in own:
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            yield from _narrowing(verb, NARROWINGS[str(each.annotation).removeprefix("Unpack[").removesuffix("]")])
        elif each.kind is inspect.Parameter.VAR_POSITIONAL:
            yield Parameter(each.name, row(verb, subject, each.name), ())
        else:
            default = REQUIRED if each.default is each.empty else each.default
            yield Parameter(each.name, row(verb, subject, each.name), default)


def _narrowing(verb: str, narrowing: Any) -> Iterator[Parameter]:
    if narrowing in (RequestNarrowing, RecordNarrowing):
        of = "records" if narrowing is RecordNarrowing else "wait_for_request"
        yield from (Parameter(name, row(of, "", name), None) for name in get_annotations(narrowing))
        return
    for name in get_annotations(narrowing):
        is_lasting = name == "times" and narrowing in LASTING
        default = None if is_lasting else next(each.default for each in RULE_FIELDS if each.name == name)
        yield Parameter(name, _optional(FIELDS[name], default), default)


def _optional(kind: FieldKind, default: Any) -> Argument:
    fits, allowed, schema = _row_of(kind)
    if kind.is_optional and default is not None:  # as `times`, which is 1 unless it is given
        schema = {**(schema or {}), "type": [(schema or {})["type"], "null"]}
        return (lambda value: value is None or fits(value)), allowed, schema
    return fits, allowed, schema


def row(verb: str, subject: str, name: str) -> Argument:
    """The row of the values that a parameter of a verb allows. Raises KeyError if no table has a
    row for it."""
    kinds = _kinds_of_rule(verb) if subject == "faults" else {}
    kind = None if f"{verb}.{name}" in ARGUMENTS else kinds.get(name)
    return _row_of(kind) if kind is not None else ARGUMENTS.get(f"{verb}.{name}") or ARGUMENTS[name]


def _kinds_of_rule(verb: str) -> dict[str, FieldKind]:
    action = ACTIONS.get("call" if verb == "on" else verb)
    return {**FIELDS, **(action.kinds if action is not None else {})}


def _row_of(kind: FieldKind) -> Argument:
    return kind.fits, kind.expected, None if kind.schema is None else dict(kind.schema)
