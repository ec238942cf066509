"""The words of `kafkadouble ctl VERB ...` as parameters of a verb.

Parameters that must be given may stand in their order without their names. A value is a text; where
the parameter allows them, an integer, `null`, or JSON that begins with `{` or `[`. Lists may be
separated by commas. `@FILE` is the contents of a file, `@-` those of stdin, `@@` a text with one @.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kafkadouble.verbs.verb import Parameter, Verb
from kafkadouble.wire.wording import Caller, allowed_for, plain

from . import examples as ctl_examples

WIDTH = 100
"""Of the help, in columns."""

ANY = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})
"""What a schema allows that says nothing."""

SWITCHES = {"true": True, "false": False}


def parser_of(verb: Verb) -> argparse.ArgumentParser:
    """The parser of a verb's parameters."""
    result = "" if verb.result == "None" else f"returns {verb.result}\n\n"
    made = argparse.ArgumentParser(
        f"kafkadouble ctl {verb.name}",
        description=textwrap.fill(verb.summary_for_json, WIDTH),
        epilog=f"{result}example:\n  {ctl_examples.line(verb)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    made.add_argument("values", nargs="*", metavar="VALUE", help=_values_in_words(verb))
    for each in _given(verb):
        default = "" if each.is_required or each.default is None else f" (default {json.dumps(plain(each.default))})"
        help = f"{allowed_for(each.allowed, Caller.COMMAND_LINE)}{default}".replace("%", "%%")
        if each.kind == "switch":
            made.add_argument(*_names(each), dest=each.name, action=argparse.BooleanOptionalAction, help=help)
        else:
            made.add_argument(*_names(each), dest=each.name, metavar="VALUE", help=help)
    return made


def _given(verb: Verb) -> list[Parameter]:
    return [parameter for parameter in verb.parameters.values() if parameter.schema is not None]


def _names(parameter: Parameter) -> list[str]:
    return list(dict.fromkeys((f"--{parameter.name.replace('_', '-')}", f"--{parameter.name}")))


def _values_in_words(verb: Verb) -> str:
    required = [parameter.name for parameter in verb.parameters.values() if parameter.is_required]
    return f"{', '.join(required)}, in this order" if required else argparse.SUPPRESS


def parameters(verb: Verb, words: Sequence[str]) -> dict[str, Any]:
    """The parameters as values for JSON. What is wrong in them is found by the control plane."""
    parser = parser_of(verb)
    found = vars(parser.parse_intermixed_args(words))
    values = found.pop("values", [])
    places = [parameter.name for parameter in _given(verb) if parameter.name not in found and parameter.is_required]
    if len(values) > len(places):
        parser.error(f"{values[len(places)]!r} is one value too many")
    found |= dict(zip(places, values, strict=False))
    return {name: _value(verb.parameters[name], given) for name, given in found.items()}


def _value(parameter: Parameter, given: Any) -> Any:
    if not isinstance(given, str):
        return given
    kinds, takes_bytes = _kinds(parameter.schema) or ANY, _takes_bytes(parameter.schema)
    text = _contents(given, takes_bytes)
    if isinstance(text, dict):
        return text
    for allowed, read in _READERS:
        if allowed in kinds and (found := read(text)) is not None:
            return found[0]
    if "object" in kinds and "=" in text and "string" not in kinds:
        return dict(each.split("=", 1) for each in text.split(",") if "=" in each)
    if "array" in kinds and (not kinds & {"string", "integer"} or ("," in text and "object" not in kinds)):
        return [_element(each) for each in text.split(",")]
    return text


def _contents(text: str, takes_bytes: bool) -> str | dict[str, str]:
    """The text, or the contents of a file: as base64 if they are no text, and bytes are allowed."""
    if text.startswith("@@"):
        return text[1:]
    if not text.startswith("@"):
        return text
    if not takes_bytes:
        return sys.stdin.read() if text == "@-" else Path(text[1:]).read_text("utf-8")
    data = sys.stdin.buffer.read() if text == "@-" else Path(text[1:]).read_bytes()
    return decoded if (decoded := _text_of(data)) is not None else {"base64": b64encode(data).decode()}


def _text_of(data: bytes) -> str | None:
    """The text in a file, or None. One with the byte 0 is none, though it may be UTF-8."""
    try:
        return None if 0 in data else data.decode()
    except UnicodeDecodeError:
        return None


def _takes_bytes(schema: Any) -> bool:
    """Whether a parameter may be {"base64": ...}."""
    return "base64" in schema.get("properties", ()) or any(map(_takes_bytes, schema.get("anyOf", ())))


def _kinds(schema: Any) -> set[str]:
    """The types of JSON that a schema allows."""
    kinds = schema.get("type", ())
    found = {kinds} if isinstance(kinds, str) else set(kinds)
    for each in schema.get("anyOf", ()):
        found |= _kinds(each)
    if "enum" in schema:
        found.add("string")
    return found


def _number(text: str) -> tuple[Any] | None:
    try:
        return (json.loads(text),) if text[:1] in "-0123456789" and text else None
    except ValueError:
        return None


def _integer(text: str) -> tuple[Any] | None:
    found = _number(text)
    return found if found is not None and isinstance(found[0], int) else None


def _json(first: str) -> Any:
    def read(text: str) -> tuple[Any] | None:
        if not text.lstrip().startswith(first):
            return None
        try:
            return (json.loads(text),)
        except ValueError:
            return None

    return read


def _element(text: str) -> Any:
    if text == "null":
        return None
    found = _integer(text)
    return text if found is None else found[0]


_READERS: tuple[tuple[str, Any], ...] = (
    ("integer", _integer),
    ("number", _number),
    ("boolean", lambda text: (SWITCHES[text],) if text in SWITCHES else None),
    ("null", lambda text: (None,) if text == "null" else None),
    ("object", _json("{")),
    ("array", _json("[")),
)
"""Type of JSON -> how a text is read as such: a tuple with the value, or None if it is none."""
