"""A committed offset, with its metadata and the times of its expiration (KIP-211, KIP-320)."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid


class OffsetAndMetadata(NamedTuple):
    """A committed offset of one partition. Timestamps are in ms.

    `record_offset` is the offset of its record in `__consumer_offsets`; the latest record wins.
    `leader_epoch` and `expire_timestamp` are -1 if the client gave none. `topic_id` is zero if the
    coordinator did not know it.
    """

    record_offset: int
    committed_offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int = -1
    topic_id: Uuid = Uuid.ZERO

    def is_for(self, topic_id: Uuid) -> bool:
        """Returns whether it belongs to this topic id; an unknown id on either side matches."""
        return Uuid.ZERO in (self.topic_id, topic_id) or self.topic_id == topic_id

    def is_expired(self, now: int, retention_start: int, retention_ms: int) -> bool:
        """Returns whether it expired: at its own time if it has one, else after the retention."""
        if self.expire_timestamp != -1:
            return now >= self.expire_timestamp
        return now - retention_start >= retention_ms
