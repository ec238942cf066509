"""One thing that the metadata log says: a record that counts, a snapshot, or something that cannot be understood; as JSON and as a line."""

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
    """Where a record stands in the log, and when it was appended (ms); of a record in a snapshot, the snapshot's end."""

    offset: int
    epoch: int
    timestamp: int
    snapshot: OffsetAndEpoch | None = None


class Change(NamedTuple):
    """`said` is what it means, where that can be told shorter than by the message itself."""

    kind: str
    place: Place
    message: Message | None = None
    version: int = 0
    said: str = ""
    data: bytes = b""  # what could not be understood

    def json(self) -> dict[str, Any]:
        """Names and forms of the data are those of Kafka's own converters; secrets are hidden."""
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
            made |= {"problem": self.said, "value": base64.b64encode(self.data).decode()}
        return made

    def line(self) -> str:
        """For people."""
        where = f"offset {self.place.offset}  epoch {self.place.epoch}  {time_text(self.place.timestamp)}"
        said = self.said
        if not said and self.message is not None:
            data = json.dumps(message_json(self.message, self.version), separators=(",", ":"))
            said = f"{type(self.message).__name__} {data}"
        return f"{where}  {said}"


def time_text(timestamp: int) -> str:
    """A time (ms) in UTC; what no calendar has stays a number."""
    try:
        found = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return found.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp % 1000:03d}Z"


def ids(numbers: Sequence[int]) -> str:
    """Nodes as Kafka's tools print them."""
    return ",".join(map(str, numbers)) or "none"


def directory_text(directory: Uuid) -> str:
    """A directory's id, or nothing where none is known."""
    return "" if directory == Uuid.ZERO else str(directory)
