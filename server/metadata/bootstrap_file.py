"""The records that the metadata of a new cluster begins with, as `format` leaves them for the first start.

They lie in a file that has the form of a snapshot (KIP-630): control batches at both ends, and records between them.
"""

from __future__ import annotations

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError

from ..log.formats.errors import BadFile, bad_from
from .broken_log import BrokenLog
from .metadata_log import decoded


def read(data: bytes, file: str = "") -> list[Message]:
    """The records; a quorum may have been told its voters alone. BadFile when the file cannot be read."""
    try:
        return [record for batch in decoded(data) for record in batch.records]
    except WireError as problem:
        raise bad_from(problem, file) from problem
    except BrokenLog as problem:
        raise BadFile(str(problem), file=file) from problem
