"""A real Kafka with the methods of KafkaDouble that any Kafka can do. Everything else skips the
test, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pytest

from kafkadouble import KafkaDouble, group_lag, groups, records, seeding
from kafkadouble.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.message import Message
from kafkadouble.partitioner import partition_for
from kafkadouble.pipeline.client import EARLIEST, LATEST, ApiError, Client, ClientError, NoSuchTopic, TopicPartition
from kafkadouble.pipeline.client.connection import BrokerConnection
from kafkadouble.record_filter import RecordFilter
from kafkadouble.records import READ_UNCOMMITTED
from kafkadouble.wire.batch_walk import iter_batches

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.groups import Group
    from kafkadouble.literals import GroupStateName, IsolationLevel
    from kafkadouble.record_filter import RecordNarrowing
    from kafkadouble.records import ReadRecord
    from kafkadouble.seeding import HeadersLike

T = TypeVar("T")

NAMES_UP_TO = {ApiKeys.OFFSET_FETCH: 9}
"""Later versions have the ids of topics instead of their names."""

ANSWERS_MS = 10_000
"""How long a Kafka may take to answer for the first time."""

LOOK_S = 0.02
"""How often a wait looks again: a real Kafka does not say when something changes."""


class ExternalKafka:
    """`target` is the value of --kafka-broker. `is_own`: nothing else uses it, so that everything
    in it may be deleted after a test."""

    def __init__(self, target: str, bootstrap_servers: str, *, is_own: bool) -> None:
        self.bootstrap_servers, self._target, self._is_own = bootstrap_servers, target, is_own
        self._client = Client({"bootstrap.servers": bootstrap_servers, "client.id": "kafkadouble"})
        self._turns, self._created = count(), set[str]()

    def check_answers(self) -> None:
        """Raises pytest.UsageError if no Kafka answers at its address. Otherwise each call of each
        test would wait for one."""
        limits = {"default.api.timeout.ms": ANSWERS_MS, "request.timeout.ms": ANSWERS_MS}
        try:
            with closing(Client({"bootstrap.servers": self.bootstrap_servers, **limits})) as client:
                client.topics()
        except ClientError as problem:
            raise pytest.UsageError(
                f"--kafka-broker={self._target}: no Kafka answers at {self.bootstrap_servers}: {problem}"
            ) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(KafkaDouble, name):
            raise AttributeError(name)
        pytest.skip(f"{name}: only a double has that, and this run is for --kafka-broker={self._target}")

    @property
    def port(self) -> int:
        """The port of the first broker."""
        return int(self.bootstrap_servers.split(",")[0].rpartition(":")[2])

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        replication_factor: int | None = None,
    ) -> None:
        """As KafkaDouble.create_topic."""
        replicas = -1 if replication_factor is None else replication_factor
        seeding.check_topics(self._ask(seeding.to_create(name, partitions, config or {}, replicas)).topics)
        self._created.add(name)
        self._client.forget([name])
        self._client.partitions(name)

    def delete_topic(self, name: str) -> None:
        """As KafkaDouble.delete_topic."""
        seeding.check_topics(self._ask(seeding.to_delete(name)).responses)
        self._client.forget([name])

    def produce(
        self,
        topic: str,
        value: str | bytes | None = None,
        key: str | bytes | None = None,
        headers: HeadersLike = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> int:
        """As KafkaDouble.produce."""
        key_bytes = seeding.as_bytes(key)
        at = time.time_ns() // 1_000_000 if timestamp is None else timestamp
        batch = seeding.batch_of(value, key_bytes, headers, at)
        # A topic that was there before is not deleted after the test.
        if topic not in self._client.topics(internal=True):
            self._created.add(topic)
        try:
            partitions = self._client.partitions(topic, create=True)
            index = self._choose(key_bytes, len(partitions)) if partition is None else partition
            with self._client.producer() as producer:
                return producer.send({TopicPartition(topic, index): [batch]})[TopicPartition(topic, index)]
        except NoSuchTopic as problem:
            raise KafkaError(error_codes.UNKNOWN_TOPIC_OR_PARTITION, str(problem)) from None
        except ApiError as problem:
            raise KafkaError(problem.code, str(problem)) from None

    def _choose(self, key: bytes | None, partitions: int) -> int:
        return next(self._turns) % partitions if key is None else partition_for(key, partitions)

    def records(
        self,
        topic: str,
        partition: int | None = None,
        isolation: IsolationLevel = READ_UNCOMMITTED,
        **narrowing: Unpack[RecordNarrowing],
    ) -> list[ReadRecord]:
        """As KafkaDouble.records."""
        records.check_isolation(isolation)
        record_filter = RecordFilter.checked(topic, narrowing)
        try:
            indexes = self._client.partitions(topic) if partition is None else [partition]
            places = [TopicPartition(topic, index) for index in indexes]
            starts = self._client.offsets(dict.fromkeys(places, EARLIEST))
            ends = self._client.offsets(dict.fromkeys(places, LATEST), isolation)
        except NoSuchTopic as problem:
            raise KafkaError(error_codes.UNKNOWN_TOPIC_OR_PARTITION, str(problem)) from None
        found = ((at, starts[at], ends[at]) for at in places)
        return [
            record
            for at, start, end in found
            if start is not None and end is not None
            for record in self._read(at, start.offset, end.offset, isolation)
            if record_filter.accepts(record)
        ]

    def _read(self, at: TopicPartition, start: int, end: int, isolation: str) -> Iterator[ReadRecord]:
        for fetched in self._client.read(at, start, end, isolation=isolation):
            whole = sum(header.size for _, header in iter_batches(fetched.buffer, partial=True))
            batches = [bytes(fetched.buffer[:whole])]
            taken = records.Bytes(at.topic, at.partition, start, end, batches, list(fetched.aborted))
            yield from (record for record in records.read(taken) if record.offset < end)

    def groups(self) -> dict[str, Group]:
        """As KafkaDouble.groups."""
        self._client.topics()  # learns all brokers
        found: dict[str, Group] = {}
        for endpoint in list(self._client._network.metadata.cluster.brokers.values()):
            patience = self._client._network.patience("groups")
            with self._client._network.links.lent(endpoint, patience.left()) as connection:
                found |= groups.groups(partial(_ask, connection), self._bounds)
        return found

    def _bounds(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        """The first and the last offsets of partitions. Those of deleted topics are left out."""
        leaders = self._client.leaders(TopicPartition(*each) for each in partitions)
        starts, ends = (self._client.offsets(dict.fromkeys(leaders, when)) for when in (EARLIEST, LATEST))
        found = ((at, starts[at], ends[at]) for at in leaders)
        return {
            (at.topic, at.partition): (start.offset, end.offset)
            for at, start, end in found
            if start is not None and end is not None
        }

    def wait_for_records(
        self,
        topic: str,
        count: int = 1,
        *,
        partition: int | None = None,
        isolation: IsolationLevel = READ_UNCOMMITTED,
        where: Callable[[ReadRecord], bool] | None = None,
        timeout: float = 10,
        advance: bool = False,
        **narrowing: Unpack[RecordNarrowing],
    ) -> list[ReadRecord]:
        """As KafkaDouble.wait_for_records."""
        _refuse(advance=advance)

        def look() -> list[ReadRecord]:
            with suppress(KafkaError):
                found = self.records(topic, partition, isolation, **narrowing)
                return [record for record in found if where is None or where(record)]
            return []

        return self._until(look, lambda found: len(found) >= count, f"{count} records of {topic}", timeout)

    def wait_for_group(
        self,
        group: str,
        state: GroupStateName | None = None,
        *,
        members: int | None = None,
        lag: int | None = None,
        ready: bool = False,
        timeout: float = 10,
        advance: bool = False,
    ) -> Group:
        """As KafkaDouble.wait_for_group."""
        _refuse(ready=ready, advance=advance)

        def holds(found: Group | None) -> bool:
            if found is None or state not in (None, found.state) or members not in (None, len(found.members)):
                return False
            return lag is None or group_lag.is_caught_up(found, lag)

        def show(found: Group | None) -> str:
            return "no such group" if found is None else group_lag.in_words(found)

        found = self._until(lambda: self.groups().get(group), holds, f"the group {group}", timeout, show)
        assert found is not None
        return found

    def _until(
        self,
        look: Callable[[], T],
        holds: Callable[[T], bool],
        what: str,
        timeout: float,
        show: Callable[[T], str] = repr,
    ) -> T:
        end = time.monotonic() + timeout
        while not holds(found := look()):
            if time.monotonic() >= end:
                raise TimeoutError(f"{what}: not within {timeout:g} s. There is: {show(found)}")
            time.sleep(LOOK_S)
        return found

    def clean(self) -> None:
        """Deletes the topics that a test created, and in an own Kafka every group and topic."""
        names = self._client.topics() if self._is_own else sorted(self._created)
        for name in names:
            with suppress(KafkaError):
                self.delete_topic(name)
        self._created.clear()
        if self._is_own and (ids := [id for id, group in self.groups().items() if not group.members]):
            self._ask(DeleteGroupsRequest(groups_names=ids))

    def _ask(self, body: Message) -> Any:
        network = self._client._network
        return network.metadata.call_any_broker(network.patience(type(body).__name__), partial(_ask_of, body))

    def __enter__(self) -> Self:
        self.check_answers()
        return self

    def __exit__(self, *exc: object) -> None:
        self._client.close()

    def __repr__(self) -> str:
        return f"<Kafka at {self.bootstrap_servers}, by --kafka-broker={self._target}>"


def _ask(connection: BrokerConnection, body: Message) -> Any:
    if body.api_key is None:
        raise UsageError(f"{type(body).__name__} is no request")
    highest = NAMES_UP_TO.get(ApiKeys(body.api_key), 1 << 15)
    return connection.ask(body, connection.version(body.api_key, highest=highest))


def _ask_of(body: Message, connection: BrokerConnection) -> Any:
    return _ask(connection, body)


def _refuse(**given: bool) -> None:
    """Skips a test that uses what no client of a real Kafka can see or do."""
    for name, value in given.items():
        if value:
            pytest.skip(f"{name}=True needs a double: a real Kafka shows no fetches, and its clock runs")
