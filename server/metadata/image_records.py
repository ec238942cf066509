"""Writes an image as the records that produce it, as in a snapshot (KIP-630, KIP-631).

In Kafka's order: features, `metadata.version` first; brokers and controllers; topics, each with its
partitions; configurations; quotas; producer ids; ACLs, credentials, tokens. Kafka's order of some
records is the order of a hash map; these records are sorted by name or number. Each record has the
version that Kafka 4.4 writes at the image's `metadata.version`; what that version cannot express is
reported as a loss, and never dropped silently. Records are created on demand: a large snapshot is
written in slices, from an image that does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from kafkadouble.messages import framed
from kafkadouble.messages.generated.access_control_entry_record import AccessControlEntryRecord
from kafkadouble.messages.generated.client_quota_record import ClientQuotaRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.delegation_token_record import DelegationTokenRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.producer_ids_record import ProducerIdsRecord
from kafkadouble.messages.generated.register_broker_record import RegisterBrokerRecord
from kafkadouble.messages.generated.register_controller_record import RegisterControllerRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.generated.user_scram_credential_record import UserScramCredentialRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from .features import METADATA_VERSION
from .image import BrokerImage, ControllerImage, Image, PartitionImage
from .record_versions import (
    CONTROLLERS,
    SCRAM,
    TOKENS,
    level_of,
    record_version,
    records_at_level,
    supports_all_fields,
    unsupported_fields,
)

LOSS_NAMES = {
    "log_dirs": "the log directories",
    "cordoned_log_dirs": "the cordoned log directories",
    "directories": "the directories",
    "eligible_leader_replicas": "the eligible leader replicas",
    "last_known_elr": "the former eligible leader replicas",
}
"""Fields that a `metadata.version` may not have, as a loss names them."""

NO_BROKER = -1
"""The image does not keep which broker got producer ids."""

Versioned = tuple[Message, int]
"""A record, and the version to write it in."""

LossHandler = Callable[[str], None]


class UnwritableMetadata(Exception):
    """The image holds something that records of its `metadata.version` cannot express."""


def raise_on_loss(what: str) -> None:
    """Handles a loss as an error."""
    raise UnwritableMetadata(what)


def records_of(image: Image, loss: LossHandler = raise_on_loss) -> Iterator[Versioned]:
    """The records that produce `image`, except for its end. `loss` is called with what cannot be
    written; it may raise.
    """
    level = level_of(image)
    return chain(
        _features(image),
        (_broker(broker, level, loss) for _, broker in sorted(image.brokers.items())),
        _controllers(image, level, loss),
        _topics(image, level, loss),
        _configs(image),
        _quotas(image),
        _producer_ids(image),
        _acls(image),
        _since(SCRAM, level, _credentials(image), loss),
        _since(TOKENS, level, _tokens(image), loss),
    )


def encoded_records_of(image: Image, loss: LossHandler = raise_on_loss) -> Iterator[bytes]:
    """`records_of`, encoded as record values of a log."""
    return (framed.encode_record(record, version) for record, version in records_of(image, loss))


def _features(image: Image) -> Iterator[Versioned]:
    for name, level in sorted(image.features.items(), key=lambda each: (each[0] != METADATA_VERSION, each[0])):
        yield FeatureLevelRecord(name=name, feature_level=level), 0


def _broker(broker: BrokerImage, level: int, loss: LossHandler) -> Versioned:
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
        log_dirs=broker.log_dirs,
        cordoned_log_dirs=broker.cordoned_log_dirs,
    )
    return _versioned(record, level, f"broker {broker.id}", loss)


def _controllers(image: Image, level: int, loss: LossHandler) -> Iterator[Versioned]:
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


def _topics(image: Image, level: int, loss: LossHandler) -> Iterator[Versioned]:
    """There may be many partitions: where the version has all fields, they are not checked one by
    one.
    """
    whole = supports_all_fields(PartitionRecord, level)
    version = record_version(PartitionRecord(), level)
    for name, topic_id in sorted(image.topic_ids.items()):
        yield TopicRecord(name=name, topic_id=topic_id), 0
        for index, partition in image.topics[topic_id].in_order():
            record = _partition(topic_id, index, partition)
            yield (record, version) if whole else _versioned(record, level, f"{name}-{index}", loss)


def _partition(topic_id: Uuid, index: int, partition: PartitionImage) -> PartitionRecord:
    """Created without the constructor, which would cost as much as everything else."""
    record = PartitionRecord.__new__(PartitionRecord)
    record.partition_id, record.topic_id, record.unknown_tagged_fields = index, topic_id, None
    (
        record.replicas,
        record.directories,
        record.isr,
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        record.adding_replicas,
        record.removing_replicas,
        record.leader_recovery_state,
        elr,
        last_known_elr,
    ) = partition
    record.eligible_leader_replicas, record.last_known_elr = elr or None, last_known_elr or None
    return record


def _configs(image: Image) -> Iterator[Versioned]:
    for (kind, name), values in sorted(image.configs.items(), key=lambda each: each[0]):
        for key, value in sorted(values.items()):
            yield ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value), 0


def _producer_ids(image: Image) -> Iterator[Versioned]:
    if image.next_producer_id:
        record = ProducerIdsRecord(broker_id=NO_BROKER, broker_epoch=NO_BROKER, next_producer_id=image.next_producer_id)
        yield record, 0


def _quotas(image: Image) -> Iterator[Versioned]:
    of = ClientQuotaRecord
    for entity, values in sorted(image.quotas.items(), key=lambda each: repr(each[0])):
        parts = [of.EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        for key, value in sorted(values.items()):
            yield of(entity=parts, key=key, value=value), 0


def _acls(image: Image) -> Iterator[Versioned]:
    for id, acl in sorted(image.acls.items(), key=lambda each: bytes(each[0])):
        yield AccessControlEntryRecord(id=id, **acl._asdict()), 0


def _credentials(image: Image) -> Iterator[Versioned]:
    for (name, mechanism), credential in sorted(image.scram.items(), key=lambda each: each[0]):
        yield UserScramCredentialRecord(name=name, mechanism=mechanism, **credential._asdict()), 0


def _tokens(image: Image) -> Iterator[Versioned]:
    for token_id, token in sorted(image.tokens.items()):
        yield DelegationTokenRecord(token_id=token_id, **token._asdict()), 0


def _since(first: int, level: int, records: Iterator[Versioned], loss: LossHandler) -> Iterator[Versioned]:
    """Records that exist from the metadata.version `first` on."""
    for record, version in records:
        if level >= first:
            yield record, version
        else:
            loss(repr(record))


def _versioned(record: Message, level: int, owner: str, loss: LossHandler) -> Versioned:
    """The record without fields that the metadata.version does not have."""
    for field in unsupported_fields(record, level):
        loss(f"{LOSS_NAMES[field]} of {owner}")
    return records_at_level([record], level)[0], record_version(record, level)
