"""Rows of messages: every byte once, in order, with the values that `decode` returns; of damaged
bytes the rows before the damage."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import ApiVersionsRequest, FetchResponse, MetadataRequest, show
from kafkadouble.messages.fields import fields_of, is_flexible
from kafkadouble.messages.message import Message, Struct
from kafkadouble.wire.errors import BadText, TrailingBytes, Truncated, UnknownMessage, WireError
from tests.messages.making import Maker, every_version
from tests.messages.row_coverage import SEED, assert_covers

EVERY = list(every_version())


class Records(bytes):
    """The bytes of a field of records; its rows are those of record batches."""


def leaves(struct: Struct, version: int, flexible: bool, path: str) -> Iterator[tuple[str, Any]]:
    """Every value on the wire by its path, None for a null. A tagged field that has its default is
    not on the wire."""
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        inner = f"{path}.{field.name}"
        if not field.present(version) or (field.is_tagged(version) and field.is_default(value)):
            continue
        for at, element in [(inner, value)] if not field.array else enumerated(inner, value):
            if isinstance(element, Struct):
                yield from leaves(element, version, flexible, at)
            elif field.type == "records":
                yield at, Records(element or b"")
            else:
                yield at, element
    for tag, data in (struct.unknown_tagged_fields or {}).items():
        yield f"{path}.unknown_tagged_fields[{tag}]", data


def enumerated(path: str, value: Any) -> list[tuple[str, Any]]:
    return [(path, None)] if value is None else [(f"{path}[{index}]", element) for index, element in enumerate(value)]


def error_of(cls: type[Message], data: bytearray, version: int) -> WireError | None:
    try:
        cls.decode(data, version)
    except WireError as error:
        return error
    return None


def sample(cls: type[Message], version: int) -> bytes:
    return Maker((SEED, cls.__name__, version), longest=3).message(cls, version).encode(version)


@pytest.mark.parametrize("part", range(8))
def test_every_byte_of_every_message_has_its_row_and_its_value(part: int) -> None:
    for cls, version in EVERY[part::8]:
        data = sample(cls, version)
        rows = show.hexdump(data, cls, version)
        assert_covers(rows, data)
        shown = {row.path: row.value for row in rows if row.what == "value"}
        expected = dict(leaves(cls.decode(data, version), version, is_flexible(cls, version), cls.__name__))
        for path, value in expected.items():
            if isinstance(value, Records):
                inside = [row for row in rows if row.path.startswith(path) and not row.what.startswith("length")]
                assert b"".join(row.bytes for row in inside) == value
                for row in inside:
                    shown.pop(row.path, None)
            else:
                assert shown.pop(path, None) == value, f"{cls.__name__} {version}: {path}"
        assert shown == {}, f"{cls.__name__} {version}"


@pytest.mark.parametrize("part", range(8))
def test_broken_bytes_are_shown_up_to_the_error_that_decode_raises(part: int) -> None:
    dice = random.Random(SEED + part)
    broken = 0
    for cls, version in EVERY[part::8]:
        data = bytearray(sample(cls, version))
        for _ in range(dice.randrange(1, 3)):
            if data:
                data[dice.randrange(len(data))] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
        del data[dice.randrange(len(data) + 1) :]
        rows = show.hexdump(data, cls, version)
        assert_covers(rows, bytes(data))
        error = error_of(cls, data, version)
        if error is not None:
            last = rows[-1].value
            assert isinstance(last, type(error))
            assert (last.problem, last.offset, last.path) == (error.problem, error.offset, error.path)
            broken += 1
    assert broken > 30


def test_a_message_may_begin_anywhere() -> None:
    data = b"head" + ApiVersionsRequest(client_software_name="x", client_software_version="1").encode(3)
    rows = show.hexdump(data, ApiVersionsRequest, 3, 4)
    assert_covers(rows, data, 4)
    assert [(row.offset, row.path, row.what, row.value) for row in rows] == [
        (4, "ApiVersionsRequest.client_software_name", "length + 1", 2),
        (5, "ApiVersionsRequest.client_software_name", "value", "x"),
        (6, "ApiVersionsRequest.client_software_version", "length + 1", 2),
        (7, "ApiVersionsRequest.client_software_version", "value", "1"),
        (8, "ApiVersionsRequest", "count of tagged fields", 0),
    ]


@pytest.mark.parametrize(
    ("data", "kind", "offset"),
    [
        (b"\x02x\x02", Truncated, 3),
        (b"\x02\xff\x021\0", BadText, 1),
        (b"\x02x\x021\0!", TrailingBytes, 5),
    ],
)
def test_the_last_row_names_the_error(data: bytes, kind: type[WireError], offset: int) -> None:
    rows = show.hexdump(data, ApiVersionsRequest, 3)
    assert_covers(rows, data)
    error = rows[-1].value
    assert isinstance(error, kind)
    assert error.offset == offset
    assert f"at byte {offset}" in list(show.render(rows))[-1]


def test_a_version_that_there_is_not_is_one_row() -> None:
    (row,) = show.hexdump(b"abc", MetadataRequest, 99)
    assert row.bytes == b"abc"
    assert isinstance(row.value, UnknownMessage)


def test_nulls_and_empty_values_are_distinguished() -> None:
    null = show.hexdump(MetadataRequest(topics=None).encode(9), MetadataRequest, 9)
    empty = show.hexdump(MetadataRequest(topics=[]).encode(9), MetadataRequest, 9)
    assert (null[0].value, null[0].text) == (0, "0 (null)")
    assert (empty[0].value, empty[0].text) == (1, "1")
    plain = show.hexdump(MetadataRequest(topics=None).encode(1), MetadataRequest, 1)
    assert (plain[0].value, plain[0].text) == (-1, "-1 (null)")


def test_long_values_are_cut_in_the_text_and_whole_in_the_row() -> None:
    message = ApiVersionsRequest(client_software_name="n" * 1000, client_software_version="")
    rows = show.hexdump(message.encode(3), ApiVersionsRequest, 3)
    text = "\n".join(show.render(rows))
    assert rows[1].value == "n" * 1000
    assert len(text) < 1500
    assert "... 936 more bytes" in text
    assert "more bytes" not in "\n".join(show.render(rows, show.FULL))


def test_control_characters_of_a_message_are_escaped() -> None:
    nasty = "\x1b\x9b\u202e\r\n"
    message = ApiVersionsRequest(client_software_name=nasty, client_software_version="")
    shown = show.message(message.encode(3), ApiVersionsRequest, 3)
    for text in (shown.line(), *shown.tree_lines(), *shown.hexdump_lines()):
        assert not set(text) & set(nasty)
        assert text.isprintable()


def test_records_in_a_message_are_taken_apart_where_they_stand() -> None:
    records = bytes.fromhex("0000000000000000000000")  # less than the head of a batch
    partition = FetchResponse.PartitionData(records=records)
    message = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=[partition])])
    data = message.encode(11)
    rows = show.hexdump(data, FetchResponse, 11)
    assert_covers(rows, data)
    assert rows[-1].what == "cut off"  # a Fetch response may end inside a batch
    assert show.message(data, FetchResponse, 11).error is None
