"""The seed of one run of a node, which may start on the logs of earlier runs.

Rules. Every run of a node draws other values: the ids of topics, incarnations, members and tokens
are written to logs, and an id that was drawn twice would be taken for the first one. A node without
logs uses the given seed. A later run is identified by the epoch of the quorum and the end of the
metadata log: a run that leads the quorum does so in a new epoch, and a broker serves only after its
registration is in the metadata log and flushed. A run that wrote neither has shown its ids to no
client. The same seed and the same history give the same values.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..log.log import PartitionLog
    from .logs import Logs


def seed_of_life(seed: int, logs: Logs, metadata: PartitionLog) -> int:
    """The seed for this run of a node. BadFile when its election state cannot be read."""
    epoch, end = logs.elections.load().epoch, metadata.log_end_offset
    if not epoch and not end:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {epoch} {end}".encode()).digest()[:8], "big")
