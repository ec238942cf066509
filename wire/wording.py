"""Words of error messages in the language of the caller.

An error message names parameters, start options, verbs and values. Each class of this module holds
one of these, and `in_words_of` returns its form for a caller. `str` returns Python's form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple


class Caller(Enum):
    """The caller of a verb. The value is the name in its User-Agent header; HTTP is any other
    name."""

    PYTHON = ""
    HTTP = "http"
    COMMAND_LINE = "kafkadouble-ctl"
    JAVA = "kafkadouble-junit5"
    GO = "kafkadouble-go"
    NODE = "kafkadouble-node"


def caller_of(agent: str) -> Caller:
    """The caller with this User-Agent: `kafkadouble-go/0.1.0`."""
    name = agent.partition("/")[0]
    return next((each for each in Caller if name and each.value == name), Caller.HTTP)


CONSTANTS: Mapping[str, str] = {"None": "null", "True": "true", "False": "false"}
"""Python's constant -> the constant for all other callers; Go has nil in place of null."""

PHRASES: Mapping[str, str] = {
    "bytes, a text or None": 'a text, bytes as {"base64": "..."}, or null',
    "a mapping": "an object",
    "a mapping of names to values": "an object with names and values",
    "an iterable of records": "a list of records",
    "a mapping of (topic, partition) to an offset from 0": 'offsets from 0, as {"orders": {"0": 5}}',
    "a mapping of members to lists of (topic, partition)": 'lists of partitions, as {"member-1": [["orders", 0]]}',
    "a snapshot of snapshot(), or the name of one": "a snapshot, or the name of one",
    "a response, a mapping as in Kafka's JSON, bytes, or a list of them": (
        'an object as in Kafka\'s JSON, bytes as {"base64": "..."}, or a list of them'
    ),
    "an object or bytes": 'an object, or bytes as {"base64": "..."}',
    "a pair of two node ids, as (1, 2), where None is any node": (
        "a pair of two node ids, as [1, 2], where null is any node"
    ),
}
"""The allowed values of a parameter, for Python -> for all other callers. Texts that differ only in
constants are not listed."""

BYTES: Mapping[Caller, str] = {Caller.JAVA: "a byte[]", Caller.GO: "a []byte", Caller.NODE: "a Buffer"}


def allowed_for(text: str, caller: Caller) -> str:
    """The allowed values of a parameter, in the words of a caller."""
    if caller is Caller.PYTHON:
        return text
    phrase = PHRASES.get(text, text)
    if caller in BYTES:
        phrase = phrase.replace('bytes as {"base64": "..."}', BYTES[caller])
    phrase = re.sub(r"\b(None|True|False)\b", lambda word: CONSTANTS[word[0]], phrase)
    return re.sub(r"\bnull\b", "nil", phrase) if caller is Caller.GO else phrase


def sentence_for_all(text: str) -> str:
    """A sentence about a verb without the syntax of Python: `with=True` is `with` true."""
    sentence = text.replace('{("orders", 0): 5}', '{"orders": {"0": 5}}')
    sentence = re.sub(r"`(\w+)=(\w+)`", r"`\1` \2", sentence)
    sentence = re.sub(r"`([\w.]+)\(\)`", r"`\1`", sentence)
    return re.sub(r"\b(None|True|False)\b", lambda word: CONSTANTS[word[0]], sentence)


ACRONYMS: Mapping[str, str] = {"Acls": "ACLs", "Sasl": "SASL", "Api": "API", "Apis": "APIs", "Id": "ID", "Isr": "ISR"}

GO_NAMES: Mapping[str, str] = {"client": "client_library"}
"""Names that mean something else in the package for Go."""


def camel(name: str) -> str:
    """`create_topic` -> `createTopic`, as in Java and JavaScript."""
    first, *rest = name.split("_")
    return first + "".join(each.capitalize() for each in rest)


def exported(name: str) -> str:
    """`create_topic` -> `CreateTopic`, as in Go."""
    made = camel(GO_NAMES.get(name, name))
    upper = made[0].upper() + made[1:]
    return re.sub(r"[A-Z][a-z]+", lambda word: ACRONYMS.get(word[0], word[0]), upper)


def name_for(name: str, caller: Caller) -> str:
    """The name of a verb or of a parameter."""
    if caller in (Caller.JAVA, Caller.NODE):
        return camel(name)
    return exported(name) if caller is Caller.GO else name


def plain(value: Any) -> Any:
    """A value with JSON's types only."""
    if isinstance(value, Mapping):
        made: dict[str, Any] = {}
        for key, each in value.items():
            if isinstance(key, tuple) and len(key) == 2:
                made.setdefault(str(key[0]), {})[str(key[1])] = plain(each)
            else:
                made[str(key)] = plain(each)
        return made
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple | set | frozenset):
        return [*map(plain, value)]
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="backslashreplace")
    return value if value is None or isinstance(value, str | int | float) else str(value)


class ShownValue(NamedTuple):
    """A value that the caller gave."""

    value: Any

    def in_words_of(self, caller: Caller) -> str:
        return repr(self.value) if caller is Caller.PYTHON else json.dumps(plain(self.value), ensure_ascii=False)

    def __str__(self) -> str:
        return self.in_words_of(Caller.PYTHON)


KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    bytes: "a text",
    dict: "an object",
    list: "a list",
    tuple: "a list",
}
"""Type of a value -> what JSON calls it."""


class KindOfValue(NamedTuple):
    """The type of a value that the caller gave."""

    value: Any

    def in_words_of(self, caller: Caller) -> str:
        if caller is Caller.PYTHON:
            return f"a {type(self.value).__name__}"
        return allowed_for(KINDS.get(type(self.value), "a value"), caller)

    def __str__(self) -> str:
        return self.in_words_of(Caller.PYTHON)


class AllowedValues(NamedTuple):
    """The allowed values of a parameter, in the words of Python."""

    text: str

    def in_words_of(self, caller: Caller) -> str:
        return allowed_for(self.text, caller)

    def __str__(self) -> str:
        return self.text


class OwnName(NamedTuple):
    """The name of a verb or of a parameter."""

    name: str

    def in_words_of(self, caller: Caller) -> str:
        return name_for(self.name, caller)

    def __str__(self) -> str:
        return self.name


class VerbCall(NamedTuple):
    """A call of a verb, with an argument or without."""

    name: str
    argument: str = ""

    def in_words_of(self, caller: Caller) -> str:
        if caller is Caller.PYTHON:
            return f"{self.name}({self.argument and repr(self.argument)})"
        if caller in (Caller.HTTP, Caller.COMMAND_LINE):
            return f"{self.name} {self.argument}".rstrip()
        quoted = self.argument and json.dumps(self.argument)
        return f"{name_for(self.name, caller)}({quoted})"

    def __str__(self) -> str:
        return self.in_words_of(Caller.PYTHON)


GIVEN: Mapping[Caller, str] = {
    Caller.PYTHON: "{name}={value!r}",
    Caller.HTTP: '"{name}": {json}',
    Caller.COMMAND_LINE: "--{dashed}",
    Caller.JAVA: "{own}({json})",
    Caller.GO: "{own}({json})",
    Caller.NODE: "{own}: {json}",
}


class GivenParameter(NamedTuple):
    """A parameter of a verb with its value, as the caller would give it."""

    name: str
    value: Any

    def in_words_of(self, caller: Caller) -> str:
        own, dashed = name_for(self.name, caller), self.name.replace("_", "-")
        value = json.dumps(plain(self.value))
        return GIVEN[caller].format(name=self.name, value=self.value, json=value, own=own, dashed=dashed)

    def __str__(self) -> str:
        return self.in_words_of(Caller.PYTHON)


class StartOption(NamedTuple):
    """An option of the start. `python` is its form in a Python program, `words` are its arguments
    of `kafkadouble serve`, and `own` has its form for each library with an option of its own."""

    python: str
    words: tuple[str, ...]
    own: Mapping[Caller, str] = {}

    def in_words_of(self, caller: Caller) -> str:
        if caller is Caller.PYTHON:
            return self.python
        if caller in self.own:
            return self.own[caller]
        quoted = ", ".join(map(json.dumps, self.words))
        if caller is Caller.JAVA:
            return f"arguments({quoted})"
        if caller is Caller.GO:
            return f"WithArguments({quoted})"
        if caller is Caller.NODE:
            return f"arguments: [{quoted}]"
        return f"`kafkadouble serve {' '.join(self.words)}`"

    def __str__(self) -> str:
        return self.python
