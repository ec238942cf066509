"""Tag sections: order, sizes, merging of known and unknown tags."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.wire import tagged
from kafkadouble.wire.errors import BadTag, TooLarge, Truncated, UsageError


def written(known: dict[int, list[bytes]], unknown: Any, taken: tuple[int, ...] = ()) -> str:
    out: list[bytes] = []
    tagged.write_tags(out.append, known, unknown, taken)
    return b"".join(out).hex(" ")


def test_known_and_unknown_tags_are_merged_by_number() -> None:
    assert written({1: [b"a", b"b"], 3: [b""]}, {2: b"xyz", 0: b"", 300: bytearray(b"q")}, (1, 3)) == (
        "05 00 00 01 02 61 62 02 03 78 79 7a 03 00 ac 02 01 71"
    )


def test_empty_tagged_section_is_a_zero_byte() -> None:
    assert written({}, None) == "00"
    assert written({}, {}) == "00"


@pytest.mark.parametrize("tag", [1, -1, 1 << 31])
def test_tags_that_cannot_be_unknown(tag: int) -> None:
    with pytest.raises(UsageError, match="cannot be an unknown tag"):
        written({}, {tag: b""}, (1,))


def test_a_section_of_unknown_tags() -> None:
    data = bytes.fromhex("ff 03 00 00 02 03 78 79 7a ac02 01 71")
    assert tagged.read_unknown(data, data[1], 2) == ({0: b"", 2: b"xyz", 300: b"q"}, len(data))
    assert tagged.skip_tags(data, 1, 3) == (3, len(data))
    with pytest.raises(TooLarge, match="3 tagged fields where 2"):
        tagged.skip_tags(data, 1, 2)


def test_more_tags_than_fit_in_one_byte() -> None:
    unknown = {tag: bytes([tag % 256]) for tag in range(200)}
    data = bytes.fromhex(written({}, unknown))
    assert tagged.read_unknown(data, data[0], 1) == (unknown, len(data))


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        ("02 01 00 01 00", BadTag),
        ("02 05 00 01 00", BadTag),
        ("01 ffffffff0f 00", BadTag),
        ("01 05 03 61", Truncated),
        ("01 05 ffffffff07", Truncated),
    ],
)
def test_tagged_section_that_is_malformed_is_refused(wire: str, kind: type[Exception]) -> None:
    data = bytes.fromhex(wire)
    with pytest.raises(kind):
        tagged.read_unknown(data, data[0], 1)
    with pytest.raises(kind):
        tagged.skip_tags(data, 0, 99)


def test_tagged_section_that_ends_early_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        tagged.read_unknown(b"\x02\x01\x00", 2, 1)
