"""The shape that every client is given here: a few verbs in Kafka's words, so that one test speaks through all of them.

Rules. The shapes add no behaviour: no retries, no waiting beyond what the client itself does. Only a consumer's poll is what an application
makes of it, since the libraries differ in what they let it see of a broker that is away: an error that passes, as the client itself says, is
nothing that came, and the next poll tries again. What a client cannot do is a method that it has not. Options of producers and consumers are
Kafka's names with `_` for `.`. An error that the broker told is Refused with Kafka's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

PATIENCE = 60.0
"""Seconds that any one call may take."""

PASSES_WITHIN = 90.0
"""Seconds for which polls may fail by errors that pass: as long as a JVM may take to start again on a busy machine."""

AGAIN = 0.1
"""Seconds after which a poll that failed so is over, lest whoever polls again spins."""

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
    """The broker's error, or the client's own where `code` is below 0. `passes`: the client says that the same may succeed later."""

    def __init__(self, code: int, text: str, *, passes: bool = False) -> None:
        super().__init__(text)
        self.code, self.passes = code, passes


def refusal(error: Exception, told_by_broker: type[Exception]) -> Refused:
    """The client's exception as ours: by the broker's error, or by one that it carries as its cause."""
    passes: bool = error.retriable  # type: ignore[attr-defined]  # both libraries name it so, and the number, too
    for one in (error, error.__cause__, *error.args):
        if isinstance(one, told_by_broker):
            return Refused(one.errno, repr(error), passes=passes)  # type: ignore[attr-defined]
    return Refused(-1000, repr(error), passes=passes)


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

    _failing: tuple[float, Refused] | None = None
    """Since when every poll failed by an error that passes, and the last of them."""

    def poll(self, seconds: float) -> list[Seen]:
        """What came; nothing where the client failed by an error that passes. One that comes again and again does not: it is raised."""
        try:
            found = self.polled(seconds)
        except Refused as failure:
            now = time.monotonic()
            since = self._failing[0] if self._failing else now
            self._failing = since, failure
            if not failure.passes or now - since > PASSES_WITHIN:
                raise
            time.sleep(min(seconds, AGAIN))
            return []
        self._failing = None
        return found

    def polled(self, seconds: float) -> list[Seen]:
        """What the client's own poll gives."""
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
            assert left > 0, f"{len(found)} records of {count} after {within:g} s, {found[-1:]!r:.300} {self._failing}"
            found += self.poll(left)
        assert len(found) == count, f"{len(found)} records, not {count}"
        return found

    def joined(self, within: float = PATIENCE) -> set[Partition]:
        """Poll until something is assigned, and tell what."""
        end = time.monotonic() + within
        while not (mine := self.assignment()):
            assert time.monotonic() < end, f"nothing was assigned in {within:g} s {self._failing or ''}"
            self.early = [*self.early, *self.poll(1.0)]
        return mine


class Client(NamedTuple):
    """One client library: a name, and what makes its three parts from `bootstrap` and options."""

    name: str
    producer: Callable[..., Producer]
    consumer: Callable[..., Consumer]
    admin: Callable[..., Any]
