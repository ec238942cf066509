"""`.kafka_cleanshutdown`: the node closed every log of this directory, in this broker epoch
(KIP-966). The file is missing while the node runs.

Kafka before 3.8 left it empty.
"""

from __future__ import annotations

import json

from .checkpoint_text import text_of
from .errors import BadFile
from .json_text import json_object

VERSION = 0


def read(data: bytes, file: str = "") -> int | None:
    """The broker epoch; None when the file has none."""
    if not text_of(data, file).strip():
        return None
    found = json_object(data, file)
    epoch = found.get("brokerEpoch")
    if type(found.get("version")) is not int:
        raise BadFile("a version that is no number", file=file, offset=0)
    if type(epoch) is not int or not -1 <= epoch < 2**63:
        raise BadFile(f"broker epoch {epoch!r}", file=file, offset=0)
    return epoch


def write(broker_epoch: int) -> bytes:
    """A whole file."""
    return json.dumps({"version": VERSION, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode()
