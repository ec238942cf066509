"""Shows whole frames (size, header and body of a request or a response), and single messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import Truncated, UnknownMessage

from .. import registry
from ..api_keys import ApiKeys
from ..generated.request_header import RequestHeader
from ..generated.response_header import ResponseHeader
from ..message import Message
from .as_json import message_json
from .lines import LONGEST, clip, line
from .payload import RAW
from .row import FieldRow, error_row, moved
from .sections import Section, read_request_section, read_section, section_rows, unread_section
from .shown import Shown, broken_line, error_json
from .sizes import FrameWindow, is_chain, is_sized_request, window
from .text import TREE, TextLimits, counted, plain
from .trees import STEP, indented, message_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Frame(Shown):
    """A request, a response or a message, from byte `start` to byte `end` of the input. `sized` is
    true if the frame begins with its size."""

    def __init__(
        self,
        window: FrameWindow,
        start: int,
        title: str,
        sections: list[Section],
        *,
        records: str = RAW,
        bounds: TextLimits = TREE,
    ) -> None:
        self.start, self.end, self.sized = start, start + len(window.data), window.start > 0
        self.title, self.sections, self.kind, self.bounds = title, sections, records, bounds
        self._found = window

    @property
    def header(self) -> Message | None:
        """The header, or None if it is absent or could not be read."""
        return self.sections[0].message if len(self.sections) > 1 else None

    @property
    def message(self) -> Message | None:
        """The request or response, or None if it could not be read."""
        return self.sections[-1].message

    def line(self, longest: int = LONGEST) -> str:
        texts = [self._headline()]
        if isinstance(self.header, (RequestHeader, ResponseHeader)):
            texts[0] += f", correlation {self.header.correlation_id}"
        if isinstance(self.header, RequestHeader):
            texts[0] += f", client {plain(self.header.client_id)}"
        if self.error is not None:
            texts.append(broken_line(self.error))
        if self.message is not None:
            texts.append(line(self.message, longest))
        return clip(": ".join(texts), longest)

    def tree_lines(self) -> Iterator[str]:
        yield self._headline()
        alone = len(self.sections) == 1
        for section in self.sections:
            if section.message is not None:
                lines = message_lines(section.message, section.version, bounds=self.bounds, records=self.kind)
                yield from islice(lines, 1, None) if alone else indented(lines, STEP)
        if self.error is not None:
            yield STEP + broken_line(self.error)

    def json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"title": self.title}
        for name, section in zip(("header", "body")[-len(self.sections) :], self.sections, strict=True):
            if section.message is not None:
                data = message_json(section.message, section.version)
                made[name] = {"name": type(section.message).__name__, "version": section.version, "data": data}
        if self.error is not None:
            made["broken"] = error_json(self.error)
        return made

    def rows(self) -> Iterator[FieldRow]:
        return (moved(row, self.start) for row in self._rows())

    def _headline(self) -> str:
        return f"{self.title}, {counted(self.end - self.start, 'byte')}"

    def _rows(self) -> Iterator[FieldRow]:
        data, size = self._found.data, self._found.start
        if size:
            yield FieldRow(0, data[:size], "", int.from_bytes(data[:size], "big", signed=True), "size")
        for section in self.sections:
            yield from section_rows(section, data, self.kind, last=section is self.sections[-1])
        if self._found.missing and all(section.error is None for section in self.sections):
            missing = f"the frame lacks {counted(self._found.missing, 'byte')} of what its size announces"
            yield error_row(Truncated(missing, offset=len(data)), b"", len(data))


def frame(
    data: Buffer, offset: int = 0, *, sized: bool | None = None, records: str = RAW, bounds: TextLimits = TREE
) -> Frame:
    """The request frame at `offset`. `sized` is true if the frame begins with four bytes of size;
    None detects this."""
    found = window(data, offset, is_sized_request(data, offset) if sized is None else sized)
    if found.error is not None:
        title, sections = "request", [unread_section(found.error, 0, len(found.data))]
    else:
        title, sections = _request(found.data, found.start)
    return Frame(found, offset, title, sections, records=records, bounds=bounds)


def _request(body: bytes, start: int) -> tuple[str, list[Section]]:
    key, version = (int.from_bytes(body[at : at + 2], "big", signed=True) for at in (start, start + 2))
    try:
        api = registry.api(key)
    except UnknownMessage as error:
        header = read_request_section(body, start, 1)
        unread = [] if header.message is None else [unread_section(error, header.end, len(body))]
        return f"API {key} request, version {version}", [header, *unread]
    header = read_request_section(body, start, api.request_header_version(version))
    title = f"{api.name} request, version {version}"
    if header.message is None:
        return title, [header]
    if api.retired:
        retired = UnknownMessage(f"{api.name} is retired: it has no version any more", offset=header.end)
        return title, [header, unread_section(retired, header.end, len(body))]
    return title, [header, read_section(api.request, body, version, header.end)]


def response_frame(
    data: Buffer,
    api_key: int,
    version: int,
    offset: int = 0,
    *,
    sized: bool | None = None,
    records: str = RAW,
    bounds: TextLimits = TREE,
) -> Frame:
    """The response frame at `offset` to a request of this API and version. UnknownMessage when no
    API has the key.

    A response of ApiVersions may always be of version 0 (KIP-511).
    """
    api = registry.api(api_key)
    if sized is None and is_chain(data, offset):
        made = _response_frame(data, api, version, offset, True, records, bounds)
        other = _response_frame(data, api, version, offset, False, records, bounds) if made.message is None else made
        return made if other.message is None else other  # a correlation id may look like a size
    return _response_frame(data, api, version, offset, bool(sized), records, bounds)


def _response_frame(
    data: Buffer, api: registry.Api, version: int, offset: int, sized: bool, kind: str, bounds: TextLimits
) -> Frame:
    found = window(data, offset, sized)
    if found.error is not None:
        sections = [unread_section(found.error, 0, len(found.data))]
    else:
        sections = _response(found.data, found.start, api, version)
    return Frame(found, offset, f"{api.name} response, version {version}", sections, records=kind, bounds=bounds)


def _response(body: bytes, start: int, api: registry.Api, version: int) -> list[Section]:
    header = read_section(ResponseHeader, body, api.response_header_version(version), start, whole=False)
    if header.message is None:
        return [header]
    found = read_section(api.response, body, version, header.end)
    if found.error is not None and api.key == ApiKeys.API_VERSIONS:
        older = read_section(api.response, body, 0, header.end)
        return [header, found if older.error is not None else older]
    return [header, found]


def message(
    data: Buffer, cls: type[Message], version: int, offset: int = 0, *, records: str = RAW, bounds: TextLimits = TREE
) -> Frame:
    """The message that fills `data` from `offset` on, without any header."""
    found = window(data, offset, sized=False)
    section = read_section(cls, found.data, version, 0)
    return Frame(found, offset, f"{cls.__name__} version {version}", [section], records=records, bounds=bounds)
