"""Reads the bytes for `kafkadouble inspect`: from a file, standard input or the command line; as
binary, hex or base64."""

from __future__ import annotations

import base64
import binascii
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

FORMS = ("auto", "binary", "hex", "base64")

_SEPARATORS = re.compile(rb"0[xX]|[\s:,]+")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2})+\Z")
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})+\Z|(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)\Z")


class Source(NamedTuple):
    """The bytes to decode. `read(size)` works as a file's `read`; -1 reads all that is left."""

    read: Callable[[int], bytes]


@contextmanager
def source(file: str, digits: str | None, form: str, *, streams: bool) -> Iterator[Source]:
    """Opens the bytes to decode. With `streams` and the form "auto", the file is binary and is read
    piece by piece. Raises UsageError for text that is not in the given form."""
    if digits is not None:
        yield Source(BytesIO(from_text(digits.encode("utf-8", "replace"), "hex")).read)
    elif file == "-":
        yield _decoded(sys.stdin.buffer.read, form, streams)
    else:
        with open(file, "rb") as opened:
            yield _decoded(opened.read, form, streams)


def _decoded(read: Callable[[int], bytes], form: str, streams: bool) -> Source:
    if form == "binary" or (form == "auto" and streams):
        return Source(read)
    return Source(BytesIO(from_text(read(-1), form)).read)


def from_text(data: bytes, form: str) -> bytes:
    """Decodes a text. `auto` decodes text that consists only of hex digits or base64, and returns
    everything else unchanged."""
    dense = _SEPARATORS.sub(b"", data)
    if form in ("auto", "hex") and _HEX.match(dense):
        return bytes.fromhex(dense.decode())
    if form == "hex":
        raise UsageError("these are not hex digits in pairs")
    dense = b"".join(data.split())
    if form == "auto" and not _BASE64.match(dense):
        return data
    try:
        return data if form == "binary" else base64.b64decode(dense, validate=True)
    except binascii.Error as error:
        raise UsageError(f"this is not base64: {error}") from None
