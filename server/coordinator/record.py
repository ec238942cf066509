"""A coordinator's record: a typed key, and a value or the tombstone that removes it.

In the log the key stands behind its type (int16, which Kafka once called the key's version), the value behind its version (int16). Tools and
clients that consume the topic read exactly this.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import coordinator
from kafkadouble.messages.message import Message
from kafkadouble.wire.record import Record


class CoordinatorRecord(NamedTuple):
    """`value` is None for a tombstone; `version` is the value's."""

    key: Message
    value: Message | None
    version: int = 0

    def encoded(self, offset: int, now: int) -> Record:
        """The record as it stands in a batch."""
        value = None if self.value is None else coordinator.encode_value(self.value, self.version)
        return Record(offset, now, coordinator.encode_key(self.key), value)
