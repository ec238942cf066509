"""A record of a coordinator: a typed key, and a typed value or a tombstone.

In the log, a key is preceded by its type (int16, which Kafka formerly called the version of the
key), and a value by its version (int16). Tools and clients that consume the topic read this format.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.messages import coordinator
from kafkadouble.messages.message import Message
from kafkadouble.wire.record import Record


class CoordinatorRecord(NamedTuple):
    """`value` is None for a tombstone. `version` is the version of the value."""

    key: Message
    value: Message | None
    version: int = 0

    def encoded(self, offset: int, now: int) -> Record:
        """Returns the record for a batch; `now` (ms) is its timestamp."""
        value = None if self.value is None else coordinator.encode_value(self.value, self.version)
        return Record(offset, now, coordinator.encode_key(self.key), value)
