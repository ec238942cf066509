"""The seed of one life of a node, which starts on what its earlier lives left.

Rules. Every life of a node draws other values: ids of topics, incarnations, members and tokens are written down, and an id
that came twice would be taken for the first one. A node that has nothing yet goes by the seed that it is given. A later
life is told by the epoch of the quorum and the end of the metadata log: a life that leads the quorum does so in a new
epoch, and a broker serves when the metadata log, flushed, has its registration. A life that left neither has shown its ids
to no client. The same seed and the same history give the same values.
"""

from __future__ import annotations

import hashlib

from ..log.log import PartitionLog
from .logs import Logs


def seed_of_life(seed: int, logs: Logs, metadata: PartitionLog) -> int:
    """What to seed this life of a node with. BadFile when its election state cannot be read."""
    epoch, end = logs.elections.load().epoch, metadata.log_end_offset
    if not epoch and not end:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} {epoch} {end}".encode()).digest()[:8], "big")
