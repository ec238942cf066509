"""An image as the records that make it, from nothing: what a snapshot holds (KIP-630, KIP-631).

Rules. In Kafka's order: features, `metadata.version` first; brokers and controllers; topics, each with its partitions; configurations; quotas;
producer ids; ACLs, credentials, tokens. What Kafka leaves to its hash maps is by name or number here. Each record has the version that Kafka
4.4 writes at the image's `metadata.version`; what the image holds and that version cannot carry is told, and never dropped in silence. Records
are made when they are asked for: a snapshot of many is written in slices, from an image that does not change meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from kafkadouble.messages import framed
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.producer_ids_record import ProducerIdsRecord
from kafkadouble.messages.generated.register_broker_record import RegisterBrokerRecord
from kafkadouble.messages.generated.register_controller_record import RegisterControllerRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from .image import BrokerImage, ControllerImage, Image, PartitionImage
from .release import METADATA_VERSION, NAMES

NEWEST = max(NAMES)
SCRAM, TOKENS, CONTROLLERS, DIRECTORIES, ELR, CORDONED = 11, 14, 15, 17, 23, 30
"""The levels of `metadata.version` from which there are credentials (KIP-900), delegation tokens, registrations of controllers (KIP-919), log
directories (KIP-858), eligible leader replicas (KIP-966), cordoned directories (KIP-1066)."""

NOBODY = -1
"""Who was given producer ids is not kept."""

Versioned = tuple[Message, int]
"""A record, and the version to write it in."""

Loss = Callable[[str], None]


class Unwritable(Exception):
    """An image holds what records of its own `metadata.version` cannot carry."""


def refuse(what: str) -> None:
    """A loss is an error."""
    raise Unwritable(what)


def level_of(image: Image) -> int:
    """The image's `metadata.version`; one without is written as of today, so that nothing is lost."""
    return image.features.get(METADATA_VERSION, NEWEST)


def records_of(image: Image, loss: Loss = refuse) -> Iterator[Versioned]:
    """The records whose fold is `image` (but for its end). `loss` is called with what cannot be written; it may raise."""
    level = level_of(image)
    kept = _kept(image)
    return chain(
        _features(image),
        (_broker(broker, level, loss) for _, broker in sorted(image.brokers.items())),
        _controllers(image, level, loss),
        _topics(image, level, loss),
        _configs(image),
        kept("quota"),
        _producer_ids(image),
        kept("acl"),
        _since(SCRAM, level, kept("scram"), loss),
        _since(TOKENS, level, kept("token"), loss),
    )


def values_of(image: Image, loss: Loss = refuse) -> Iterator[bytes]:
    """`records_of`, as the values of records in a log."""
    return (framed.encode_record(record, version) for record, version in records_of(image, loss))


def _features(image: Image) -> Iterator[Versioned]:
    for name, level in sorted(image.features.items(), key=lambda each: (each[0] != METADATA_VERSION, each[0])):
        yield FeatureLevelRecord(name=name, feature_level=level), 0


def _broker(broker: BrokerImage, level: int, loss: Loss) -> Versioned:
    of = RegisterBrokerRecord
    record = of(
        broker_id=broker.id,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=_endpoints(of.BrokerEndpoint, broker),
        features=_supported(of.BrokerFeature, broker.features),
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
    )
    if level >= DIRECTORIES:
        record.log_dirs = broker.log_dirs
    elif broker.log_dirs:
        loss(f"the log directories of broker {broker.id}")
    if level >= CORDONED:
        record.cordoned_log_dirs = broker.cordoned_log_dirs
    elif broker.cordoned_log_dirs:
        loss(f"the cordoned log directories of broker {broker.id}")
    return record, _version(level, {CORDONED: 4, DIRECTORIES: 3, 8: 2, 0: 1})


def _controllers(image: Image, level: int, loss: Loss) -> Iterator[Versioned]:
    registered = ((_controller(controller), 0) for _, controller in sorted(image.controllers.items()))
    return _since(CONTROLLERS, level, registered, loss)


def _controller(controller: ControllerImage) -> Message:
    of = RegisterControllerRecord
    return of(
        controller_id=controller.id,
        incarnation_id=controller.incarnation_id,
        end_points=_endpoints(of.ControllerEndpoint, controller),
        features=_supported(of.ControllerFeature, controller.features),
    )


def _endpoints(of: Any, node: BrokerImage | ControllerImage) -> list[Any]:
    return [of(**endpoint._asdict()) for endpoint in node.endpoints]


def _supported(of: Any, features: Mapping[str, tuple[int, int]]) -> list[Any]:
    return [
        of(name=name, min_supported_version=low, max_supported_version=high)
        for name, (low, high) in sorted(features.items())
    ]


def _topics(image: Image, level: int, loss: Loss) -> Iterator[Versioned]:
    for name, topic_id in sorted(image.topic_ids.items()):
        yield TopicRecord(name=name, topic_id=topic_id), 0
        for index, partition in image.topics[topic_id].in_order():
            yield _partition(f"{name}-{index}", topic_id, index, partition, level, loss)


def _partition(name: str, topic_id: Uuid, index: int, partition: PartitionImage, level: int, loss: Loss) -> Versioned:
    record = PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing_replicas,
        adding_replicas=partition.adding_replicas,
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
    )
    if level >= DIRECTORIES:
        record.directories = partition.directories
    elif any(directory != Uuid.ZERO for directory in partition.directories):
        loss(f"the directories of {name}")
    if level >= ELR:
        record.eligible_leader_replicas = partition.elr or None
        record.last_known_elr = partition.last_known_elr or None
    elif partition.elr or partition.last_known_elr:
        loss(f"the eligible leader replicas of {name}")
    return record, _version(level, {ELR: 2, DIRECTORIES: 1, 0: 0})


def _configs(image: Image) -> Iterator[Versioned]:
    for (kind, name), values in sorted(image.configs.items(), key=lambda each: each[0]):
        for key, value in sorted(values.items()):
            yield ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value), 0


def _producer_ids(image: Image) -> Iterator[Versioned]:
    if image.next_producer_id:
        record = ProducerIdsRecord(broker_id=NOBODY, broker_epoch=NOBODY, next_producer_id=image.next_producer_id)
        yield record, 0


def _kept(image: Image) -> Callable[[str], Iterator[Versioned]]:
    """The records that are kept as they are, by kind. All of their kinds have one version."""

    def of(kind: str) -> Iterator[Versioned]:
        found = sorted((key for key in image.rest if key[0] == kind), key=repr)
        return ((image.rest[key], 0) for key in found)

    return of


def _since(first: int, level: int, records: Iterator[Versioned], loss: Loss) -> Iterator[Versioned]:
    """Records that there are from the level `first` on."""
    for record, version in records:
        if level >= first:
            yield record, version
        else:
            loss(repr(record))


def _version(level: int, versions: Mapping[int, int]) -> int:
    """By the first of these levels that is not above `level`; the highest stands first."""
    return next(version for since, version in versions.items() if level >= since)
