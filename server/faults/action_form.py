"""The actions of rules as JSON objects, and the schema of these objects."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import OwnName

from . import REQUEST
from .actions import ACTIONS, TYPES, Action, Call
from .dialogue import Dialogue, is_list
from .dialogue_steps import LISTS, as_steps
from .field_kinds import from_object, given_fields, schema_of, unknown

BASE64 = "base64"


def action_to_json(action: Action) -> dict[str, Any]:
    """The JSON object of an action, without fields that have their default."""
    return {"type": TYPES[type(action)], **{name: _to_json(value) for name, value in given_fields(action).items()}}


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {BASE64: base64.b64encode(value).decode()}
    if isinstance(value, tuple):  # the steps of a dialogue
        return [None if step is None else action_to_json(step) for step in value]
    return value


def action_from_json(given: Any) -> Any:
    """The action of a JSON object; an action stays what it is. UsageError for anything else."""
    if type(given) in TYPES:
        return given
    if not isinstance(given, Mapping) or "type" not in given:
        raise UsageError("a rule needs an action, an object with a type")
    name = given["type"]
    if not isinstance(name, str) or name not in ACTIONS:
        raise unknown("a rule has no action", name, ACTIONS)
    fields = {key: given[key] for key in given if key != "type"}
    if name in LISTS and is_list(fields.get(LISTS[name][0])):
        name, fields = TYPES[Dialogue], {"steps": as_steps(name, fields)}
    made = from_object(f"the action {name}", ACTIONS[name].cls, fields)
    if isinstance(made, Dialogue) and is_list(made.steps):
        return Dialogue(tuple(None if step is None else action_from_json(step) for step in made.steps))
    return made


def exact_bytes(body: Any) -> Any:
    """The bytes of a body that is bytes, also in their form in JSON; any other body as it is."""
    if isinstance(body, bytearray | memoryview):
        return bytes(body)
    if not isinstance(body, Mapping) or [*body] != [BASE64]:
        return body
    try:
        return base64.b64decode(body[BASE64], validate=True)
    except (binascii.Error, TypeError, ValueError) as problem:
        words = {"name": OwnName("body"), "problem": str(problem)}
        raise UsageError("{name} of a rule is no valid base64: {problem}", **words) from None


def action_schema(name: str) -> dict[str, Any]:
    """The JSON schema of an action of this type."""
    row = ACTIONS[name]
    schema = schema_of(row.cls, row.kinds)
    schema["properties"] = {"type": {"const": name}, **schema["properties"]}
    schema["required"] = ["type", *schema["required"]]
    if name in LISTS:
        field = LISTS[name][0]
        own = schema["properties"][field]
        schema["properties"][field] = {"anyOf": [own, {"type": "array", "minItems": 1}]}
    return schema


def action_schemas() -> list[dict[str, Any]]:
    """The forms of all actions that JSON can hold."""
    return [action_schema(name) for name in ACTIONS if name != TYPES[Call]]


def types_of_requests() -> list[str]:
    """The types of the actions on requests."""
    return [name for name, row in ACTIONS.items() if REQUEST in row.planes]
