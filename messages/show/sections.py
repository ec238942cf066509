"""The messages of a frame: its header and its body, each read as far as possible.

Headers are read as the server reads them: a header that it accepts is no error here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.wire.errors import BadText, WireError

from ..generated.request_header import RequestHeader
from ..headers import read_request_header
from ..message import Message
from .dumps import expanded
from .row import FieldRow, error_row
from .rows import message_rows


class Section(NamedTuple):
    """A message in a frame. When it cannot be read, `message` is None and `error` is the reason.
    The class is None when it is unknown."""

    cls: type[Message] | None
    version: int
    start: int
    end: int
    message: Message | None
    error: WireError | None


def read_section(cls: type[Message], body: bytes, version: int, start: int, *, whole: bool = True) -> Section:
    """The message at `start`; with `whole` it has to fill the bytes."""
    try:
        if whole:
            return Section(cls, version, start, len(body), cls.decode(body, version, start), None)
        found, end = cls.read(body, version, start)
        return Section(cls, version, start, end, found, None)
    except WireError as error:
        return Section(cls, version, start, len(body), None, error)


def unread_section(error: WireError, start: int, end: int) -> Section:
    """Bytes that are described by a text only."""
    return Section(None, 0, start, end, None, error)


def read_request_section(body: bytes, start: int, version: int) -> Section:
    """A request's header. A client id that is not UTF-8 is accepted, as the server does."""
    section = read_section(RequestHeader, body, version, start, whole=False)
    if not isinstance(section.error, BadText):
        return section
    try:
        head = read_request_header(body, start)
    except WireError:
        return section
    header = RequestHeader(
        request_api_key=head.api_key,
        request_api_version=head.api_version,
        correlation_id=head.correlation_id,
        client_id=head.client_id,
    )
    return Section(RequestHeader, version, start, head.body_offset, header, None)


def section_rows(section: Section, body: bytes, kind: str, *, last: bool) -> Iterator[FieldRow]:
    """The rows of a section. `last`: it has to fill the bytes, and its records are of `kind`."""
    if section.cls is None:
        assert section.error is not None
        yield error_row(section.error, body[section.start :], section.start)
    elif last:
        yield from expanded(section.cls, body, section.version, section.start, kind)
    else:
        yield from _header_rows(section, section.cls, body)


def _header_rows(section: Section, cls: type[Message], body: bytes) -> Iterator[FieldRow]:
    """A header that was read but cannot be traced is one row."""
    at = section.start
    for row in message_rows(cls, body, section.version, section.start, whole=False):
        if isinstance(row.value, WireError) and section.message is not None:
            rest = body[at : section.end]
            yield FieldRow(at, rest, row.path, rest)
            return
        yield row
        at = row.end
