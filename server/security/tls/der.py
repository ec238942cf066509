"""Reads elements of DER (X.690): a tag, a length, a content. WireError for bytes that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.wire.errors import WireError

SEQUENCE, INTEGER = 0x30, 0x02


class DerElement(NamedTuple):
    """`whole` has its tag and its length, too."""

    tag: int
    content: bytes
    whole: bytes


def one(data: bytes, tag: int) -> DerElement:
    """The first element, which must have this tag."""
    element = next(elements(data), None)
    if element is None or element.tag != tag:
        raise WireError(f"DER that has no {tag:#x} where one must be")
    return element


def elements(data: bytes) -> Iterator[DerElement]:
    """The elements that follow one another."""
    at = 0
    while at < len(data):
        begin, tag = at, data[at]
        size, at = _size(data, at + 1)
        if at + size > len(data):
            raise WireError("DER that ends early", offset=at)
        yield DerElement(tag, data[at : at + size], data[begin : at + size])
        at += size


def _size(data: bytes, at: int) -> tuple[int, int]:
    if at >= len(data):
        raise WireError("DER that ends early", offset=at)
    first = data[at]
    if first < 0x80:
        return first, at + 1
    count = first & 0x7F
    if not 0 < count <= 4 or at + count >= len(data):
        raise WireError("a length in DER that is not valid", offset=at)
    return int.from_bytes(data[at + 1 : at + 1 + count], "big"), at + 1 + count
