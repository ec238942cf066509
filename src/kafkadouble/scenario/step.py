"""The section `steps` of a scenario: verbs that are called at times."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kafkadouble.arguments import Argument, check_one
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb

from .calls import ScenarioCall, checked_call, fields_of, items_of, located
from .document import ScenarioDocument, ValuePath

LONGEST_S = 31_536_000
"""A year."""

AT, VERB = "at", "verb"


def _fits(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= LONGEST_S


AT_ROW: Argument = (
    _fits,
    f"a number of seconds from 0 to {LONGEST_S}",
    {"type": "number", "minimum": 0, "maximum": LONGEST_S},
)

NO_STEP = {
    "advance": "the times of the steps are those of the clock: give `at` of the next step",
    "reset": "a reset applies the scenario again",
    "restore": "a restore ends the steps",
}
"""The verbs that cannot be a step, each with the reason. Nor can a verb that waits."""


class ScenarioStep(NamedTuple):
    """A verb and when it is called: `at` seconds of the double's clock after the scenario was
    applied."""

    at: float
    call: ScenarioCall


def steps_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[ScenarioStep, ...]:
    """The section `steps`, in the order of the times."""
    found = [_step(document, at, item) for at, item in items_of(document, path, value)]
    return tuple(sorted(found, key=lambda step: step.at))


def _step(document: ScenarioDocument, path: ValuePath, item: Any) -> ScenarioStep:
    if not isinstance(item, dict):
        raise document.problem(path, f"a step is a mapping with at, verb and the parameters of the verb, not {item!r}")
    for name, needed in ((VERB, "the name of a verb"), (AT, AT_ROW[1])):
        if name not in item:
            raise document.problem(path, f"a step needs {name}, {needed}")
    with located(document, (*path, AT)):
        check_one(AT, AT_ROW, item[AT])
    verb = _verb(document, (*path, VERB), item[VERB])
    fields_of(document, path, f"a step with {verb.name}", item, [AT, VERB, *verb.parameters])
    given = {name: value for name, value in item.items() if name not in (AT, VERB)}
    return ScenarioStep(item[AT], checked_call(document, path, verb, given))


def _verb(document: ScenarioDocument, path: ValuePath, name: Any) -> Verb:
    if not isinstance(name, str):
        raise document.problem(path, f"verb is the name of a verb, not {name!r}")
    with located(document, path):
        verb = VERBS[name]
    if (reason := reason_against(verb)) is not None:
        raise document.problem(path, f"{name} cannot be a step: {reason}")
    return verb


def reason_against(verb: Verb) -> str | None:
    """Why a verb cannot be a step; None if it can."""
    for each in verb.parameters.values():
        if each.is_required and each.schema is None:
            return f"it needs {each.name}, {each.allowed}, which only a Python program can give"
    if verb.subject == "waiting":
        return "a step happens at its time, and does not wait"
    return NO_STEP.get(verb.name)
