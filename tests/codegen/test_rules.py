"""Every rule of the spec language has an example that breaks it; the error names the file, the
struct and the field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codegen.model import SpecError

from .press import field, parse, raw

STRUCT = [field("A", "int32")]
TAG = {"tag": 0, "taggedVersions": "2+"}


def common(name: str, versions: str = "0+", fields: Any = STRUCT) -> dict[str, Any]:
    return {"name": name, "versions": versions, "fields": fields}


FIELDS: list[tuple[str, list[Any], str]] = [
    ("a field is an object", ["x"], "Example: a field is a JSON object"),
    ("a field has a name", [{"type": "int8", "versions": "0+"}], "Example: name must be given"),
    ("a name is letters and digits", [field("A_b", "int8")], "Example.A_b: a name is letters and digits"),
    ("a name starts with a letter", [field("1a", "int8")], "Example.1a: a name is letters and digits"),
    ("a field has a type", [{"name": "A", "versions": "0+"}], "Example.A: type must be given"),
    ("a field has versions", [{"name": "A", "type": "int8"}], "Example.A: versions must be given"),
    ("versions are a range", [field("A", "int8", "1..2")], "Example.A: versions: '1..2' is not a range"),
    ("versions are text", [field("A", "int8", [1])], "Example.A: versions: [1] is not a range"),
    ("keys are known", [field("A", "int8", nullable="0+")], "Example.A: unknown key 'nullable'"),
    ("types are known", [field("A", "int24")], "Example.A: there is no type 'int24'"),
    ("a struct has a name of letters", [field("A", "S_t", fields=STRUCT)], "Example.A: there is no type 'S_t'"),
    ("a struct is no word of Python's", [field("A", "None", fields=STRUCT)], "Example.A: there is no type 'None'"),
    ("an array has elements", [field("A", "[]")], "Example.A: an array needs an element type"),
    ("no arrays of arrays", [field("A", "[][]int8")], "Example.A: there are no arrays of arrays"),
    ("no arrays of records", [field("A", "[]records")], "Example.A: there are no arrays of records"),
    ("a struct is described", [field("A", "S")], "Example.A: there is no type S"),
    ("only structs have fields", [field("A", "int8", fields=STRUCT)], "Example.A: int8 has no fields"),
    ("numbers are never null", [field("A", "int8", nullableVersions="0+")], "Example.A: int8 cannot be null"),
    ("uuids are never null", [field("A", "uuid", nullableVersions="0+")], "Example.A: uuid cannot be null"),
    ("names are unique", [field("A", "int8"), field("A", "int16")], "Example.A: another field has that name"),
    ("names are unique in Python", [field("AbC", "int8"), field("abC", "int8")], "Example.abC: another field has that name"),
    ("names are unique in structs", [field("S", "S", fields=[*STRUCT, *STRUCT])], "S.A: another field has that name"),
    ("a struct comes once", [field("A", "S", fields=STRUCT), field("B", "[]S", fields=STRUCT)], "Example.B: struct S is specified twice"),
    ("entities are known", [field("A", "string", entityType="topic")], "Example.A: 'topic' is no entityType"),
    ("a topic name is a string", [field("A", "uuid", entityType="topicName")], "Example.A: a topicName is string, not uuid"),
    ("elements are of the entity", [field("A", "[]int64", entityType="brokerId")], "Example.A: a brokerId is int32, not int64"),
    ("ignorable is a bool", [field("A", "int8", ignorable="true")], "Example.A: ignorable is true or false"),
    ("zero copy is for bytes", [field("A", "string", zeroCopy=True)], "Example.A: zeroCopy is only for bytes"),
    ("zero copy is for bytes, not arrays", [field("A", "[]bytes", zeroCopy=True)], "Example.A: zeroCopy is only for bytes"),
    ("own flexibility is for strings", [field("A", "int8", flexibleVersions="none")], "Example.A: only a string or bytes"),
    ("own flexibility is not for arrays", [field("A", "[]string", flexibleVersions="none")], "Example.A: only a string or bytes"),
    ("a message is no map entry", [field("A", "int8", mapKey=True)], "Example.A: mapKey is not for the fields of the message"),
    ("a struct has fields", [field("A", "S", fields=[])], "Example.A: there is no type S"),
]  # fmt: skip

TAGS: list[tuple[str, list[Any], str]] = [
    ("a tag has versions", [field("A", "int8", tag=0)], "Example.A: a tag without taggedVersions"),
    ("tagged versions have a tag", [field("A", "int8", taggedVersions="2+")], "Example.A: taggedVersions without a tag"),
    ("a tag is a number", [field("A", "int8", tag="x", taggedVersions="2+")], "Example.A: 'x' is no tag"),
    ("a tag is not a bool", [field("A", "int8", tag=True, taggedVersions="2+")], "Example.A: True is no tag"),
    ("a tag is not negative", [field("A", "int8", tag=-1, taggedVersions="2+")], "Example.A: a tag is not negative"),
    ("tags stay", [field("A", "int8", tag=0, taggedVersions="2-3")], "Example.A: taggedVersions 2-3 is not open-ended"),
    ("tags are in the versions", [field("A", "int8", "3+", **TAG)], "Example.A: taggedVersions 2+ is not within vers"),
    ("tags are flexible", [field("A", "int8", tag=0, taggedVersions="1+")], "Example.A: taggedVersions 1+ is not within flexibleVersions 2+"),
    ("tags are where the field is flexible", [field("A", "string", **TAG, flexibleVersions="3+")],
      "Example.A: taggedVersions 2+ is not within flex"),
    ("null for all tags or none", [field("A", "string", **TAG, nullableVersions="3+")], "Example.A: nullableVersions 3+ must hold all"),
    ("a key has no tag", [field("S", "[]S", fields=[field("A", "int8", "2+", **TAG, mapKey=True)])], "S.A: a tagged field cannot be a mapKey"),
    ("records have no tag", [field("A", "records", **TAG)], "Example.A: records cannot be tagged"),
    ("tags are unique", [field("A", "int8", **TAG), field("B", "int8", **TAG)], "Example.A: another field has tag 0"),
    ("tags leave no gap", [field("A", "int8", **TAG), field("B", "int8", tag=2, taggedVersions="2+")], "Example: tags must be contiguous: 1"),
    ("tags start at 0", [field("S", "S", fields=[field("A", "int8", tag=1, taggedVersions="2+")])], "S: tags must be contiguous: 0"),
]  # fmt: skip

DEFAULTS: list[tuple[str, list[Any], str]] = [
    (f"{value!r} for {kind}", [field("A", kind, default=value)], f"Example.A: {problem}")
    for kind, value, problem in [
        ("int8", "128", "the default 128 does not fit in int8"),
        ("int8", "-129", "the default -129 does not fit"),
        ("uint16", "-1", "the default -1 does not fit in uint16"),
        ("uint16", "65536", "the default 65536 does not fit"),
        ("uint32", "4294967296", "the default 4294967296 does not fit"),
        ("int32", "0x80000000", "the default 0x80000000 does not fit in int32"),
        ("int64", "9223372036854775808", "the default 9223372036854775808 does not fit"),
        ("int32", "1.5", "'1.5' is no default for int32"),
        ("int32", "x", "'x' is no default for int32"),
        ("int32", "null", "'null' is no default for int32"),
        ("bool", "yes", "'yes' is no default for bool"),
        ("float64", "x", "'x' is no default for float64"),
        ("uuid", "abc", "'abc' is no default for uuid"),
        ("uuid", "!!!!!!!!!!!!!!!!!!!!!!", "'!!!!!!!!!!!!!!!!!!!!!!' is no default for uuid"),
        ("bytes", "x", "the default can only be empty or null"),
        ("records", "x", "the default can only be empty or null"),
        ("[]int32", "1", "the default can only be empty or null"),
        ("string", "null", "null cannot be the default"),
        ("[]string", "null", "null cannot be the default"),
        ("int8", [1], "a default is a scalar"),
    ]
] + [
    ("null where not all versions may", [field("A", "string", nullableVersions="1+", default="null")], "Example.A: null cannot be the default"),
    ("a struct's default", [field("A", "S", fields=STRUCT, default="x")], "Example.A: the default can only be empty or null"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "problem"), [pytest.param(*rule[1:], id=rule[0]) for rule in (FIELDS + TAGS + DEFAULTS)]
)
def test_a_field_that_breaks_a_rule(fields: list[Any], problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(raw(*fields))
    assert str(caught.value).startswith("Example.json: " + problem)


MESSAGES: list[tuple[str, dict[str, Any], str]] = [
    ("a message has a name", {"name": ""}, "name must be given"),
    ("a message is named like a class", {"name": "example"}, "example: 'example' is no name of a message"),
    ("a message has a type", {"type": None}, "Example: type must be given"),
    ("types are known", {"type": "record"}, "Example: 'record' is no type of message"),
    ("keys are known", {"apikey": 3}, "unknown key 'apikey'"),
    ("a message has versions", {"validVersions": None}, "Example: validVersions must be given"),
    ("versions end", {"validVersions": "0+"}, "Example: validVersions must name a highest version"),
    ("flexibility is said", {"flexibleVersions": None}, "Example: flexibleVersions must be given"),
    ("flexibility stays", {"flexibleVersions": "2-3"}, "Example: flexibleVersions 2-3 is not open-ended"),
    ("only a request has listeners", {"listeners": ["broker"]}, "Example: only a request has listeners"),
    ("listeners are known", {"type": "request", "apiKey": 1, "listeners": ["client"]}, "Example: 'client' is no listener"),
    ("only a request is unstable", {"latestVersionUnstable": True}, "Example: only a request has latestVersionUnstable"),
    ("unstable is a bool", {"latestVersionUnstable": "true"}, "Example: latestVersionUnstable is true or false"),
    ("a request has a key", {"type": "request"}, "Example: a message of type request must have an apiKey"),
    ("a metadata record has a key", {"type": "metadata"}, "Example: a message of type metadata must have an apiKey"),
    ("a header has none", {"type": "header", "apiKey": 1}, "Example: a message of type header has no apiKey"),
    ("a key is a number", {"type": "request", "apiKey": "x"}, "Example: 'x' is no apiKey"),
    ("a key is not negative", {"type": "request", "apiKey": -1}, "Example: -1 is no apiKey"),
    ("a key is small", {"type": "request", "apiKey": 32768}, "Example: 32768 is no apiKey"),
    ("a coordinator's key has one version", {"type": "coordinator-key", "apiKey": 1}, "Example: a coordinator-key has version 0 only"),
]  # fmt: skip

COMMON: list[tuple[str, list[Any], list[Any], str]] = [
    ("a common struct is an object", ["x"], [], "Example: a common struct is a JSON object"),
    ("a common struct has known keys", [{"name": "S", "versions": "0+", "type": "x"}], [], "Example: unknown key 'type'"),
    ("a common struct has a name", [{"versions": "0+", "fields": STRUCT}], [], "Example: name must be given"),
    ("a common struct starts with a capital", [common("s")], [], "Example: 's' is no name of a struct"),
    ("a common struct has versions", [{"name": "S", "fields": STRUCT}], [field("A", "S")], "S: versions must be given"),
    ("a common struct comes once", [common("S")] * 2, [field("A", "S")], "Example: common struct S is specified twice"),
    ("a common struct is described once", [common("S")], [field("A", "S", fields=STRUCT)],
      "Example.A: common struct S must not be given fields"),
    ("a common struct is used", [common("S")], [], "Example: common struct S is used nowhere"),
    ("a common struct has the version", [common("S", "1+")], [field("A", "S", "0+")], "Example: struct S (1+) is used in version 0"),
    ("no struct contains itself", [common("S", "0+", [field("B", "[]S")])], [field("A", "S")], "S.B: struct S contains itself"),
    ("not even through another", [common("S", "0+", [field("B", "T")]), common("T", "0+", [field("C", "[]S")])], [field("A", "S")],
      "T.C: struct S contains itself"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "problem"), [pytest.param(*rule[1:], id=rule[0]) for rule in MESSAGES])
def test_a_message_that_breaks_a_rule(more: dict[str, Any], problem: str) -> None:
    written = {key: value for key, value in raw(field("A", "int8"), **more).items() if value is not None}
    with pytest.raises(SpecError) as caught:
        parse(written)
    assert str(caught.value).startswith("Example.json: " + problem)


@pytest.mark.parametrize(("structs", "fields", "problem"), [pytest.param(*rule[1:], id=rule[0]) for rule in COMMON])
def test_a_common_struct_that_breaks_a_rule(structs: list[Any], fields: list[Any], problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(raw(*fields, commonStructs=structs))
    assert str(caught.value).startswith("Example.json: " + problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("[]", "a specification is one JSON object"), ("{", "Expecting"), ('{"a": 1} 2', "Extra data")],
)
def test_a_text_that_is_no_specification(text: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        parse(text)


def test_loose_writing_that_kafka_accepts() -> None:
    """Kafka accepts a tag as text, a lone value for a list, defaults as JSON scalars, tagged
    versions alone, and tags in any order."""
    message = parse(
        raw(
            {"name": "B", "type": "int32", "taggedVersions": "2+", "tag": "1", "default": -1},
            field("C", "bool", default=True),
            {
                "name": "A",
                "type": "[]S",
                "taggedVersions": "2+",
                "tag": 0,
                "fields": field("X", "float64", default=1.5),
            },
            type="request",
            apiKey=1,
            listeners="broker",
            deprecatedVersions="0",
        )
    )
    found = {item.name: item for item in message.struct.fields}
    assert (found["B"].tag, found["B"].default, str(found["B"].versions)) == (1, -1, "2+")
    assert found["C"].default is True
    assert found["A"].struct is not None
    assert found["A"].struct.fields[0].default == 1.5
    assert message.listeners == ("broker",)


def test_a_retired_message_keeps_its_key_and_nothing_else() -> None:
    message = parse({"apiKey": 7, "type": "request", "name": "GoneRequest", "validVersions": "none"})
    assert message.api_key == 7
    assert not message.valid
    assert message.struct.fields == ()


def test_a_common_struct_may_name_a_later_one() -> None:
    structs = [common("S", "0+", [field("T", "[]T")]), common("T")]
    message = parse(raw(field("A", "[]S"), field("B", "T"), commonStructs=structs))
    assert [struct.name for struct in message.structs] == ["S", "T"]


def test_comments_may_stand_anywhere_in_a_spec() -> None:
    text = "// about\n" + json.dumps(raw(field("A", "int8"))).replace("{", "{ /* x */ ") + " // end"
    assert parse(text).name == "Example"
