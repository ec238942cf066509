"""aiokafka in the common shape. Its coroutines run on one loop in a thread of its own, so that its
heartbeats continue between our calls."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource
from aiokafka.errors import BrokerResponseError, KafkaError, ProducerFenced, for_code

from kafkadouble.messages import error_codes

from . import shape
from .shape import Client, Closing, Partition, Record, Refused, Seen

T = TypeVar("T")


_making = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    """The loop that all clients share. Several threads may create clients at once."""
    with _making:
        return _made_loop()


@cache
def _made_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="aiokafka").start()
    return loop


def run(work: Coroutine[Any, Any, T], within: float = shape.PATIENCE) -> T:
    """The result of the coroutine. Raises Refused for a Kafka error."""
    with translated_errors():
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, within), _loop()).result()


@contextmanager
def translated_errors() -> Iterator[None]:
    try:
        yield
    except ProducerFenced as error:
        raise Refused(error_codes.PRODUCER_FENCED, repr(error)) from error
    except KafkaError as error:
        raise shape.refusal(error, BrokerResponseError) from error


async def _made(kind: Any, *words: Any, **options: Any) -> Any:
    made = kind(*words, **options)
    try:
        await made.start()
    except BaseException:
        await (made.stop if hasattr(made, "stop") else made.close)()
        raise
    return made


class Producer(shape.Producer):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        if options.get("compression_type") == "none":
            options["compression_type"] = None
        if "batch_size" in options:
            options["max_batch_size"] = options.pop("batch_size")
        self._it = run(_made(AIOKafkaProducer, bootstrap_servers=bootstrap, **options))

    def send(self, topic: str, records: Sequence[Record]) -> list[int]:
        return run(self._send(topic, records))

    async def _send(self, topic: str, records: Sequence[Record]) -> list[int]:
        sent = [
            await self._it.send(topic, r.value, r.key, r.partition, r.timestamp, headers=list(r.headers))
            for r in records
        ]
        # None if no broker acknowledges it
        return [one.offset if one else -1 for one in await asyncio.gather(*sent)]

    def close(self) -> None:
        run(self._it.stop())


class TransactionalProducer(Producer, shape.TransactionalProducer):
    def begin(self) -> None:
        run(self._it.begin_transaction())

    def enqueue(self, topic: str, records: Sequence[Record]) -> None:
        run(self._enqueue(topic, records))

    async def _enqueue(self, topic: str, records: Sequence[Record]) -> None:
        for r in records:
            await self._it.send(topic, r.value, r.key, r.partition, r.timestamp, headers=list(r.headers))

    def send_offsets(self, offsets: Mapping[Partition, int], consumer: Any) -> None:
        given = {TopicPartition(*tp): offset for tp, offset in offsets.items()}
        run(self._it.send_offsets_to_transaction(given, consumer.group_id))

    def commit_transaction(self) -> None:
        run(self._it.commit_transaction())

    def abort_transaction(self) -> None:
        run(self._it.abort_transaction())


class Consumer(shape.Consumer):
    def __init__(
        self, bootstrap: str, topics: Sequence[str] = (), partitions: Sequence[Partition] = (), **options: Any
    ) -> None:
        self.group_id = options.get("group_id")
        self._it = run(_made(AIOKafkaConsumer, *topics, bootstrap_servers=bootstrap, **shape.CONSUMER | options))
        if partitions:
            _loop().call_soon_threadsafe(self._it.assign, [TopicPartition(*one) for one in partitions])

    def polled(self, seconds: float) -> list[Seen]:
        found = run(self._it.getmany(timeout_ms=int(seconds * 1000)), seconds + shape.PATIENCE)
        return [shape.seen(record) for records in found.values() for record in records]

    def assignment(self) -> set[Partition]:
        return {Partition(*one) for one in self._it.assignment()}

    def commit(self, offsets: Mapping[Partition, tuple[int, str]] | None = None) -> None:
        run(self._it.commit(offsets and {TopicPartition(*tp): one for tp, one in offsets.items()}))

    def committed(self, partition: Partition) -> tuple[int, str] | None:
        """The committed offset. This consumer does not return its metadata, which the admin can
        read."""
        offset = run(self._it.committed(TopicPartition(*partition)))
        return None if offset is None else (offset, "")

    def position(self, partition: Partition) -> int:
        return int(run(self._it.position(TopicPartition(*partition))))

    def seek(self, partition: Partition, offset: int) -> None:
        _loop().call_soon_threadsafe(self._it.seek, TopicPartition(*partition), offset)

    def seek_to_beginning(self, partition: Partition) -> None:
        run(self._it.seek_to_beginning(TopicPartition(*partition)))

    def seek_to_end(self, partition: Partition) -> None:
        run(self._it.seek_to_end(TopicPartition(*partition)))

    def bounds(self, partition: Partition) -> tuple[int, int]:
        tp = TopicPartition(*partition)
        return run(self._it.beginning_offsets([tp]))[tp], run(self._it.end_offsets([tp]))[tp]

    def offset_at(self, partition: Partition, timestamp: int) -> int | None:
        tp = TopicPartition(*partition)
        found = run(self._it.offsets_for_times({tp: timestamp}))[tp]
        return None if found is None else int(found.offset)

    def close(self) -> None:
        # Of a fetch that the client had sent to a broker that is down.
        with suppress(CancelledError):
            run(self._it.stop())


class Admin(Closing):
    def __init__(self, bootstrap: str, **options: Any) -> None:
        self._it = run(_made(AIOKafkaAdminClient, bootstrap_servers=bootstrap, **options))

    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None, replication: int = 1
    ) -> None:
        new_topic = NewTopic(name, partitions, replication, topic_configs=dict(configs or {}))
        for _, code, text in run(self._it.create_topics([new_topic])).topic_errors:
            _check(code, text)

    def delete_topic(self, name: str) -> None:
        for _, code in run(self._it.delete_topics([name])).topic_error_codes:
            _check(code)

    def topics(self) -> list[str]:
        return run(self._it.list_topics())

    def partitions_of(self, topic: str) -> list[int]:
        return [one["partition"] for one in run(self._it.describe_topics([topic]))[0]["partitions"]]

    def create_partitions(self, topic: str, total: int) -> None:
        run(self._it.create_partitions({topic: NewPartitions(total)}))

    def configs(self, kind: str, name: str) -> dict[str, str | None]:
        (answer,) = run(self._it.describe_configs([ConfigResource(kind, name)]))
        (resource,) = answer.resources
        _check(*resource[:2])
        return {entry[0]: entry[1] for entry in resource[4]}

    def replace_configs(self, kind: str, name: str, configs: Mapping[str, str]) -> None:
        """Replaces all configs of the topic: a config that is not named falls back to its
        default."""
        for answer in run(self._it.alter_configs([ConfigResource(kind, name, dict(configs))])):
            for code, text, *_ in answer.resources:
                _check(code, text)

    def cluster(self) -> tuple[str, int, list[str]]:
        """The id, the controller, and HOST:PORT of the brokers."""
        found = run(self._it.describe_cluster())
        brokers = [f"{one['host']}:{one['port']}" for one in found["brokers"]]
        return found["cluster_id"], found["controller_id"], brokers

    def groups(self) -> list[str]:
        return [one[0] for one in run(self._it.list_consumer_groups())]

    def group(self, group: str) -> tuple[str, int]:
        """The state in lower case, and how many members it has."""
        (answer,) = run(self._it.describe_consumer_groups([group]))
        code, _, state, _, _, members, *_ = answer.groups[0]
        _check(code)
        return state.lower(), len(members)

    def group_offsets(self, group: str) -> dict[Partition, int]:
        found = run(self._it.list_consumer_group_offsets(group))
        return {Partition(*tp): one.offset for tp, one in found.items()}

    def delete_records(self, partition: Partition, before: int) -> int:
        """Deletes the records before an offset; returns the new log start offset."""
        tp = TopicPartition(*partition)
        return int(run(self._it.delete_records({tp: RecordsToDelete(before)}))[tp])

    def close(self) -> None:
        run(self._it.close())


def _check(code: int, text: str | None = None) -> None:
    if code:
        raise Refused(code, text or for_code(code).__name__)


CLIENT = Client("aiokafka", Producer, Consumer, Admin, TransactionalProducer)
