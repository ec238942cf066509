"""One committed offset, with what came along and what its expiry goes by (KIP-211, KIP-320)."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid


class Committed(NamedTuple):
    """`record_offset` is that of the record in the log which says so; the latest record holds.

    `leader_epoch` and `expires_at` (ms) are -1 where the client gave none; `topic_id` is zero where it was not known.
    """

    record_offset: int
    offset: int
    leader_epoch: int
    metadata: str
    committed_at: int
    expires_at: int = -1
    topic_id: Uuid = Uuid.ZERO

    def is_for(self, topic_id: Uuid) -> bool:
        """Whether it belongs to this incarnation of the topic, as far as both sides know which one they mean."""
        return Uuid.ZERO in (self.topic_id, topic_id) or self.topic_id == topic_id

    def expired(self, now: int, since: int, retention: int) -> bool:
        """Whether its time is over: its own if it has one, else `retention` (ms) counted from `since`."""
        return now >= self.expires_at if self.expires_at != -1 else now - since >= retention
