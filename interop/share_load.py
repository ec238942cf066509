"""A producer and the members of a share group that run while brokers are killed, and the promises
that they check.

Rules. The producer is idempotent and waits for all in-sync replicas; it is at most AHEAD records
ahead of the group. The members are librdkafka's share consumers with explicit acknowledgement. They
release some records at their first delivery, and accept all others. An acceptance is confirmed when
`commit_sync` has no error for its partition: the share coordinator has stored it then.

What must be true (`Ledger`): every record that the producer got acknowledged is accepted; none is
delivered, or accepted once more, after its acceptance was confirmed. If a broker is killed before
it confirms an acceptance, the share coordinator may have stored it or not: then the record may come
again, and the offsets of the group show at the end that it is finished.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import count, islice
from types import TracebackType
from typing import Any, NamedTuple

import confluent_kafka

from tests.support.waiting import eventually

from . import share_groups

ck: Any = confluent_kafka

AHEAD = 1000
"""Records that are sent and not accepted yet. They bound the time that the group needs at the
end."""
AT_ONCE = 50
"""Records that are sent at once."""
RELEASED = 7
"""Every record whose offset can be divided by this number is released once."""
PATIENCE = 120
"""Seconds."""
SETTINGS = {
    "share_auto_offset_reset": "earliest",
    # The shortest time that brokers allow by default, and the most deliveries.
    "share_record_lock_duration_ms": "15000",
    "share_delivery_count_limit": "10",
}


class Place(NamedTuple):
    """A partition, and an offset in it."""

    partition: int
    offset: int


class Ledger:
    """What happened to the records, by their places. `wrong` has a line for each broken promise."""

    def __init__(self, partitions: int) -> None:
        self.produced: dict[Place, bytes] = {}
        self.accepted: dict[Place, int] = {}
        """The member that accepted it, and got that confirmed."""
        self.unconfirmed: set[Place] = set()
        """What was accepted, and neither confirmed nor delivered again."""
        self.deliveries = 0
        self.newest_produced = [-1] * partitions
        self.newest_accepted = [-1] * partitions
        """The greatest offset of each partition."""
        self.accepted_by: dict[int, int] = {}
        """The number of records that each member has accepted."""
        self.wrong: list[str] = []

    def on_produced(self, place: Place, value: bytes) -> None:
        self.produced[place] = value
        self.newest_produced[place.partition] = max(self.newest_produced[place.partition], place.offset)

    def on_delivered(self, place: Place, value: bytes, member: int) -> None:
        self.deliveries += 1
        self.unconfirmed.discard(place)
        if place in self.accepted:
            self.wrong.append(f"{place} came to member {member} after member {self.accepted[place]} had accepted it")
        if self.produced.get(place, value) != value:
            self.wrong.append(f"{place} came as {value!r}, and was produced as {self.produced[place]!r}")

    def on_accepted(self, place: Place, member: int) -> None:
        """The broker has confirmed it."""
        if place in self.accepted:
            self.wrong.append(f"{place} was accepted by members {self.accepted[place]} and {member}")
        self.accepted[place] = member
        self.accepted_by[member] = self.accepted_by.get(member, 0) + 1
        self.newest_accepted[place.partition] = max(self.newest_accepted[place.partition], place.offset)

    def on_unconfirmed(self, place: Place) -> None:
        """The member got an error for its acceptance."""
        self.unconfirmed.add(place)

    @property
    def outstanding(self) -> int:
        """The number of records that are not accepted."""
        return len(self.produced) - len(self.accepted) - len(self.unconfirmed)

    def faults(self) -> list[str]:
        """The broken promises, once the group has had time to accept everything."""
        lost = sorted(self.produced.keys() - self.accepted.keys() - self.unconfirmed)
        return [*self.wrong, *([f"not accepted: {lost[:20]}"] if lost else [])]


class ShareLoad:
    """Runs from `with` to its end, which waits until everything is accepted."""

    def __init__(self, bootstrap: str, topic: str, group: str, *, partitions: int, members: int) -> None:
        self._bootstrap, self.topic, self.group, self._partitions = bootstrap, topic, group, partitions
        self.ledger = Ledger(partitions)
        self.complaints: list[str] = []
        """The errors that the members got and went on after."""
        self._failures: list[BaseException | str] = []
        self._changed = threading.Condition()
        self._writing_ends, self._reading_ends = threading.Event(), threading.Event()
        self._writer = self._thread(self._write)
        self._readers = [self._thread(self._read, number) for number in range(members)]

    def __enter__(self) -> ShareLoad:
        share_groups.configure(self._bootstrap, self.group, **SETTINGS)
        for thread in (*self._readers, self._writer):
            thread.start()
        self.goes_on()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._writing_ends.set()
        with self._changed:
            self._changed.notify_all()
        self._writer.join(PATIENCE)
        try:
            if error is None:
                self._await(lambda: [self.ledger.outstanding] if self.ledger.outstanding > 0 else [])
        finally:
            self._reading_ends.set()
            for thread in self._readers:
                thread.join(PATIENCE)
        if error is None:
            assert not any(thread.is_alive() for thread in (self._writer, *self._readers))
            self._check(self._failures, self.ledger.faults())

    def goes_on(self) -> None:
        """Waits until each partition has records that were produced and accepted after the call,
        and each member has accepted some."""
        with self._changed:
            newest = self.ledger.newest_produced[:]
            counts = {number: self.ledger.accepted_by.get(number, 0) for number in range(len(self._readers))}

        def behind() -> Sequence[object]:
            newest_accepted = self.ledger.newest_accepted
            partitions = [f"partition {at}" for at, offset in enumerate(newest) if newest_accepted[at] <= offset]
            taken = self.ledger.accepted_by
            return partitions + [f"member {at}" for at, count in counts.items() if taken.get(at, 0) <= count]

        self._await(behind)

    def _await(self, behind: Any) -> None:
        """Waits until nothing is behind."""

        def look() -> Sequence[object]:
            with self._changed:
                return self._failures or self.ledger.wrong or behind()

        try:
            eventually(lambda: self._failures or self.ledger.wrong or not look(), bool, within=PATIENCE)
        except AssertionError:
            raise AssertionError(f"behind after {PATIENCE} s: {look()}, {self.complaints[-5:]}") from None
        self._check(self._failures, self.ledger.wrong)

    def _check(self, *broken: Sequence[object]) -> None:
        assert not any(broken), f"{broken}; errors that members got: {self.complaints[-10:]}"

    def later_member(self) -> Any:
        """Another member of the group, which accepts what it gets."""
        return self._member()

    def _member(self, **settings: str) -> Any:
        consumer = ck.ShareConsumer(self._client(**settings, **{"group.id": self.group}))
        consumer.subscribe([self.topic])
        return consumer

    def _thread(self, work: Any, *arguments: Any) -> threading.Thread:
        def run() -> None:
            try:
                work(*arguments)
            # Reported to the test, which runs on another thread.
            except BaseException as failure:
                self._failures.append(failure)

        return threading.Thread(target=run, daemon=True)

    def _write(self) -> None:
        more = {"enable.idempotence": True, "acks": "all", "delivery.timeout.ms": PATIENCE * 1000, "linger.ms": 1}
        producer, numbers = ck.Producer(self._client(**more)), count()
        while not self._writing_ends.is_set():
            for number in islice(numbers, AT_ONCE):
                partition = number % self._partitions
                producer.produce(self.topic, b"%d" % number, partition=partition, on_delivery=self._on_delivery)
            if producer.flush(PATIENCE):
                raise AssertionError("not all was sent in time")
            with self._changed:
                self._changed.wait_for(lambda: self._writing_ends.is_set() or self.ledger.outstanding < AHEAD)

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is not None:
            self._failures.append(str(error))
            return
        with self._changed:
            self.ledger.on_produced(Place(message.partition(), message.offset()), message.value())

    def _read(self, member: int) -> None:
        with self._member(**{"share.acknowledgement.mode": "explicit"}) as consumer:
            while not self._reading_ends.is_set():
                self._commit(consumer, member, self._poll(consumer, member))

    def _poll(self, consumer: Any, member: int) -> list[Place]:
        """Accepts or releases what it gets; returns what it accepted."""
        accepted = []
        for message in consumer.poll(0.5):
            if message.error() is not None:
                self.complaints.append(f"member {member}: {message.error()}")
                continue
            place = Place(message.partition(), message.offset())
            with self._changed:
                self.ledger.on_delivered(place, message.value(), member)
            if message.delivery_count() == 1 and place.offset % RELEASED == 0:
                consumer.acknowledge(message, ck.AcknowledgeType.RELEASE)
            else:
                consumer.acknowledge(message, ck.AcknowledgeType.ACCEPT)
                accepted.append(place)
        return accepted

    def _commit(self, consumer: Any, member: int, accepted: Sequence[Place]) -> None:
        errors = {each.partition: error for each, error in consumer.commit_sync(PATIENCE).items()}
        self.complaints += [f"member {member}: {at}: {error}" for at, error in errors.items() if error is not None]
        with self._changed:
            for place in accepted:
                if place.partition in errors and errors[place.partition] is None:
                    self.ledger.on_accepted(place, member)
                else:
                    self.ledger.on_unconfirmed(place)
            self._changed.notify_all()

    def _client(self, **more: Any) -> dict[str, Any]:
        return {"bootstrap.servers": self._bootstrap, "log_level": 0, "error_cb": lambda error: None} | more
