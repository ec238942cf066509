"""Creates topics and records in a broker without a client: builds the requests that a client would
send, and reads their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError, UsageError, raise_for
from kafkadouble.common.missing_names import no_partition
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.configs.settings import as_text
from kafkadouble.server.metadata.image import TopicImage
from kafkadouble.wire.batch import Headers, Record, encode_batch
from kafkadouble.wire.plain_values import scalar_fault
from kafkadouble.wire.wording import AllowedValues, ShownValue

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

Text = str | bytes | None
TEXT_OR_BYTES = AllowedValues("bytes, a text or None")
HeadersLike = Mapping[str, Text] | Iterable[tuple[str, Text]]

ALL_IN_SYNC, TIMEOUT_MS = -1, 30_000


def to_create(name: str, partitions: int, config: Mapping[str, object], replicas: int = -1) -> CreateTopicsRequest:
    """The request for a topic with this number of partitions, each with `replicas` replicas; -1 for
    the value of `default.replication.factor`."""
    check(topic=name, partitions=partitions, config=config, replication_factor=replicas)
    configs = [
        CreateTopicsRequest.CreatableTopicConfig(name=key, value=as_text(value)) for key, value in config.items()
    ]
    topic = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replicas, configs=configs
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def to_delete(name: str) -> DeleteTopicsRequest:
    """The request that deletes a topic."""
    check(topic=name)
    return DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name=name)], timeout_ms=TIMEOUT_MS)


def append(broker: ClusterApi, topic: str, choose: Callable[[int], int], batch: bytes | bytearray) -> Future[Any]:
    """Appends a batch and returns a future of the Produce response. Call it on the loop's thread.

    `choose` gets the number of partitions and returns an index. A missing topic is created if the
    broker creates topics automatically, as for a client that requests its metadata.
    """
    found = topic_to_append(broker, topic)
    index = choose(len(found.partitions))
    check(partition=index)
    if index not in found.partitions:
        raise no_partition(broker.image, topic, index)
    data = ProduceRequest.PartitionProduceData(index=index, records=batch)
    part = ProduceRequest.TopicProduceData(name=topic, topic_id=found.id, partition_data=[data])
    leading = broker.leading(topic, index)
    at = None if leading is None else leading[0]
    return broker.ask(ProduceRequest(acks=ALL_IN_SYNC, timeout_ms=TIMEOUT_MS, topic_data=[part]), at)


def topic_to_append(broker: ClusterApi, topic: str) -> TopicImage:
    """The topic, which is created if the broker creates topics automatically."""
    check(topic=topic)
    return broker.image.topic_named(topic) or _created(broker, topic)


def _created(broker: ClusterApi, topic: str) -> TopicImage:
    requested = MetadataRequest.MetadataRequestTopic(name=topic)
    answer = broker.ask(MetadataRequest(topics=[requested], allow_auto_topic_creation=True)).result(timeout=0)
    image = broker.image.topic_named(topic)
    if image is None:
        raise KafkaError(answer.topics[0].error_code or error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    return image


def batch_of(value: Text, key: bytes | None, headers: HeadersLike, timestamp: int) -> bytearray:
    """Encodes one record as a batch."""
    check(timestamp=timestamp)
    return encode_batch([Record(0, timestamp, key, as_bytes(value), as_headers(headers))])


def as_bytes(value: Text) -> bytes | None:
    """Bytes unchanged, a text as UTF-8."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        if fault := scalar_fault(value):
            raise UsageError(fault)
        return value.encode()
    raise UsageError("a key or a value is {allowed}, not {value}", allowed=TEXT_OR_BYTES, value=ShownValue(value))


def as_headers(headers: HeadersLike) -> Headers:
    """Headers in the form of a record."""
    try:
        pairs = headers.items() if isinstance(headers, Mapping) else [*map(header_pair, headers)]
    except TypeError:
        problem = "headers are pairs of a name and a value, not {headers}"
        raise UsageError(problem, headers=ShownValue(headers)) from None
    made = tuple((name, as_bytes(value)) for name, value in pairs)
    if wrong := [name for name, _ in made if not isinstance(name, str)]:
        raise UsageError("the name of a header is a text, not {name}", name=ShownValue(wrong[0]))
    return made


def header_pair(header: Any) -> tuple[Any, Any]:
    """Name and value of a header in one of the forms that libraries have: a pair, an object with
    `key` and `value`, or an object with the name as its only key. Raises UsageError for others.
    """
    if isinstance(header, Mapping):
        if header.keys() == {"key", "value"}:
            return header["key"], header["value"]
        if len(header) == 1:
            return next(iter(header.items()))
    elif isinstance(header, list | tuple) and len(header) == 2:
        return header[0], header[1]
    problem = "a header is a pair of a name and a value, or an object with key and value, not {header}"
    raise UsageError(problem, header=ShownValue(header))


def check_topics(topics: Iterable[Any]) -> None:
    """Raises KafkaError for the first topic of a response that has an error."""
    for topic in topics:
        raise_for(topic.error_code, getattr(topic, "error_message", None))


def appended_at(response: Any) -> int:
    """The offset of the produced record. Raises KafkaError when it was refused."""
    outcome = response.responses[0].partition_responses[0]
    raise_for(outcome.error_code, outcome.error_message)
    return int(outcome.base_offset)
