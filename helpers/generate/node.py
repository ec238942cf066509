"""The verbs in JavaScript: a method of Verbs each, and their types in TypeScript."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from .model import ParameterModel, VerbModel, camel, optional_parameters, parsed

HEAD = "// Made by helpers/generate; do not edit.\n"

TYPES: Mapping[str, str] = {
    "text": "string",
    "integer": "number",
    "number": "number",
    "duration": "number",
    "switch": "boolean",
    "any": "any",
}


def verbs_file(found: list[VerbModel]) -> str:
    """The text of verbs.js."""
    methods = "\n\n".join(_method(each) for each in found)
    return f"{HEAD}'use strict';\n\nclass Verbs {{\n{methods}\n}}\n\nmodule.exports = {{ Verbs }};\n"


def types_file(found: list[VerbModel]) -> str:
    """The text of verbs.d.ts."""
    used = sorted({_name_of_type(each.result) for each in found if each.result} - {""})
    imports = f"import type {{ CallOptions, {', '.join(used)} }} from './types';\n"
    fields = "\n".join(_field(each) for each in optional_parameters(found))
    parameters = f"/** Every optional parameter of a verb. */\nexport interface Parameters {{\n{fields}\n}}\n"
    methods = "\n\n".join(_declaration(each) for each in found)
    return "\n".join([HEAD, imports, parameters, f"export class Verbs {{\n{methods}\n}}\n"])


def _method(verb: VerbModel) -> str:
    names = [camel(each.name) for each in verb.required]
    taken = ", ".join([*names, "options"])
    fields = ", ".join(each.name if each.name == name else f"{each.name}: {name}" for each, name in _named(verb))
    given = f"{{ {fields} }}" if fields else "{}"
    return f"  {camel(verb.name)}({taken}) {{\n    return this._verb('{verb.name}', {given}, options);\n  }}"


def _named(verb: VerbModel) -> Iterable[tuple[ParameterModel, str]]:
    return [(each, camel(each.name)) for each in verb.required]


def _declaration(verb: VerbModel) -> str:
    taken = [f"{name}: {_parameter(each)}" for each, name in _named(verb)]
    names = " | ".join(f"'{camel(each.name)}'" for each in verb.optional)
    options = f"Pick<Parameters, {names}> & CallOptions" if names else "CallOptions"
    result = _type(verb.result) if verb.result else "void"
    words = ", ".join([*taken, f"options?: {options}"])
    return "\n".join([*_comment(verb.summary), f"  {camel(verb.name)}({words}): Promise<{result}>;"])


def _comment(text: str) -> Iterator[str]:
    lines = textwrap.wrap(text.replace("*/", "* /"), 94, break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1:
        yield f"  /** {lines[0]} */"
        return
    yield "  /**"
    yield from (f"   * {line}" for line in lines)
    yield "   */"


def _field(each: ParameterModel) -> str:
    return "\n".join([*_comment(f"`{each.name}`: {each.allowed}."), _optional(each)])


def _optional(each: ParameterModel) -> str:
    return f"  {camel(each.name)}?: {_parameter(each)} | null;"


def _parameter(each: ParameterModel) -> str:
    """Keys, values and the like are `any` in a description; TypeScript has a word for them."""
    if each.shape.endswith("[]"):
        return TYPES[each.shape[:-2]] + "[]"
    return TYPES[each.shape]


def _type(result: str) -> str:
    outer, inner = parsed(result)
    if outer == "list":
        return f"{_type(inner[0])}[]"
    if outer == "dict":
        return f"Record<{TYPES[inner[0]]}, {_type(inner[1])}>"
    if outer == "optional":
        return f"{_type(inner[0])} | null"
    return TYPES.get(outer, "TopicRecord" if outer == "Record" else outer)


def _name_of_type(result: str) -> str:
    outer, inner = parsed(result)
    if inner:
        return _name_of_type(inner[-1])
    return "" if outer in TYPES else _type(outer)
