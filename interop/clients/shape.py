"""The shape that every client is given here: a few verbs in Kafka's words, so that one test speaks through all of them.

Rules. The shapes add no behaviour: no retries, no waiting beyond what the client itself does. What a client cannot do is a method that it
has not. Options of producers and consumers are Kafka's names with `_` for `.`. An error that the broker told is Refused with Kafka's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

PATIENCE = 30.0
"""Seconds that any one call may take."""

CONSUMER: dict[str, Any] = {"auto_offset_reset": "earliest", "enable_auto_commit": False, "heartbeat_interval_ms": 100}
"""What every consumer is made with unless told otherwise; the short heartbeat makes a rebalance known at once."""

Headers = Sequence[tuple[str, bytes | None]]


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Record(NamedTuple):
    """A record to be written. `timestamp` is ms since the epoch, None for the client's time."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int | None = 0


class Seen(NamedTuple):
    """A record that a consumer gave. `timestamp_type`: 0 for the time of creation, 1 for the time of appending."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    timestamp: int
    timestamp_type: int


class Refused(Exception):
    """The broker's error, or the client's own where `code` is below 0."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def refusal(error: Exception, told_by_broker: type[Exception]) -> Refused:
    """The client's exception as ours: by the broker's error, or by one that it carries as its cause."""
    for one in (error, error.__cause__, *error.args):
        if isinstance(one, told_by_broker):
            return Refused(one.errno, repr(error))  # type: ignore[attr-defined]  # both libraries name it so
    return Refused(-1000, repr(error))


class Closing:
    """Closes itself at the end of a `with`."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


class Producer(Closing):
    """Writes records."""

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        """Their offsets, when all of them are acknowledged."""
        raise NotImplementedError


class Consumer(Closing):
    """Reads records. Made with `topics` it subscribes, with `partitions` it assigns itself."""

    early: Sequence[Seen] = ()
    """What came while the consumer only waited for its assignment; `read` begins with it."""

    def poll(self, seconds: float) -> list[Seen]:
        raise NotImplementedError

    def assignment(self) -> set[Partition]:
        raise NotImplementedError

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None = None) -> None:
        """Wait until these offsets and their metadata are committed, or the positions if there are none."""
        raise NotImplementedError

    def committed(self, partition: Partition) -> tuple[int, str] | None:
        raise NotImplementedError

    def position(self, partition: Partition) -> int:
        raise NotImplementedError

    def seek(self, partition: Partition, offset: int) -> None:
        raise NotImplementedError

    def seek_to_beginning(self, partition: Partition) -> None:
        raise NotImplementedError

    def seek_to_end(self, partition: Partition) -> None:
        raise NotImplementedError

    def bounds(self, partition: Partition) -> tuple[int, int]:
        """The first offset, and the one after the last."""
        raise NotImplementedError

    def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        """The first offset whose record is of this time or later."""
        raise NotImplementedError

    def read(self, count: int, within: float = PATIENCE) -> list[Seen]:
        """So many records; fails when they do not come, or when more come with them."""
        found, self.early = list(self.early), ()
        end = time.monotonic() + within
        while len(found) < count:
            left = end - time.monotonic()
            assert left > 0, f"{len(found)} records of {count} after {within:g} s, the last {found[-1:]!r:.300}"
            found += self.poll(left)
        assert len(found) == count, f"{len(found)} records, not {count}"
        return found

    def joined(self, within: float = PATIENCE) -> set[Partition]:
        """Poll until something is assigned, and tell what."""
        end = time.monotonic() + within
        while not (mine := self.assignment()):
            assert time.monotonic() < end, f"nothing was assigned in {within:g} s"
            self.early = [*self.early, *self.poll(1.0)]
        return mine


class Client(NamedTuple):
    """One client library: a name, and what makes its three parts from `bootstrap` and options."""

    name: str
    producer: Callable[..., Producer]
    consumer: Callable[..., Consumer]
    admin: Callable[..., Any]
