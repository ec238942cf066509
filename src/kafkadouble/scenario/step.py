"""The section `steps` of a scenario: verbs that are called at given times, at intervals, or when a
record arrives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafkadouble.arguments.parameters import Argument, check_one
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb

from .calls import ScenarioCall, checked_call, fields_of, items_of, located
from .files.document import ScenarioDocument, ValuePath
from .record_trigger import RecordTrigger, trigger_of
from .taken_values import Taken, taken_of, with_samples

LONGEST_S = 31_536_000
"""The latest time of a step in seconds: one year."""
SHORTEST_S = 0.001

AT, EVERY, UNTIL, ON_RECORD, VERB = "at", "every", "until", "on_record", "verb"
PRODUCE = "produce"
"""The verb of each step that waits for records."""


def _seconds(least: float) -> Argument:
    def fits(value: Any) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and least <= value <= LONGEST_S

    schema = {"type": "number", "minimum": least, "maximum": LONGEST_S}
    return fits, f"a number of seconds from {least} to {LONGEST_S}", schema


TIMES: dict[str, Argument] = {AT: _seconds(0), EVERY: _seconds(SHORTEST_S), UNTIL: _seconds(0)}
"""A field of a step that is a time -> its allowed values."""
WHEN = *TIMES, ON_RECORD
"""The fields that say when the verb is called."""

NO_STEP = {
    "advance": "the clock decides the times of the steps: set `at` of the next step",
    "reset": "a reset applies the scenario again",
    "restore": "a restore ends the steps",
}
"""The verbs that cannot be a step, each with the reason. Nor can a verb that waits."""


class ScenarioStep(NamedTuple):
    """A call of a verb, and its time. The first call is `at` seconds of the double's clock after
    the scenario was applied. With `every`, the call is repeated at this interval in seconds, until
    `until`. A step with `on_record` is called when a record arrives, and `taken` maps parameters to
    values of this record."""

    at: float
    call: ScenarioCall
    every: float | None = None
    until: float | None = None
    on_record: RecordTrigger | None = None
    taken: Mapping[str, Taken] = {}

    def due_ms(self, number: int) -> int | None:
        """The time of a call, by its number from 0, in ms; None if there is no such call."""
        if number > 0 and self.every is None:
            return None
        time = round((self.at + number * (self.every or 0)) * 1000)
        return time if self.until is None or time <= round(self.until * 1000) else None

    def number_at(self, time_ms: int) -> int:
        """The number of the latest call at or before `time_ms`, which is not before the first
        call."""
        return 0 if self.every is None else int((time_ms - self.at * 1000) // (self.every * 1000))


def steps_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[ScenarioStep, ...]:
    """The section `steps`, in the order of the times."""
    found = [_step(document, at, item) for at, item in items_of(document, path, value)]
    return tuple(sorted(found, key=lambda step: step.at))


def _step(document: ScenarioDocument, path: ValuePath, item: Any) -> ScenarioStep:
    if not isinstance(item, dict):
        raise document.problem(path, f"a step is a mapping with at, verb and the parameters of the verb, not {item!r}")
    if VERB not in item:
        raise document.problem(path, "a step needs verb, the name of a verb")
    verb = _verb(document, (*path, VERB), item[VERB])
    if ON_RECORD in item and verb.name != PRODUCE:
        raise document.problem((*path, VERB), f"the verb of a step with on_record is {PRODUCE}, not {verb.name}")
    when = WHEN if verb.name == PRODUCE else TIMES
    fields_of(document, path, f"a step with {verb.name}", item, [*when, VERB, *verb.parameters])
    given = {name: value for name, value in item.items() if name not in (*WHEN, VERB)}
    if ON_RECORD in item:
        return _of_records(document, path, item, given)
    times = _times(document, path, item)
    return ScenarioStep(call=checked_call(document, path, verb, given), **times)


def _times(document: ScenarioDocument, path: ValuePath, item: Mapping[str, Any]) -> dict[str, Any]:
    if AT not in item and EVERY not in item:
        raise document.problem(path, f"a step needs at, {TIMES[AT][1]}, or every or on_record")
    if UNTIL in item and EVERY not in item:
        raise document.problem((*path, UNTIL), "until is the end of a step with every: add every, or leave until out")
    for name in [each for each in TIMES if each in item]:
        with located(document, (*path, name)):
            check_one(name, TIMES[name], item[name])
    times = {name: item[name] for name in TIMES if name in item}
    times.setdefault(AT, item.get(EVERY))
    if times[AT] > times.get(UNTIL, math.inf):
        raise document.problem((*path, UNTIL), f"until is before the first call, which is at {times[AT]} s")
    return times


def _of_records(
    document: ScenarioDocument, path: ValuePath, item: Mapping[str, Any], given: Mapping[str, Any]
) -> ScenarioStep:
    for name in [each for each in TIMES if each in item]:
        raise document.problem(
            (*path, name), f"a step with on_record is called when a record arrives: leave {name} out"
        )
    trigger = trigger_of(document, (*path, ON_RECORD), item[ON_RECORD])
    taken = taken_of(document, path, given)
    call = checked_call(document, path, VERBS[PRODUCE], with_samples(given, taken))
    return ScenarioStep(0, call, on_record=trigger, taken=taken)


def _verb(document: ScenarioDocument, path: ValuePath, name: Any) -> Verb:
    if not isinstance(name, str):
        raise document.problem(path, f"verb is the name of a verb, not {name!r}")
    with located(document, path):
        verb = VERBS[name]
    if (reason := reason_against(verb)) is not None:
        raise document.problem(path, f"{name} cannot be a step: {reason}")
    return verb


def reason_against(verb: Verb) -> str | None:
    """The reason for which a verb cannot be a step; None if it can."""
    for parameter in verb.parameters.values():
        if parameter.is_required and parameter.schema is None:
            return f"it needs {parameter.name}, {parameter.allowed}, which only a Python program can give"
    if verb.subject == "waiting":
        return "a step happens at its time, and does not wait"
    return NO_STEP.get(verb.name)
