"""The verbs in JavaScript: a method of Verbs each, and their types in TypeScript."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from kafkadouble.wire.wording import Caller, camel

from .literals import LITERALS
from .model import ParameterModel, VerbModel, allowed_in, optional_parameters
from .results import FieldModel, ResultModel, parsed, results

HEAD = "// Made by helpers/generate; do not edit.\n"

TYPES: Mapping[str, str] = {
    "text": "string",
    "integer": "number",
    "number": "number",
    "duration": "number",
    "switch": "boolean",
    "any": "any",
    "bytes": "Buffer",
    "object": "Record<string, any>",
}

PARAMETERS: Mapping[str, str] = {
    "value": "Data",
    "key": "Data",
    "headers": "Headers",
    "timestamp": "number | Date",
    "records": "RecordLike[]",
    "offsets": "Offsets",
    "assignment": "Assignment",
    "config": "Record<string, unknown>",
    "claims": "Record<string, unknown>",
    "acls": "(string | AclBinding)[]",
    "link": "[number | null, number | null]",
    "body": "Body | (Body | ErrorName | number | null)[]",
    "fail.error": "ErrorName | number | (ErrorName | number | null)[]",
    "arm.rule": "RuleDefinition | Rule",
    "change_field.value": "any",
    "header": "string | Record<string, Data>",
}
"""A parameter, or one of a verb -> its type in TypeScript, where the model has `any`."""

OF_CLIENT: Mapping[str, str] = {"wait_for_records": "Filter<TopicRecord>"}
"""A verb -> more options of it, which the library evaluates itself."""

RENAMED: Mapping[str, str] = {
    "Record": "TopicRecord",
    "Records": "TopicRecord[]",
    "EndOffsets": "Record<number, number>",
}
"""A result in the model -> the type in TypeScript, if it is another one."""


def verbs_file(models: list[VerbModel]) -> str:
    """The text of verbs.js."""
    methods = "\n\n".join(_method(model) for model in models)
    return f"{HEAD}'use strict';\n\nclass Verbs {{\n{methods}\n}}\n\nmodule.exports = {{ Verbs }};\n"


def types_file(models: list[VerbModel]) -> str:
    """The text of verbs.d.ts."""
    fields = "\n".join(_field(parameter) for parameter in optional_parameters(models))
    parameters = f"/** Every optional parameter of a verb. */\nexport interface Parameters {{\n{fields}\n}}\n"
    methods = "\n\n".join(_declaration(model) for model in models)
    text = f"{parameters}\nexport class Verbs {{\n{methods}\n}}\n"
    return "\n".join([HEAD, *_imports(text, "names", "results", "types"), "", text])


def names_file(_: list[VerbModel]) -> str:
    """The text of names.d.ts."""
    return "\n".join([HEAD, *(_union(name, words) for name, words in LITERALS.items())])


def results_types_file(_: list[VerbModel]) -> str:
    """The text of results.d.ts."""
    text = "\n".join(map(_interface, results()))
    return "\n".join([HEAD, *_imports(text, "names", "types"), "", text])


def results_file(models: list[VerbModel]) -> str:
    """The text of results.js: the types, for the decoding of results."""
    types = [f"  {result.name}: [\n{_coded_fields(result)}  ]," for result in results()]
    verbs = [
        f"  {model.name}: {_coded(model.result)},"
        for model in models
        if model.result and _coded(model.result)[1:-1] not in TYPES
    ]
    lines = ["// The fields of each type: name in JSON, name here, type.", "const TYPES = {", *types, "};", ""]
    lines += ["// Verb -> the type of its result.", "const RESULTS = {", *verbs, "};", ""]
    return "\n".join([HEAD, "'use strict';", "", *lines, "module.exports = { RESULTS, TYPES };", ""])


def _coded(type: str) -> str:
    """A type as the library reads it: a name, or a pair of `list` or `dict` and a type."""
    outer, inner = parsed(type)
    if outer == "optional":
        return _coded(inner[0])
    return f"['{outer}', {_coded(inner[-1])}]" if inner else f"'{outer}'"


def _coded_fields(result: ResultModel) -> str:
    return "".join(f"    ['{each.name}', '{camel(each.name)}', {_coded(each.type)}],\n" for each in result.fields)


def _imports(text: str, *modules: str) -> list[str]:
    """An import of what a text uses of each module."""
    found = ((module, [name for name in EXPORTS[module] if re.search(rf"\b{name}\b", text)]) for module in modules)
    return [f"import type {{ {', '.join(names)} }} from './{module}';" for module, names in found if names]


def _union(name: str, words: tuple[str, ...]) -> str:
    subject = " ".join(re.findall("[A-Z][a-z]+", name)).lower()
    return (
        "\n".join([f"/** Every {subject}. */", f"export type {name} =", *(f"  | '{word}'" for word in words)]) + ";\n"
    )


def _interface(result: ResultModel) -> str:
    about = re.sub(r"`(\w+)`", lambda found: f"`{camel(found[1])}`", result.about).replace("None", "null")
    comment = [line.removeprefix("  ") for line in _comment(about)]
    name = RENAMED.get(result.name, result.name)
    fields = (f"  {camel(each.name)}: {_field_type(each)};" for each in result.fields)
    return "\n".join([*comment, f"export interface {name} {{", *fields, "}\n"])


def _field_type(field: FieldModel) -> str:
    made = _type(field.type)
    return made.replace("string", field.words) if field.words else made


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
    parts = [f"Pick<Parameters, {names}>" if names else "", OF_CLIENT.get(verb.name, ""), "CallOptions"]
    options = " & ".join(filter(None, parts))
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
    return "\n".join([*_comment(f"`{each.name}`: {allowed_in(each, Caller.NODE)}."), _optional(each)])


def _optional(each: ParameterModel) -> str:
    return f"  {camel(each.name)}?: {_parameter(each)} | null;"


def _parameter(each: ParameterModel) -> str:
    """Keys, values and the like are `any` in a description; TypeScript has a word for them."""
    special = PARAMETERS.get(f"{each.verb}.{each.name}") or PARAMETERS.get(each.name)
    if special:
        return special
    item = each.shape.removesuffix("[]")
    is_list = item != each.shape
    names = [*each.words] or [TYPES[item]]
    if each.words and item in ("any", "integer"):
        names += ["number", "boolean"] if "True" in each.allowed else ["number"]
    type = " | ".join([*names, *(RENAMED.get(other, other) for other in each.other)])
    return f"({type})[]" if is_list and " | " in type else f"{type}[]" if is_list else type


def _type(result: str) -> str:
    outer, inner = parsed(result)
    if outer == "list":
        return f"{_type(inner[0])}[]"
    if outer == "dict":
        return f"Record<{TYPES[inner[0]]}, {_type(inner[1])}>"
    if outer == "optional":
        return f"{_type(inner[0])} | null"
    return TYPES.get(outer, RENAMED.get(outer, outer))


EXPORTS: Mapping[str, tuple[str, ...]] = {
    "names": tuple(LITERALS),
    "results": tuple(RENAMED.get(result.name, result.name) for result in results()),
    "types": (
        *("AclBinding", "Assignment", "Body", "CallOptions", "Data", "Filter", "Header", "Headers", "Offsets"),
        *("RecordLike", "Rule", "RuleDefinition", "TopicPartition"),
    ),
}
"""Module -> the types that it exports."""
