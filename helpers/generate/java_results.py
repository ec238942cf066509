"""What the verbs return, and the names of APIs, errors and states, in Java."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafkadouble.wire.wording import camel

from .java import HEAD, RESULTS, result_type, wrapped
from .literals import LITERALS
from .model import VerbModel
from .results import FieldModel, ResultModel, results

INT32 = frozenset(
    (
        *("partition", "leader", "leader_epoch", "replicas", "isr", "broker", "version", "correlation_id"),
        *("producer_epoch", "epoch", "assignment_epoch", "controller_id", "BrokerDescription.id"),
    )
)
"""Fields that are an int and not a long."""

METHODS: Mapping[str, str] = {
    "Record": """
        /** The value as a text in UTF-8; null for a record without a value. */
        public String text() {
            return value == null ? null : new String(value, StandardCharsets.UTF_8);
        }
"""
}
"""What a record of Java has besides its fields."""


def types_file(_: list[VerbModel]) -> str:
    """The text of Types.java."""
    imports = (
        "import com.google.gson.JsonObject;\n"
        "import java.nio.charset.StandardCharsets;\n"
        "import java.util.List;\n"
        "import java.util.Map;\n"
    )
    about = (
        "/** What the verbs return. What may be null says so; times are in milliseconds since the epoch. */\n"
        "public final class Types {\n    private Types() {}\n"
    )
    return "\n".join([HEAD, imports, about, *map(_record, results())]).rstrip("\n") + "\n}\n"


def names_file(_: list[VerbModel]) -> str:
    """The text of Names.java."""
    about = (
        "/** The names of APIs, errors and states, for parameters and results that are texts. */\n"
        "public final class Names {\n    private Names() {}\n"
    )
    made = (_constants(name, words) for name, words in LITERALS.items())
    return "\n".join([HEAD, about, *made]).rstrip("\n") + "\n}\n"


def constant(word: str) -> str:
    """`ApiVersions` -> `API_VERSIONS`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).replace("-", "_").upper()


def _constants(name: str, words: tuple[str, ...]) -> str:
    subject = " ".join(re.findall("[A-Z][a-z]+", name)).lower()
    fields = (f'        public static final String {constant(word)} = "{word}";' for word in words)
    head = f"    /** Every {subject}. */\n    public static final class {name} {{\n        private {name}() {{}}\n"
    return "\n".join([head, *fields, "    }\n"])


def _record(result: ResultModel) -> str:
    name = RESULTS.get(result.name, result.name)
    about = re.sub(r"`(\w+)`", lambda found: camel(found[1]), result.about).replace("None", "null")
    fields = ",\n".join(f"            {_field_type(result.name, each)} {camel(each.name)}" for each in result.fields)
    method = METHODS.get(result.name)
    end = f") {{{method}    }}\n" if method else ") {}\n"
    return "\n".join(["    /**", *wrapped(about), "     */", f"    public record {name}(", fields + end])


def _field_type(owner: str, field: FieldModel) -> str:
    made = result_type(field.type)
    is_int = field.name in INT32 or f"{owner}.{field.name}" in INT32
    return re.sub("long$", "int", made).replace("Long", "Integer") if is_int else made
