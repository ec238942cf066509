"""`partition.metadata`: the id of the topic that a partition's folder belongs to (KIP-516). Two
lines: `version: 0`, `topic_id: ...`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from .checkpoint_text import text_of
from .errors import BadFile

VERSION = 0
_LINES = re.compile(r"version:\s+([0-9]{1,9})\r?\n(topic_id:\s+)([A-Za-z0-9_-]+=*)\s*\Z")


class PartitionMetadata(NamedTuple):
    """The content of the file. A later version may hold more, and is accepted."""

    version: int
    topic_id: Uuid


def read(data: bytes, file: str = "") -> PartitionMetadata:
    """Reads the file. BadFile for other lines than these, and for the zero uuid."""
    found = _LINES.match(text_of(data, file))
    if found is None:
        raise BadFile("this is not `version: N` and `topic_id: UUID`", file=file, offset=0)
    try:
        topic_id = Uuid.parse(found[3])
    except UsageError as error:
        raise BadFile(str(error), file=file, offset=found.start(3)) from None
    if topic_id == Uuid.ZERO:
        raise BadFile("the topic id is zero, which is no id", file=file, offset=found.start(3))
    return PartitionMetadata(int(found[1]), topic_id)


def write(topic_id: Uuid) -> bytes:
    """A whole file."""
    return f"version: {VERSION}\ntopic_id: {topic_id}".encode()
