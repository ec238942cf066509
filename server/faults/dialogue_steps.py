"""The steps of a dialogue: how lists of errors and of answers become steps, and which steps it may
have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import OwnName, ShownValue

from . import REQUEST
from .actions import ACTIONS, TYPES

NO_ERROR = ("NONE", 0)
"""Kafka's name and number of no error: as None, for lists that cannot hold it, as in TOML."""

LISTS: Mapping[str, tuple[str, str]] = {
    "fail": ("error", "names or numbers of errors, actions and {none}"),
    "respond": ("body", "answers, names or numbers of errors, actions and {none}"),
}
"""The actions that may have a list in this field in place of one value, and what it may hold."""


def as_steps(name: str, given: Mapping[str, Any]) -> list[Any]:
    """The steps, for `action_from_json`, of an action with a list in one of its fields."""
    field, allowed = LISTS[name]
    others = {key: value for key, value in given.items() if key != field}
    return [_step(each, field, allowed, others) for each in given[field]]


def _step(each: Any, field: str, allowed: str, others: Mapping[str, Any]) -> Any:
    is_error = isinstance(each, str | int) and not isinstance(each, bool)
    if is_error and each in NO_ERROR:
        return None
    if is_error:
        return {"message": None, "type": "fail", "error": each} | (dict(others) if field == "error" else {})
    if each is None or (isinstance(each, Mapping) and "type" in each) or type(each) in TYPES:
        return each
    if field == "body" and isinstance(each, Mapping | bytes | bytearray | memoryview):
        return {"type": "respond", "body": each}
    words = {"field": OwnName(field), "none": ShownValue(None), "each": ShownValue(each)}
    raise UsageError(f"{{field}} of a rule may be a list of {allowed}, not of {{each}}", **words)


def check_times(trigger: Any) -> None:
    """Raises UsageError for a trigger, or its JSON object, that says how often as well."""
    has_times = "times" in trigger if isinstance(trigger, Mapping) else trigger.times != 1
    if has_times:
        raise UsageError(
            "a list says how often the rule applies, once for each element: leave out {times}, or repeat the elements",
            times=OwnName("times"),
        )


def check_steps(steps: Sequence[Any]) -> None:
    """Raises UsageError for steps that do nothing, or that no dialogue can have."""
    for step in steps:
        if step is None:
            continue
        name = TYPES.get(type(step))
        if name is None:
            raise UsageError(
                "a step of a rule is an action or {none}, not {step}", none=ShownValue(None), step=ShownValue(step)
            )
        row = ACTIONS[name]
        if row.planes != (REQUEST,) or not row.is_one_off or name in ("call", "dialogue"):
            raise UsageError(f"{name} cannot be a step of a rule")
    if all(step is None for step in steps):
        raise UsageError("a rule whose steps are all {none} does nothing", none=ShownValue(None))
