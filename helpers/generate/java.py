"""The verbs in Java: a method of Verbs each, and a function of Params for each optional
parameter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from kafkadouble.wire.wording import Caller, camel

from .model import ParameterModel, VerbModel, allowed_in, optional_parameters
from .results import parsed

HEAD = "// Made by helpers/generate; do not edit.\n\npackage io.github.kafkadouble;\n"

TYPES: Mapping[str, str] = {
    "text": "String",
    "integer": "long",
    "number": "double",
    "duration": "Duration",
    "switch": "boolean",
    "any": "Object",
    "bytes": "byte[]",
    "object": "JsonObject",
}
BOXED: Mapping[str, str] = {"int": "Integer", "long": "Long", "double": "Double", "boolean": "Boolean"}
RESULTS: Mapping[str, str] = {
    "Record": "TopicRecord",
    "Records": "List<TopicRecord>",
    "EndOffsets": "Map<Integer, Long>",
    "any": "JsonElement",
}
"""The name of a result in the model -> the class in Java, if it is another one."""


def verbs_file(models: list[VerbModel]) -> str:
    """The text of Verbs.java."""
    imports = (
        "import com.google.gson.JsonElement;\n"
        "import com.google.gson.reflect.TypeToken;\n"
        "import io.github.kafkadouble.Types.*;\n"
        "import java.time.Duration;\n"
        "import java.util.List;\n"
        "import java.util.Map;\n"
    )
    about = (
        "/**\n * Every verb of a double. Parameters that must be given are arguments; {@link Params} makes the\n"
        " * optional ones. Each method throws {@link UsageException} for a call that makes no sense, and\n"
        " * {@link KafkaErrorException} where Kafka would refuse.\n */\n"
        "public abstract class Verbs {\n"
        "    abstract <T> T call(String verb, TypeToken<T> result, Param[] params, Param... required);\n"
    )
    return "\n".join([HEAD, imports, about, *map(_method, models)]).rstrip("\n") + "\n}\n"


def params_file(models: list[VerbModel]) -> str:
    """The text of Params.java."""
    about = (
        "/** The optional parameters of the verbs, for a static import. */\npublic final class Params {\n"
        "    private Params() {}\n\n"
        "    /** A rule applies until it is removed: the parameter times is null. */\n"
        '    public static Param everyTime() {\n        return new Param("times", null);\n    }\n'
    )
    made = (_option(parameter) for parameter in optional_parameters(models))
    imports = (
        "import io.github.kafkadouble.Types.Request;\n"
        "import io.github.kafkadouble.Types.TopicRecord;\n"
        "import java.time.Duration;\n"
        "import java.util.List;\n"
        "import java.util.Map;\n"
    )
    return "\n".join([HEAD, imports, about, *made]).rstrip("\n") + "\n}\n"


def _type(shape: str) -> str:
    if shape.endswith("[]"):
        return "Iterable<?>" if shape == "any[]" else f"{TYPES[shape[:-2]]}..."
    return TYPES[shape]


def _argument(shape: str) -> str:
    """The type of an argument that others follow."""
    return _type(shape).replace("...", "[]")


def result_type(result: str, boxed: bool = False) -> str:
    outer, inner = parsed(result)
    if outer == "list":
        return f"List<{result_type(inner[0], True)}>"
    if outer == "dict":
        key = "Integer" if inner[0] == "integer" else "String"
        return f"Map<{key}, {result_type(inner[1], True)}>"
    if outer == "optional":
        return result_type(inner[0], True)
    found = RESULTS.get(outer, TYPES.get(outer, outer))
    return BOXED.get(found, found) if boxed else found


def _method(verb: VerbModel) -> str:
    return "\n".join(_overload(verb, types) for types in _choices(verb.required))


def _choices(required: tuple[ParameterModel, ...]) -> Iterator[list[str]]:
    """The types of the arguments: as they are, and with a result that is given back."""
    usual = [_argument(model.shape) for model in required]
    yield usual
    for place, each in enumerate(required):
        others = ("List<? extends Number>",) if each.shape == "integer[]" else each.other
        for other in others:
            yield [*usual[:place], RESULTS.get(other, other), *usual[place + 1 :]]


def _overload(verb: VerbModel, types: list[str]) -> str:
    taken = [f"{type} {camel(each.name)}" for type, each in zip(types, verb.required, strict=True)]
    if verb.optional:
        taken.append("Param... params")
    given = "".join(f', new Param("{each.name}", {camel(each.name)})' for each in verb.required)
    params = "params" if verb.optional else "null"
    result = "void" if verb.result is None else result_type(verb.result)
    boxed = "Void" if verb.result is None else result_type(verb.result, True)
    token = f"new TypeToken<{boxed}>() {{}}"
    returned = "" if verb.result is None else "return "
    return "\n".join(
        [
            *_comment(verb),
            f"    public {result} {camel(verb.name)}({', '.join(taken)}) {{",
            f'        {returned}call("{verb.name}", {token}, {params}{given});',
            "    }\n",
        ]
    )


def _comment(verb: VerbModel) -> Iterator[str]:
    yield "    /**"
    yield from wrapped(verb.summary)
    if verb.optional:
        yield "     *"
        yield from wrapped("<p>Optional: " + ", ".join(camel(each.name) for each in verb.optional) + ".")
    yield "     */"


def wrapped(text: str) -> list[str]:
    safe = (
        text.replace("&", "&amp;").replace("<p>", "\0").replace("<", "&lt;").replace("\0", "<p>").replace("@", "&#64;")
    )
    lines = textwrap.wrap(safe.replace("`", ""), 93, break_long_words=False, break_on_hyphens=False)
    return [f"     * {line}" for line in lines]


def _option(each: ParameterModel) -> str:
    made: list[str] = []
    for type in (_type(each.shape), *(RESULTS.get(other, other) for other in each.other)):
        made += [
            "    /**",
            *wrapped(f"The parameter {each.name}: {allowed_in(each, Caller.JAVA)}."),
            "     */",
            f"    public static Param {camel(each.name)}({type} value) {{",
            f'        return new Param("{each.name}", value);',
            "    }\n",
        ]
    return "\n".join(made)
