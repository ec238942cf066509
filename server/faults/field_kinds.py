"""The kinds of value that a field of a rule can have: the check, what a refusal says, and the JSON
schema.

The tables of `match.py`, `trigger.py` and `actions.py` name one kind for each of their fields.
Optional fields may be None as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, cast

from kafkadouble.messages import error_codes, registry
from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.plain_values import fault_of
from kafkadouble.wire.wording import AllowedValues, OwnName, ShownValue

from ..configs.did_you_mean import near

EVERY_API = "*"
BEFORE, AFTER = "before", "after"
LONGEST_S = 86_400


class FieldKind(NamedTuple):
    """`expected` completes "... is", `schema` is None for what JSON cannot hold."""

    fits: Callable[[Any], bool]
    expected: str
    schema: Mapping[str, Any] | None
    is_optional: bool = True

    @property
    def required(self) -> FieldKind:
        """The same, but never None."""
        return self._replace(is_optional=False)


def _integer_from(lowest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= lowest


def _number(lowest: float, highest: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= highest


def _are_nodes(pair: Sequence[Any]) -> bool:
    """Whether these are two different nodes; None is any."""
    known = [node for node in pair if node is not None]
    return len(pair) == 2 and all(map(_integer_from(0), known)) and (len(known) < 2 or known[0] != known[1])


def count(lowest: int, expected: str) -> FieldKind:
    return FieldKind(_integer_from(lowest), expected, {"type": "integer", "minimum": lowest})


def text(expected: str) -> FieldKind:
    return FieldKind(lambda value: isinstance(value, str), expected, {"type": "string"})


def one_of(*values: str) -> FieldKind:
    return FieldKind(lambda value: value in values, " or ".join(values), {"enum": list(values)}, is_optional=False)


SECONDS = FieldKind(
    _number(0, LONGEST_S),
    f"a number of seconds from 0 to {LONGEST_S}",
    {"type": "number", "minimum": 0, "maximum": LONGEST_S},
)
CHANCE = FieldKind(_number(0, 1), "a number from 0 to 1", {"type": "number", "minimum": 0, "maximum": 1})
SWITCH = FieldKind(lambda value: isinstance(value, bool), "True or False", {"type": "boolean"}, is_optional=False)
WHEN = one_of(BEFORE, AFTER)
FUNCTION = FieldKind(callable, "a function", None)
NODE_PAIR = FieldKind(
    lambda value: isinstance(value, list | tuple) and _are_nodes(value),
    "a pair of two node ids, as (1, 2), where None is any node",
    {"type": "array", "items": {"type": ["integer", "null"], "minimum": 0}, "minItems": 2, "maxItems": 2},
)
PRINCIPAL = FieldKind(
    lambda value: isinstance(value, str) and all(value.partition(":")),
    "a type and a name, such as User:alice",
    {"type": "string", "pattern": "^[^:]+:.+"},
)
ANYTHING = FieldKind(lambda value: True, "any value", {})


def check_fields(owner: str, value: Any, kinds: Mapping[str, FieldKind]) -> None:
    """Raises UsageError for the first field with a wrong value. `owner` is for the message."""
    for name, kind in kinds.items():
        given = getattr(value, name)
        if given is None and kind.is_optional:
            continue
        words = {"name": OwnName(name), "owner": owner, "expected": AllowedValues(kind.expected)}
        if fault := fault_of(given):
            raise UsageError("{name} of {owner} is {expected}: {fault}", **words, fault=fault)
        if given is None or not kind.fits(given) or (isinstance(given, float) and math.isnan(given)):
            raise UsageError("{name} of {owner} is {expected}, not {given}", **words, given=ShownValue(given))


def given_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults, and those without a default."""
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    }


def from_object(owner: str, cls: type[Any], given: Any) -> Any:
    """An instance of a dataclass from a JSON object. UsageError names a field that it does not
    have or lacks."""
    if not isinstance(given, Mapping):
        raise UsageError("{owner} is an object, not {given}", owner=owner, given=ShownValue(given))
    names = [field.name for field in fields(cls)]
    for name in given:
        if name not in names:
            raise unknown(f"{owner} has no field", name, names)
    lacking = [each.name for each in fields(cls) if each.default is MISSING and each.name not in given]
    if lacking:
        raise UsageError(f"{owner} needs {' and '.join(lacking)}")
    return cls(**given)


def schema_of(cls: type[Any], kinds: Mapping[str, FieldKind]) -> dict[str, Any]:
    """The JSON schema of a dataclass."""
    properties = {
        name: {"anyOf": [kind.schema, {"type": "null"}]} if kind.is_optional and kind.schema else kind.schema
        for name, kind in kinds.items()
        if kind.schema is not None
    }
    required = [field.name for field in fields(cls) if field.default is MISSING]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def check_api(name: Any) -> None:
    """Raises UsageError if Kafka has no such API."""
    if name != EVERY_API and name not in (names := [api.name for api in registry.apis()]):
        raise unknown("Kafka has no API", name, names)


def error_name(error: Any) -> str:
    """The name of an error, given by name or by code; NONE is not an error."""
    if fault := fault_of(error):
        raise UsageError(f"the error of a rule is a name or a number: {fault}")
    names = [name for code, name in error_codes.NAMES.items() if code]
    by_code = isinstance(error, int) and not isinstance(error, bool) and error_codes.NAMES.get(error)
    name = by_code or error
    if name not in names:
        raise unknown("Kafka has no error", error, names)
    return cast(str, name)


def unknown(problem: str, name: Any, names: Iterable[str]) -> UsageError:
    """The error for a name that is not one of `names`, with the nearest of them."""
    shown = f"{name!r}" if isinstance(name, str) else ShownValue(name)
    return UsageError("{problem} {name}{near}", problem=problem, name=shown, near=near(name, names))
