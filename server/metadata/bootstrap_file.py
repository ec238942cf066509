"""Reads the bootstrap records that `format` leaves for the first start of a new cluster.

The file has the form of a snapshot (KIP-630): records between control batches.
"""

from __future__ import annotations

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError

from ..log.formats.errors import BadFile, bad_from
from .broken_log import BrokenLog
from .metadata_log import decode_batches


def read(data: bytes, file: str = "") -> list[Message]:
    """The records; none if `format` only named the voters. BadFile if the file cannot be read."""
    try:
        return [record for batch in decode_batches(data) for record in batch.records]
    except WireError as problem:
        raise bad_from(problem, file) from problem
    except BrokenLog as problem:
        raise BadFile(str(problem), file=file) from problem
