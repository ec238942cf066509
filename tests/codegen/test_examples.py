"""Made-up messages with everything that the spec language has, generated and used: the expected
bytes are worked out by hand."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import BadLength, BadTag, NullNotAllowed, UsageError

from .press import field, press, raw

SIMPLE = raw(
    field("processId", "uuid", "1+", ignorable=True),
    field("myInts", "[]int32", ignorable=True),
    field("myName", "string", nullableVersions="1+", default="null", ignorable=True) | {"versions": "1+"},
    field("taggedNumber", "int32", "2+", taggedVersions="2+", tag=0, default="0x22"),
    field(
        "taggedText", "string", "2+", taggedVersions="2+", tag=2, nullableVersions="2+", default="abc", ignorable=True
    ),
    field("taggedInts", "[]int32", "1+", taggedVersions="2+", tag=1, ignorable=True),
    field("taggedUuid", "uuid", "2+", taggedVersions="2+", tag=3, default="H3KKO4NTRPaCWtEmm3vW7A", ignorable=True),
    field("small", "uint16", "1+", default="33000", ignorable=True),
    field("large", "uint32", "1+", default="0xfffffff0", ignorable=True),
    field("ratio", "float64", "3+", default="0.5", ignorable=True),
    field("from", "bool", "3+", default="true"),
    name="SimpleExample",
)

INNER = [field("number", "int32"), field("note", "string", "2+", taggedVersions="2+", tag=0)]
STRUCTS = raw(
    field("optional", "Optional", nullableVersions="0+", default="null", fields=INNER),
    field("mandatory", "Mandatory", "1+", fields=[field("number", "int32", default="7")], ignorable=True),
    field("taggedOptional", "TaggedOptional", "2+", nullableVersions="2+", taggedVersions="2+", tag=0, fields=INNER),
    field(
        "taggedDefault", "TaggedDefault", "2+", taggedVersions="2+", tag=1, fields=[field("x", "int8", default="-1")]
    ),
    field("empty", "[]Empty", "3+", fields=[field("later", "int8", "4+")], ignorable=True),
    name="StructExample",
    validVersions="0-4",
)


@pytest.fixture(scope="module")
def simple() -> Any:
    return press(SIMPLE, "simple_example").SimpleExample


@pytest.fixture(scope="module")
def structs() -> Any:
    return press(STRUCTS, "struct_example").StructExample


def test_example_message_has_the_default_of_each_field(simple: Any) -> None:
    made = simple()
    assert made.process_id == Uuid.ZERO
    assert (made.my_ints, made.my_name, made.tagged_number, made.tagged_text) == ((), None, 34, "abc")
    assert str(made.tagged_uuid) == "H3KKO4NTRPaCWtEmm3vW7A"
    assert (made.small, made.large, made.ratio, made.from_) == (33000, 0xFFFFFFF0, 0.5, True)
    assert (simple.versions, simple.flexible_from, simple.api_key, simple.kind) == ((0, 3), 2, None, "data")


@pytest.mark.parametrize(
    ("version", "wire"),
    [
        (0, "00000002 00000001 00000002"),
        (1, "00112233445566778899aabbccddeeff 00000002 00000001 00000002 0002 6869 00000000 80e8 fffffff0"),
        (2, "00112233445566778899aabbccddeeff 03 00000001 00000002 03 6869 80e8 fffffff0 00"),
        (3, "00112233445566778899aabbccddeeff 03 00000001 00000002 03 6869 80e8 fffffff0 3fe0000000000000 01 00"),
    ],
)
def test_the_bytes_of_each_version(simple: Any, version: int, wire: str) -> None:
    made = simple(process_id=bytes.fromhex("00112233445566778899aabbccddeeff"), my_ints=[1, 2], my_name="hi")
    assert made.encode(version).hex() == wire.replace(" ", "")
    assert simple.decode(made.encode(version), version).encode(version) == made.encode(version)


def test_tags_are_written_in_their_order_when_they_differ_from_their_defaults(simple: Any) -> None:
    made = simple(
        tagged_number=1,
        tagged_text=None,
        tagged_ints=[5],
        tagged_uuid=bytes(16),
        unknown_tagged_fields={9: b"xy", 4: b""},
    )
    wire = (
        "00" * 16
        + "01 00 80e8 fffffff0 06"
        + "00 04 00000001"
        + "01 05 02 00000005"
        + "02 01 00"
        + "03 10"
        + "00" * 16
        + "04 00"
        + "09 02 7879"
    )
    assert made.encode(2).hex() == wire.replace(" ", "")
    read = simple.decode(made.encode(2), 2)
    assert read == made
    assert read.unknown_tagged_fields == {4: b"", 9: b"xy"}


def test_a_field_that_was_untagged_before(simple: Any) -> None:
    made = simple(tagged_ints=(7,))
    assert made.encode(1).hex() == "00" * 16 + "00000000" + "ffff" + "00000001" + "00000007" + "80e8fffffff0"
    assert simple.decode(made.encode(1), 1).tagged_ints == (7,)
    assert made.encode(0).hex() == "00000000"


def test_field_outside_its_versions_is_refused_unless_it_is_ignorable(simple: Any) -> None:
    with pytest.raises(UsageError, match=r"SimpleExample.tagged_number = 1 cannot be carried.*2 and up \(version 1\)"):
        simple(tagged_number=1).encode(1)
    with pytest.raises(UsageError, match=r"SimpleExample.from_ = False cannot be carried.*\(version 2\)"):
        simple(from_=False).encode(2)
    with pytest.raises(UsageError, match=r"SimpleExample.unknown_tagged_fields cannot be carried.*\(version 1\)"):
        simple(unknown_tagged_fields={9: b""}).encode(1)
    assert simple(tagged_text="x", large=1).encode(0) == simple().encode(0)


@pytest.mark.parametrize("tag", [0, 1, 2, 3, -1, 1 << 31, "x"])
def test_an_unknown_tag_cannot_take_a_known_one(simple: Any, tag: Any) -> None:
    with pytest.raises(UsageError, match="cannot be an unknown tag here"):
        simple(unknown_tagged_fields={tag: b"x"}).encode(2)


def test_structs_that_may_be_null(structs: Any) -> None:
    assert structs().encode(0).hex() == "ff"
    assert structs(optional=structs.Optional(number=3)).encode(0).hex() == "0100000003"
    assert structs().encode(2).hex() == "ff" + "0000000700" + "00"
    made = structs(optional=structs.Optional(number=3, note="x"))
    assert made.encode(2).hex() == "01 00000003 01 00 02 02 78 00000007 00 00".replace(" ", "")
    assert structs.decode(made.encode(2), 2) == made


def test_a_struct_of_defaults_is_not_null(structs: Any) -> None:
    """A nullable tagged struct without the default null has a struct as its default: then null is
    what must be written."""
    assert structs().tagged_optional == structs.TaggedOptional()
    assert structs(tagged_optional=None).encode(2).hex() == "ff" + "0000000700" + "01 00 01 00".replace(" ", "")
    assert structs.decode(structs(tagged_optional=None).encode(2), 2).tagged_optional is None
    made = structs(tagged_optional=structs.TaggedOptional(number=1))
    assert made.encode(2).hex() == "ff" + "0000000700" + "01 00 06 01 00000001 00".replace(" ", "")
    assert structs.decode(made.encode(2), 2) == made


def test_a_struct_is_made_on_access_and_never_shared(structs: Any) -> None:
    one, other = structs(), structs()
    assert one.mandatory is one.mandatory
    assert one.mandatory is not other.mandatory
    one.mandatory.number = 8
    assert (one.mandatory.number, other.mandatory.number, structs().mandatory.number) == (8, 7, 7)
    assert one != other
    assert one.encode(1).hex() == "ff" + "00000008"
    read = structs.decode(b"\xff", 0)
    assert read.mandatory.number == 7
    assert read.tagged_default.x == -1
    one.tagged_default.x = 5
    assert one.encode(2).hex() == "ff" + "0000000800" + "01 01 02 05 00".replace(" ", "")


def test_a_mandatory_struct_is_mandatory(structs: Any) -> None:
    made = structs()
    made.mandatory = structs.Mandatory(number=9)
    assert made.mandatory.number == 9
    with pytest.raises(UsageError, match=r"StructExample.mandatory.number is a str"):
        structs(mandatory=structs.Mandatory(number="9")).encode(1)


def test_elements_without_bytes_are_counted_against_what_remains(structs: Any) -> None:
    made = structs(empty=[structs.Empty(), structs.Empty()])
    assert structs.decode(made.encode(3), 3).empty == [structs.Empty(), structs.Empty()]


def test_many_elements_without_bytes_do_not_take_long() -> None:
    """In a version where a struct has no field yet, an element takes no bytes: only the bound on
    the count ends the loop."""
    bare = raw(field("empty", "[]Empty", fields=[field("later", "int8", "1+")]), name="BareExample")
    made = press(bare, "bare_example").BareExample
    with pytest.raises(BadLength, match="2147483647 elements are announced, 4 bytes remain"):
        made.decode(bytes.fromhex("7fffffff 00000000"), 0)
    assert made.read(bytes.fromhex("00000003 00000000"), 0) == (made(empty=[made.Empty()] * 3), 4)


def test_null_in_a_field_that_is_not_nullable_is_refused(structs: Any, simple: Any) -> None:
    with pytest.raises(NullNotAllowed, match=r"at byte 0 in SimpleExample.my_ints"):
        simple.decode(bytes.fromhex("ffffffff"), 0)
    with pytest.raises(NullNotAllowed, match=r"at byte 16 in SimpleExample.my_ints"):
        simple.decode(bytes(16) + b"\x00", 2)
    with pytest.raises(NullNotAllowed, match=r"at byte 16 in SimpleExample.my_ints"):
        simple.decode(bytes(16) + b"\x80\x00", 2)


def test_a_tagged_field_fills_its_size(simple: Any) -> None:
    head = bytes(16) + b"\x01\x00" + b"\x00" * 6
    with pytest.raises(BadTag, match=r"tag 0 announces 5 bytes and has 4 at byte 27 in SimpleExample.tagged_number"):
        simple.decode(head + bytes.fromhex("01 00 05 00000001 00"), 2)
    with pytest.raises(BadTag, match="tag 0 comes behind tag 0"):
        simple.decode(head + bytes.fromhex("02 00 04 00000001 00 04 00000001"), 2)
    with pytest.raises(BadTag, match="tag 4 comes behind tag 9"):
        simple.decode(head + bytes.fromhex("02 09 00 04 00"), 2)


def test_a_known_tag_in_a_version_that_does_not_have_it_is_kept() -> None:
    late = raw(field("late", "int32", "3+", taggedVersions="3+", tag=0), name="LateExample")
    made = press(late, "late_example")
    read = made.LateExample.decode(bytes.fromhex("01 00 04 00000001"), 2)
    assert read.unknown_tagged_fields == {0: bytes.fromhex("00000001")}
    assert read.encode(2).hex() == "010004" + "00000001"
    with pytest.raises(UsageError, match="cannot be an unknown tag here"):
        read.encode(3)


def test_versions_with_one_layout_share_their_code() -> None:
    module: ModuleType = press(
        raw(field("a", "int8"), field("b", "int8", "3+"), name="SharedExample"), "shared_example"
    )
    readers = module.SharedExample._readers
    assert readers[0] is readers[1]
    assert readers[1] is not readers[2]
    assert readers[2] is not readers[3]
