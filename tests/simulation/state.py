"""The state that results from the simulated records: a state machine whose snapshots the nodes
write, fetch from one another and load.

A record is `<number> <key> <padding>`: it is the value of its key, and replaces the one before. The
state also has a digest of all records ever applied, in their order, so that two states are equal
only if the whole histories are.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from kafkadouble.wire.batch import iter_batches, records_of
from kafkadouble.wire.checksum import Buffer

KEYS = 13


def record(number: int, padding: int) -> bytes:
    return b"%d k%d %s" % (number, number % KEYS, bytes(padding))


def number_of(value: bytes) -> int:
    return int(value.partition(b" ")[0])


def _key_of(value: bytes) -> bytes:
    return value.split(b" ", 2)[1]


class State:
    """The state after some prefix of the records."""

    __slots__ = ("digest", "values")

    def __init__(self) -> None:
        self.digest = 0
        self.values: dict[bytes, bytes] = {}

    def apply(self, value: bytes) -> None:
        self.digest = crc32(value, self.digest)
        self.values[_key_of(value)] = value

    def apply_batch(self, batches: Buffer) -> None:
        """Applies all records of whole batches; control records of the quorum have no effect
        here."""
        for position, header in iter_batches(batches):
            if not header.is_control:
                for record in records_of(batches, position, header):
                    assert record.value is not None
                    self.apply(record.value)

    def records(self) -> list[bytes]:
        return [b"digest %d" % self.digest, *(self.values[key] for key in sorted(self.values))]

    @classmethod
    def loaded(cls, values: Iterable[bytes]) -> State:
        """The state from the records of a snapshot."""
        state, (first, *others) = cls(), list(values)
        state.digest = int(first.removeprefix(b"digest "))
        for value in others:
            state.values[_key_of(value)] = value
        return state

    def copy(self) -> State:
        state = State()
        state.digest, state.values = self.digest, dict(self.values)
        return state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and (self.digest, self.values) == (other.digest, other.values)

    __hash__ = None  # type: ignore[assignment]  # a state changes

    def __repr__(self) -> str:
        return f"state {self.digest:08x} of {len(self.values)} keys"
