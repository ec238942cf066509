"""The requests with which an administrator changes a topic that is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import raise_for
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.delete_records import DeleteRecordsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.configs.settings import as_text
from kafkadouble.server.metadata.image import TOPIC

SET, DELETE = 0, 1
TIMEOUT_MS = 30_000
TO_THE_END = -1


def to_create_partitions(topic: str, partitions: int) -> CreatePartitionsRequest:
    """`partitions` is how many there are then."""
    check(topic=topic, partitions=partitions)
    of = CreatePartitionsRequest.CreatePartitionsTopic(name=topic, count=partitions, assignments=None)
    return CreatePartitionsRequest(topics=[of], timeout_ms=TIMEOUT_MS)


def to_set_config(topic: str, config: Mapping[str, object]) -> IncrementalAlterConfigsRequest:
    """A setting whose value is None gets its default again."""
    check(topic=topic, config=config)
    of = IncrementalAlterConfigsRequest
    configs = [
        of.AlterableConfig(
            name=name,
            config_operation=DELETE if value is None else SET,
            value=None if value is None else as_text(value),
        )
        for name, value in config.items()
    ]
    resource = of.AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=configs)
    return of(resources=[resource])


def to_delete_records(topic: str, partition: int, before: int | None) -> DeleteRecordsRequest:
    """The request that deletes the records before this offset, or all."""
    check(topic=topic, partition=partition)
    check_given(before=before)
    of = DeleteRecordsRequest
    at = of.DeleteRecordsPartition(partition_index=partition, offset=TO_THE_END if before is None else before)
    return of(topics=[of.DeleteRecordsTopic(name=topic, partitions=[at])], timeout_ms=TIMEOUT_MS)


def checked(results: Iterable[Any]) -> None:
    """Raises KafkaError for the first result that is one."""
    for result in results:
        raise_for(result.error_code, result.error_message)
