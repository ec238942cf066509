"""Changes of an answer: each takes the answer that the broker would send, and returns what is sent
in its place.

An answer is copied before it is changed, since it may share its parts with the state of the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.json_form import completed
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import HEADER_SIZE
from kafkadouble.wire.file_slice import in_one_piece

from ..requests.answer import Altered, ExactBody, Framing
from ..requests.request import Request
from . import field_path
from .actions import (
    ChangeField,
    CorruptRecords,
    CutFrame,
    OversizedFrame,
    Respond,
    ShortFrame,
    SlowFrame,
    Throttle,
    WrongCorrelationId,
)

CRC_AT = 17
"""The position of the CRC in a batch."""


def altered(answer: Any, request: Request[Any], actions: Sequence[Any]) -> Any:
    """The altered answer. A missing answer and a disconnect are not altered; exact bytes have no
    fields to alter."""
    if isinstance(answer, Message):
        # A copy, with the records that lie in files.
        parts: list[Any] = answer.parts(request.version)
        made = Altered(type(answer).decode(in_one_piece(parts), request.version))
    elif isinstance(answer, Altered):
        made = answer
        actions = [each for each in actions if type(each) not in OF_FIELDS]
    else:
        return answer
    for action in actions:
        ALTERATIONS[type(action)](made, action, request.version)
    return made if made.framing or made.mute_ms or isinstance(made.message, ExactBody) else made.message


def response_of(action: Respond, request: Request[Any]) -> Message | Altered:
    """The response of a script, in the version of the request. Raises UsageError if that cannot
    carry it."""
    cls = request.peer.apis[request.api_key].api.response
    if isinstance(action.body, bytes):
        return Altered(ExactBody(action.body, cls, request.version))
    response = cls.from_json(completed(cls, action.body, request.version), request.version)
    response.encode(request.version)
    return response


def _throttle(made: Altered, action: Throttle, version: int) -> None:
    made.mute_ms = round(action.seconds * 1000)
    if hasattr(made.message, "throttle_time_ms"):
        made.message.throttle_time_ms = made.mute_ms


def _change_field(made: Altered, action: ChangeField, version: int) -> None:
    made.message = field_path.replaced(made.message, action.path, action.value, version)


def _corrupt_records(made: Altered, action: CorruptRecords, version: int) -> None:
    if not isinstance(made.message, FetchResponse):
        return
    for topic in made.message.responses:
        for partition in topic.partitions:
            if partition.records:
                partition.records = corrupt(bytes(partition.records), action.how)


def corrupt(batches: bytes, how: str) -> bytes:
    """The bytes of batches, with a wrong CRC in the first, or one other bit in its records."""
    damaged = bytearray(batches)
    at = CRC_AT if how == "crc" or len(damaged) <= HEADER_SIZE else HEADER_SIZE
    if at < len(damaged):
        damaged[at] ^= 1
    return bytes(damaged)


def _framing(**fields: Callable[[Any], Any]) -> Callable[[Altered, Any, int], None]:
    def alter(made: Altered, action: Any, version: int) -> None:
        before = made.framing or Framing()
        made.framing = before._replace(**{name: value(action) for name, value in fields.items()})

    return alter


ALTERATIONS: dict[type[Any], Callable[[Altered, Any, int], None]] = {
    Throttle: _throttle,
    ChangeField: _change_field,
    CorruptRecords: _corrupt_records,
    WrongCorrelationId: _framing(correlation_delta=lambda action: 1),
    CutFrame: _framing(length=lambda action: action.bytes, closes=lambda action: True),
    ShortFrame: _framing(length=lambda action: action.bytes),
    OversizedFrame: _framing(size=lambda action: action.bytes),
    SlowFrame: _framing(bytes_per_second=lambda action: action.bytes_per_second),
}
"""For each action: the change. It changes its first argument."""

OF_FIELDS = (ChangeField, CorruptRecords)
"""The actions that change fields of the answer."""
