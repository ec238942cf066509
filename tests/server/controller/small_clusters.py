"""Images of small clusters in short notation: brokers by number, partitions by their replicas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.bootstrap import broker_record
from kafkadouble.server.metadata.features import ELR
from kafkadouble.server.metadata.image import EMPTY, TOPIC, Endpoint, Image, PartitionImage
from kafkadouble.server.metadata.replay import replay

DEFAULTS = Settings()

TWO_IN_SYNC = Settings({"min.insync.replicas": 2})


def directory(broker: int, number: int = 0) -> Uuid:
    return Uuid(bytes([200 + number, broker]) * 8)


def id_of(name: str) -> Uuid:
    return Uuid(name.encode().ljust(16, b"-"))


def epoch_of(broker: int) -> int:
    return 100 + broker


def cluster(
    *brokers: int,
    fenced: Sequence[int] = (),
    stopping: Sequence[int] = (),
    racks: dict[int, str] | None = None,
    directories: int = 1,
    level: int = 33,
    elr: int = 1,
) -> Image:
    """Brokers, each with so many log directories."""
    features = {"metadata.version": level, ELR: elr}
    records: list[Any] = [FeatureLevelRecord(name=name, feature_level=value) for name, value in features.items()]
    for broker in brokers:
        record = broker_record(
            broker,
            Uuid(bytes([broker]) * 16),
            [Endpoint("PLAINTEXT", f"h{broker}", 9092, 0)],
            epoch=epoch_of(broker),
            rack=(racks or {}).get(broker),
            log_dirs=[directory(broker, number) for number in range(directories)],
        )
        record.fenced = broker in fenced
        record.in_controlled_shutdown = broker in stopping
        records.append(record)
    return after(EMPTY, records)


def partition(
    replicas: Sequence[int],
    *,
    isr: Sequence[int] | None = None,
    leader: int | None = None,
    directories: Sequence[Uuid] | None = None,
    **others: Any,
) -> PartitionRecord:
    """A partition that its first in-sync replica leads unless `leader` is given; epochs begin at 5
    and 7.
    """
    in_sync = list(replicas if isr is None else isr)
    if leader is None:
        leader = in_sync[0] if in_sync else -1
    where = [directory(broker) for broker in replicas] if directories is None else directories
    fields = {"leader_epoch": 5, "partition_epoch": 7, **others}
    return PartitionRecord(replicas=list(replicas), isr=in_sync, leader=leader, directories=where, **fields)


def with_topic(image: Image, name: str, *partitions: PartitionRecord, **configs: str) -> Image:
    """The image with one more topic; in the names of configurations `_` is a dot."""
    records: list[Any] = [TopicRecord(name=name, topic_id=id_of(name))]
    for key, value in configs.items():
        record = ConfigRecord(resource_type=TOPIC, resource_name=name, name=key.replace("_", "."), value=value)
        records.append(record)
    for index, made in enumerate(partitions):
        made.topic_id, made.partition_id = id_of(name), index
        records.append(made)
    return after(image, records)


def after(image: Image, records: Iterable[Any]) -> Image:
    for record in records:
        image = replay(image, record)
    return image


def at(image: Image, name: str, index: int = 0) -> PartitionImage:
    return image.topics[id_of(name)].partitions[index]


def non_default_fields(record: Any) -> dict[str, Any]:
    """The fields of a record that differ from their defaults, but for its partition and broker."""
    fresh = type(record)()
    about = {"topic_id", "partition_id", "broker_id", "broker_epoch"}
    fields = {name: (_plain(getattr(record, name)), _plain(getattr(fresh, name))) for name in record.__slots__}
    return {name: value for name, (value, default) in fields.items() if value != default and name not in about}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
