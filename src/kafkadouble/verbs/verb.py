"""A verb and its parameters, as values: what an HTTP API, a command line or a page needs to know.

`call` checks every parameter before anything is called. `call_json` does the same with parameters
from JSON, and returns JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments.parameters import ARGUMENTS, Argument, check_one
from kafkadouble.common.errors import UsageError
from kafkadouble.host.host import host_of
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.verbs.cluster.snapshots import name_of_snapshot
from kafkadouble.wire.wording import AllowedValues, OwnName, sentence_for_all

if TYPE_CHECKING:
    from .double_api import DoubleApi

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()
"""The default of a parameter that must be given."""

KINDS = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "switch",
    "object": "object",
    "array": "list",
}
"""The kind of a parameter, by the type in its JSON schema."""


class Parameter(NamedTuple):
    """A parameter of a verb. `default` is REQUIRED if it must be given. None is allowed where it
    is the default, or where the kind of value includes it."""

    name: str
    argument: Argument
    default: Any

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return self.argument[1]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of a value; None if only a Python program can give one."""
        own = self.argument[2]
        return {"anyOf": [own, {"type": "null"}]} if own and self.default is None else own

    @property
    def kind(self) -> str:
        """A word for the type of a value: text, integer, number, switch, object, list, or value
        for several of them. `function` if only a Python program can give one."""
        own = self.argument[2]
        if own is None:
            return "function"
        found = [own["type"]] if isinstance(own.get("type"), str) else own.get("type", ())
        types = [each for each in found if each != "null"]
        # An object, or a list of them, is a result that is given back, in place of its name.
        if len(types) > 1 and "object" in types:
            types = [type_ for type_ in types if type_ not in ("object", "array")]
        return KINDS[types[0]] if len(types) == 1 else "text" if "enum" in own else "value"

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    def check(self, value: object) -> None:
        """Raises UsageError for a value that is not allowed."""
        if value is not None or self.default is not None:
            check_one(self.name, self.argument, value)


class Verb(NamedTuple):
    """A verb. `function` is called with the double and the parameters. `summary` is the first
    paragraph of the method's docstring, `subject` what the verb is about."""

    name: str
    subject: str
    parameters: Mapping[str, Parameter]
    function: Callable[..., Any]
    result: str
    summary: str

    @property
    def summary_for_json(self) -> str:
        """The summary without the sentences about parameters that only a Python program can give,
        and without the syntax of Python."""
        own = [f"`{parameter.name}`" for parameter in self.parameters.values() if parameter.schema is None]
        sentences = re.split(r"(?<=\.) (?=[A-Z])", self.summary)
        found = " ".join(sentence for sentence in sentences if not any(name in sentence for name in own))
        return sentence_for_all(found)

    @property
    def is_for_json(self) -> bool:
        """Whether every parameter that must be given can be written as JSON."""
        return all(parameter.schema is not None for parameter in self.parameters.values() if parameter.is_required)

    @property
    def reads_file(self) -> bool:
        """Whether the verb reads a file of the machine of the double."""
        path = self.parameters.get("path")
        return path is not None and path.argument is ARGUMENTS["path"]

    def check(self, given: Mapping[str, Any]) -> None:
        """Raises UsageError for the first parameter that is unknown, missing or wrong."""
        for name in given:
            if name not in self.parameters:
                has = f"it has {', '.join(self.parameters)}" if self.parameters else "it has none"
                raise UsageError(f"{self.name} has no parameter {name!r}{near(name, self.parameters)}; {has}")
        for parameter in self.parameters.values():
            if parameter.name in given:
                parameter.check(given[parameter.name])
            elif parameter.is_required:
                words = {"name": OwnName(parameter.name), "allowed": AllowedValues(parameter.allowed)}
                raise UsageError("{verb} needs {name}, {allowed}", verb=OwnName(self.name), **words)

    def call(self, kafka: DoubleApi, **given: Any) -> Any:
        """Calls the verb. Raises UsageError before anything happens if a parameter is wrong, and
        what the method raises."""
        self.check(given)
        return self.function(kafka, **given)

    def call_json(self, kafka: DoubleApi, given: Mapping[str, Any]) -> Any:
        """Calls the verb with parameters from JSON; returns the result for JSON."""
        values = self.from_json(given)
        if self.name == "snapshot" and values.get("name") is None:  # JSON can only name it
            values["name"] = name_of_snapshot(host_of(kafka))
        return self.to_json(self.call(kafka, **values))

    def from_json(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as values of Python. What is wrong stays as it is, for `check`."""
        from .forms.json_form import from_json  # for callers over HTTP alone

        return {
            name: from_json(name, value, self.name) if name in self.parameters else value
            for name, value in given.items()
        }

    def to_json(self, result: Any) -> Any:
        """The result as values that `json.dumps` takes."""
        from .forms.json_form import to_json  # for callers over HTTP alone

        return to_json(result)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an object with the parameters."""
        properties = {each.name: each.schema for each in self.parameters.values() if each.schema is not None}
        required = [each.name for each in self.parameters.values() if each.is_required and each.schema is not None]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(self.parameters)}) -> {self.result}"
