"""The rows of one message, from the trace of its bytes. Records are one row here; `dumps` divides
them."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.errors import TrailingBytes, UnknownMessage, WireError

from ..message import Message
from ..trace import FieldSpan, trace
from .places import Places, holds_secrets
from .row import FieldRow, error_row
from .text import value_text


def message_rows(
    cls: type[Message], body: bytes, version: int, start: int = 0, *, whole: bool = True
) -> Iterator[FieldRow]:
    """The rows of `body` from `start`. With `whole` the message has to fill the bytes; otherwise
    the rows end after it."""
    error, end = _read(cls, body, version, start)
    spans = [] if isinstance(error, UnknownMessage) else trace(cls, body, version, start)[0]
    places = Places(cls)
    for span in spans:
        places.learn(span.path, span.value)
        yield _row(span, body, places, version)
    if whole and error is None and end != len(body):
        error = TrailingBytes(f"{len(body) - end} bytes are left after {cls.__name__} version {version}", offset=end)
    if error is not None:
        at = spans[-1].end if spans else start
        yield error_row(error, body[at:], at, hidden=holds_secrets(cls))


def _read(cls: type[Message], body: bytes, version: int, start: int) -> tuple[WireError | None, int]:
    try:
        return None, cls.read(body, version, start)[1]
    except UnknownMessage as error:
        return UnknownMessage(error.problem, offset=start), start
    except WireError as error:
        return error, start


def _row(span: FieldSpan, body: bytes, places: Places, version: int) -> FieldRow:
    data = body[span.start : span.end]
    field = places.field(span.path)
    if span.what == "value":
        text = value_text(field, span.value)
        return FieldRow(span.start, data, span.path, span.value, text=text, hidden=places.is_secret(span.path))
    tagged = field is not None and field.is_tagged(version)
    null = " (null)" if isinstance(span.value, int) and _is_null(span.what, span.value, tagged) else ""
    return FieldRow(span.start, data, span.path, span.value, span.what, f"{span.value}{null}")


def _is_null(what: str, value: int, tagged: bool) -> bool:
    """Whether a length, count or marker means null, so that nothing follows (KIP-482, KIP-893)."""
    return value < 0 or (value == 0 and (what.endswith("+ 1") or (what == "marker" and tagged)))
