"""Helpers of the tests: names, refusals, and group members that poll in a thread of
their own."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from interop.clients import CREATOR, Client
from interop.clients.shape import Consumer, Partition, Producer, Record, Refused, Seen
from interop.local import Missing
from kafkadouble.messages import error_codes
from tests.support.waiting import PATIENCE, eventually

SPREAD = range(6)
"""Partitions: enough for each of three brokers to lead some."""


def unique(stem: str) -> str:
    """A legal name of a topic that begins with the stem and is used only once."""
    return f"{re.sub('[^a-zA-Z0-9_-]', '-', stem)[:60]}-{os.urandom(4).hex()}"


def create_topic(
    bootstrap: str,
    name: str,
    partitions: int = 1,
    configs: Mapping[str, str] | None = None,
    replication: int = 1,
) -> list[Partition]:
    """Creates a topic; returns its partitions once a broker knows them."""
    with CREATOR.admin(bootstrap) as admin:
        admin.create_topic(name, partitions, configs, replication)
        eventually(admin.topics, lambda found: name in found)
    return [Partition(name, index) for index in range(partitions)]


def short_timeout(client: Client) -> dict[str, Any]:
    """The options of a client that waits a second for an answer."""
    name = "socket_timeout_ms" if client.name == "confluent-kafka" else "request_timeout_ms"
    return {name: 1000}


@contextmanager
def local_kafka(request: pytest.FixtureRequest) -> Iterator[None]:
    """For a block that needs Apache Kafka on this machine, or its tools. Skips the test if the run
    is not for such a Kafka (`--broker local`), and skips it with the name of what is missing, which
    is a failure with `--must`."""
    if "local" not in (request.config.getoption("broker") or []):
        pytest.skip("NOTHING WAS HELD AGAINST APACHE KAFKA: this is for a Kafka of this machine, --broker local")
    try:
        yield
    except Missing as reason:
        if request.config.getoption("must"):
            raise
        pytest.skip(f"NOTHING WAS HELD AGAINST APACHE KAFKA: {reason}")


@contextmanager
def refused(*names: str) -> Iterator[None]:
    """The block must end in one of these errors of Kafka, whatever exception the client raises for
    it."""
    with pytest.raises(Refused) as caught:
        yield
    code = caught.value.code
    found = error_codes.NAMES.get(code, str(code))
    assert found in names, f"refused with {found} ({caught.value}), not {' or '.join(names)}"


class Member:
    """A consumer in a thread that polls it until it is stopped, as an application does. Its records
    and its assignment can be read at any time."""

    def __init__(self, consumer: Consumer, *, poll: float = 0.3) -> None:
        self.consumer, self._poll = consumer, poll
        self.seen: list[Seen] = []
        self.assignment: frozenset[Partition] = frozenset()
        self.failure: BaseException | None = None
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._leaving.is_set():
                self.seen += self.consumer.poll(self._poll)
                self.assignment = frozenset(self.consumer.assignment())
        # Reported to the test, which runs on another thread.
        except BaseException as failure:
            self.failure = failure
        finally:
            self.consumer.close()

    def __enter__(self) -> Member:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.stop()

    def stop(self) -> None:
        """Leaves the group and ends the thread."""
        self._leaving.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "a member did not come back from its poll"
        if self.failure is not None:
            raise self.failure


def shared(members: Iterable[Member], every: Iterable[Partition], sizes: list[int], within: float = PATIENCE) -> None:
    """Waits until the members together have every partition once, in shares of these sizes."""
    members, expected = list(members), sorted(every)

    def shares() -> list[frozenset[Partition]]:
        for member in members:
            if member.failure:
                raise member.failure
        return [member.assignment for member in members]

    def is_whole(found: list[frozenset[Partition]]) -> bool:
        return sorted(one for share in found for one in share) == expected and sorted(map(len, found)) == sorted(sizes)

    eventually(shares, is_whole, within=within)


def read_once_over_a_rebalance(
    producer: Producer, member: Callable[[], Member], four: Sequence[Partition], within: float = PATIENCE
) -> None:
    """Asserts that no record is lost or read twice when a second member comes and goes."""

    def send(letter: bytes) -> None:
        producer.send(four[0].topic, [Record(b"%b%d" % (letter, n), partition=n % 4) for n in range(40)])

    with member() as first:
        send(b"a")
        eventually(lambda: len(first.seen), lambda found: found >= 40)
        with member() as second:
            shared([first, second], four, [2, 2], within)
            send(b"b")
            eventually(lambda: len(first.seen) + len(second.seen), lambda found: found >= 80)
        shared([first], four, [4], within)
        send(b"c")
        values = eventually(
            lambda: [seen.value or b"" for seen in (*first.seen, *second.seen)], lambda found: len(found) >= 120
        )
    assert sorted(values) == sorted(b"%c%d" % (letter, n) for letter in b"abc" for n in range(40))
