"""The common shape of all clients: a few verbs in Kafka's words, so that one test runs with every
client.

Rules. The shapes add no behaviour: no retries, and no waiting beyond what the client itself does.
The one exception is a consumer's poll, since the libraries differ in how they report a broker that
is down. There an error that the client calls retriable counts as an empty poll, and the next poll
tries again. A client that cannot do something lacks the method. Options of producers and consumers
are Kafka's names with `_` for `.`. An error that the broker answered is raised as Refused with
Kafka's code.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator
from inspect import isfunction
from typing import Any, NamedTuple, TypeVar

PATIENCE = 60.0
"""Seconds that any call may take."""

PASSES_WITHIN = 90.0
"""Seconds for which polls may fail with retriable errors: as long as a JVM may take to restart on a
busy machine."""

AGAIN = 0.1
"""Seconds that a poll with such an error takes, so that a caller that polls again does not spin."""

CONSUMER: dict[str, Any] = {"auto_offset_reset": "earliest", "enable_auto_commit": False, "heartbeat_interval_ms": 100}
"""Options of every consumer unless the test gives others. The short heartbeat makes the consumer
notice a rebalance at once."""

C = TypeVar("C")
Headers = Sequence[tuple[str, bytes | None]]


class Partition(NamedTuple):
    topic: str
    partition: int


class Record(NamedTuple):
    """A record to write. `timestamp` is ms since the epoch, None for the client's time."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None
    partition: int | None = 0


class Seen(NamedTuple):
    """A record that a consumer returned. `timestamp_type`: 0 for create time, 1 for append time."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    timestamp: int
    timestamp_type: int


def seen(record: Any) -> Seen:
    """A record of kafka-python or aiokafka."""
    values = {name: getattr(record, name) for name in Seen._fields}
    return Seen(**{**values, "headers": list(record.headers)})


class Refused(Exception):
    """The broker's error, or the client's own if `code` is below 0. `passes`: the client calls the
    error retriable."""

    def __init__(self, code: int, text: str, *, passes: bool = False) -> None:
        super().__init__(text)
        self.code, self.passes = code, passes


def refusal(error: Exception, broker_error: type[Exception]) -> Refused:
    """The client's exception as Refused, with the broker's error, or with the one that the
    exception has as its cause."""
    passes: bool = error.retriable  # type: ignore[attr-defined]  # both libraries name it so, and the number, too
    for one in (error, error.__cause__, *error.args):
        if isinstance(one, broker_error):
            return Refused(one.errno, repr(error), passes=passes)  # type: ignore[attr-defined]
    return Refused(-1000, repr(error), passes=passes)


def methods_in(block: Callable[[], ContextDecorator]) -> Callable[[type[C]], type[C]]:
    """Decorates a class, whose methods then run in such a block."""

    def decorated(kind: type[C]) -> type[C]:
        for name, method in vars(kind).copy().items():
            if isfunction(method) and not name.startswith("__"):
                setattr(kind, name, block()(method))
        return kind

    return decorated


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
        """Sends the records; returns their offsets when all of them are acknowledged."""
        raise NotImplementedError


class TransactionalProducer(Producer):
    """A producer with a `transactional_id`. It is initialized when it is made, aiokafka's by its
    first `begin`. An error that ends it because of a newer epoch is PRODUCER_FENCED, whatever the
    library calls it."""

    def begin(self) -> None:
        raise NotImplementedError

    def enqueue(self, topic: str, records: Sequence[Record]) -> None:
        """Sends the records, and does not wait until they are acknowledged."""
        raise NotImplementedError

    def send_offsets(self, offsets: Mapping[Partition, int], consumer: Any) -> None:
        """Commits offsets of the consumer's group with the transaction. The consumer is one of the
        same library."""
        raise NotImplementedError

    def commit_transaction(self) -> None:
        raise NotImplementedError

    def abort_transaction(self) -> None:
        raise NotImplementedError


class Consumer(Closing):
    """Reads records. With `topics` it subscribes, with `partitions` it assigns itself."""

    early: Sequence[Seen] = ()
    """Records that arrived while the consumer only waited for its assignment; `read` begins with
    them."""

    _failing: tuple[float, Refused] | None = None
    """The time since which every poll has failed with a retriable error, and the last of these
    errors."""

    def poll(self, seconds: float) -> list[Seen]:
        """The records of a poll; none if the client failed with a retriable error. An error that
        comes again and again is raised."""
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
        """The result of the client's own poll."""
        raise NotImplementedError

    def assignment(self) -> set[Partition]:
        raise NotImplementedError

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None = None) -> None:
        """Commits these offsets and their metadata, or the positions if none are given, and waits
        until that is done."""
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
        """The log start offset and the end offset."""
        raise NotImplementedError

    def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        """The first offset whose record has this timestamp or a later one."""
        raise NotImplementedError

    def read(self, count: int, within: float = PATIENCE) -> list[Seen]:
        """Reads this number of records; fails if they do not come, or if more come with them."""
        found, self.early = list(self.early), ()
        end = time.monotonic() + within
        while len(found) < count:
            left = end - time.monotonic()
            assert left > 0, f"{len(found)} records of {count} after {within:g} s, {found[-1:]!r:.300} {self._failing}"
            found += self.poll(left)
        assert len(found) == count, f"{len(found)} records, not {count}"
        return found

    def joined(self, within: float = PATIENCE) -> set[Partition]:
        """Polls until something is assigned, and returns the assignment."""
        end = time.monotonic() + within
        while not (mine := self.assignment()):
            assert time.monotonic() < end, f"nothing was assigned in {within:g} s {self._failing or ''}"
            self.early = [*self.early, *self.poll(1.0)]
        return mine


class Client(NamedTuple):
    """One client library: its name, and what makes its parts from `bootstrap` and options."""

    name: str
    producer: Callable[..., Producer]
    consumer: Callable[..., Consumer]
    admin: Callable[..., Any]
    transactional: Callable[..., TransactionalProducer]
