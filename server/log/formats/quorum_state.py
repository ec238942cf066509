"""`quorum-state`: the epoch of the quorum, and the vote of this node in it (KIP-595; version 1:
KIP-853). One JSON object, with `data_version`.
"""

from __future__ import annotations

import json

from kafkadouble.messages import QuorumStateData
from kafkadouble.wire.errors import UsageError

from .errors import BadFile
from .json_text import json_object

_VERSION = "data_version"


def read(data: bytes, file: str = "") -> tuple[QuorumStateData, int]:
    """The state, and the version in which it was written."""
    found = json_object(data, file)
    version = found.get(_VERSION)
    low, high = QuorumStateData.versions
    if type(version) is not int or not low <= version <= high:
        raise BadFile(f"{_VERSION} {version!r} is not known", file=file, offset=0)
    try:
        return QuorumStateData.from_json(found, version), version
    except UsageError as error:
        raise BadFile(str(error), file=file, offset=0) from None


def write(state: QuorumStateData, version: int) -> bytes:
    """A whole file."""
    return json.dumps({**state.to_json(version), _VERSION: version}, separators=(",", ":")).encode()
