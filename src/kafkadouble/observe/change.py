"""A change in the metadata log, as JSON and as a line of text: a record, a snapshot, or bytes
that cannot be decoded."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.messages.show.as_json import message_json
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECORD, CONTROL, SNAPSHOT, UNKNOWN, QUORUM = "record", "control", "snapshot", "unknown", "quorum"


class Place(NamedTuple):
    """The position of a record in the log, and its timestamp in ms. A record in a snapshot has the
    end of the snapshot."""

    offset: int
    epoch: int
    timestamp: int
    snapshot: OffsetAndEpoch | None = None


class Change(NamedTuple):
    """A change. `text` is a short text, for messages that have one."""

    kind: str
    place: Place
    message: Message | None = None
    version: int = 0
    text: str = ""
    # The bytes that could not be decoded.
    data: bytes = b""

    def json(self) -> dict[str, Any]:
        """The change as JSON, with the names and formats of Kafka's own converters; secrets are
        hidden."""
        made: dict[str, Any] = {"kind": self.kind}
        if self.place.snapshot is None or self.kind == SNAPSHOT:
            made |= {"offset": self.place.offset}
        else:
            made |= {"snapshot": self.place.snapshot.offset}
        made |= {"epoch": self.place.epoch, "timestamp": self.place.timestamp}
        if self.message is not None:
            data = message_json(self.message, self.version)
            made |= {"type": type(self.message).__name__, "version": self.version, "data": data}
        elif self.kind == UNKNOWN:
            made |= {"problem": self.text, "value": base64.b64encode(self.data).decode()}
        return made

    def line(self) -> str:
        """The change as a line of text."""
        where = f"offset {self.place.offset}  epoch {self.place.epoch}  {time_text(self.place.timestamp)}"
        text = self.text
        if not text and self.message is not None:
            data = json.dumps(message_json(self.message, self.version), separators=(",", ":"))
            text = f"{type(self.message).__name__} {data}"
        return f"{where}  {text}"


def time_text(timestamp: int) -> str:
    """A time in UTC, from ms since the epoch. A number that is out of range stays a number."""
    try:
        found = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return found.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp % 1000:03d}Z"


def ids(numbers: Sequence[int]) -> str:
    """Node ids in the format of Kafka's tools."""
    return ",".join(map(str, numbers)) or "none"


def directory_text(directory: Uuid) -> str:
    """The id of a directory; empty when it is not known."""
    return "" if directory == Uuid.ZERO else str(directory)
