"""The fold: an image and one metadata record make the next image.

Rules. One function a kind of record, in one table; a record that refers to what is not there is a broken log and raises `BrokenLog`. Kinds whose
meaning nobody here asks for yet (quotas, ACLs, credentials, tokens) are kept as they are, by key. The meaning of each is that of KIP-631 and
of the KIP that brought the kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from immutables import Map

from .image import TOPIC, BrokerImage, ControllerImage, Endpoint, Image, PartitionImage, TopicImage


class BrokenLog(Exception):
    """A metadata record that cannot follow those before it."""


NO_CHANGE, NO_LEADER = -2, -1
UNFENCE, FENCE = -1, 1


def replay(image: Image, record: Any) -> Image:
    """The image after `record`, a decoded metadata record."""
    fold = FOLDS.get(type(record).__name__)
    if fold is None:
        raise BrokenLog(f"no meaning is known for {record!r}")
    return fold(image, record)


def _endpoints(record: Any) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points)


def _features(record: Any) -> Map[str, tuple[int, int]]:
    return Map({f.name: (f.min_supported_version, f.max_supported_version) for f in record.features})


def _feature_level(image: Image, record: Any) -> Image:
    if record.feature_level == 0:
        return image._replace(features=_without(image.features, record.name))
    return image._replace(features=image.features.set(record.name, record.feature_level))


def _without(mapping: Map[Any, Any], key: Any) -> Map[Any, Any]:
    return mapping.delete(key) if key in mapping else mapping


def _register_broker(image: Image, record: Any) -> Image:
    broker = BrokerImage(
        record.broker_id,
        record.broker_epoch,
        record.incarnation_id,
        _endpoints(record),
        _features(record),
        record.rack,
        record.fenced,
        record.in_controlled_shutdown,
        tuple(record.log_dirs),
        tuple(record.cordoned_log_dirs or ()),
    )
    return image._replace(brokers=image.brokers.set(broker.id, broker))


def _change_broker(image: Image, broker_id: int, epoch: int, **changes: Any) -> Image:
    broker = image.brokers.get(broker_id)
    if broker is None or broker.epoch != epoch:
        raise BrokenLog(f"broker {broker_id} is not registered with epoch {epoch}")
    return image._replace(brokers=image.brokers.set(broker_id, broker._replace(**changes)))


def _broker_registration_change(image: Image, record: Any) -> Image:
    changes: dict[str, Any] = {}
    if record.fenced:
        changes["fenced"] = record.fenced == FENCE
    if record.in_controlled_shutdown:
        changes["in_controlled_shutdown"] = True
    if record.log_dirs:
        changes["log_dirs"] = tuple(record.log_dirs)
    if record.cordoned_log_dirs is not None:
        changes["cordoned_log_dirs"] = tuple(record.cordoned_log_dirs)
    return _change_broker(image, record.broker_id, record.broker_epoch, **changes)


def _fence_broker(image: Image, record: Any) -> Image:
    return _change_broker(image, record.id, record.epoch, fenced=True)


def _unfence_broker(image: Image, record: Any) -> Image:
    return _change_broker(image, record.id, record.epoch, fenced=False)


def _unregister_broker(image: Image, record: Any) -> Image:
    return image._replace(brokers=_without(image.brokers, record.broker_id))


def _register_controller(image: Image, record: Any) -> Image:
    controller = ControllerImage(record.controller_id, record.incarnation_id, _endpoints(record), _features(record))
    return image._replace(controllers=image.controllers.set(controller.id, controller))


def _unregister_controller(image: Image, record: Any) -> Image:
    return image._replace(controllers=_without(image.controllers, record.controller_id))


def _topic(image: Image, record: Any) -> Image:
    topic = TopicImage(record.name, record.topic_id, Map())
    return image._replace(topics=image.topics.set(topic.id, topic), topic_ids=image.topic_ids.set(topic.name, topic.id))


def _with_partition(image: Image, record: Any, partition: PartitionImage) -> Image:
    topic = _known_topic(image, record)
    topic = topic._replace(partitions=topic.partitions.set(record.partition_id, partition))
    return image._replace(topics=image.topics.set(topic.id, topic))


def _known_topic(image: Image, record: Any) -> TopicImage:
    topic = image.topics.get(record.topic_id)
    if topic is None:
        raise BrokenLog(f"{record!r} is about a topic that is not there")
    return topic


def _partition(image: Image, record: Any) -> Image:
    partition = PartitionImage(
        tuple(record.replicas),
        tuple(record.directories),
        tuple(record.isr),
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        tuple(record.adding_replicas),
        tuple(record.removing_replicas),
        record.leader_recovery_state,
        tuple(record.eligible_leader_replicas or ()),
        tuple(record.last_known_elr or ()),
    )
    return _with_partition(image, record, partition)


CHANGED_LISTS = {  # field of PartitionChangeRecord -> field of PartitionImage
    "isr": "isr",
    "replicas": "replicas",
    "removing_replicas": "removing_replicas",
    "adding_replicas": "adding_replicas",
    "directories": "directories",
    "eligible_leader_replicas": "elr",
    "last_known_elr": "last_known_elr",
}


def _partition_change(image: Image, record: Any) -> Image:
    """KIP-631: the partition epoch goes up with every change, the leader epoch with every record that names a leader."""
    partition = _known_topic(image, record).partitions.get(record.partition_id)
    if partition is None:
        raise BrokenLog(f"{record!r} is about a partition that is not there")
    changes: dict[str, Any] = {"partition_epoch": partition.partition_epoch + 1}
    for theirs, ours in CHANGED_LISTS.items():
        if (value := getattr(record, theirs)) is not None:
            changes[ours] = tuple(value)
    if record.leader != NO_CHANGE:
        changes |= {"leader": record.leader, "leader_epoch": partition.leader_epoch + 1}
    if record.leader_recovery_state >= 0:
        changes["leader_recovery_state"] = record.leader_recovery_state
    return _with_partition(image, record, partition._replace(**changes))


def _remove_topic(image: Image, record: Any) -> Image:
    topic = _known_topic(image, record)
    return image._replace(
        topics=image.topics.delete(topic.id),
        topic_ids=image.topic_ids.delete(topic.name),
        configs=_without(image.configs, (TOPIC, topic.name)),
    )


def _clear_elr(image: Image, record: Any) -> Image:
    """KIP-966: forget the eligible leader replicas of one topic, or of all when no name is given."""
    names = [record.topic_name] if record.topic_name else list(image.topic_ids)
    topics = image.topics
    for name in names:
        topic = topics[image.topic_ids[name]]
        partitions = Map({i: p._replace(elr=(), last_known_elr=()) for i, p in topic.partitions.items()})
        topics = topics.set(topic.id, topic._replace(partitions=partitions))
    return image._replace(topics=topics)


def _config(image: Image, record: Any) -> Image:
    resource = (record.resource_type, record.resource_name)
    values = image.configs.get(resource, Map())
    values = _without(values, record.name) if record.value is None else values.set(record.name, record.value)
    configs = image.configs.set(resource, values) if values else _without(image.configs, resource)
    return image._replace(configs=configs)


def _producer_ids(image: Image, record: Any) -> Image:
    return image._replace(next_producer_id=record.next_producer_id)


def _nothing(image: Image, record: Any) -> Image:
    return image


def _kept(kind: str, *fields: str) -> Callable[[Image, Any], Image]:
    """Keep the latest record of each key."""

    def fold(image: Image, record: Any) -> Image:
        key = (kind, *(_hashable(getattr(record, field)) for field in fields))
        return image._replace(rest=image.rest.set(key, record))

    return fold


def _dropped(kind: str, *fields: str) -> Callable[[Image, Any], Image]:
    def fold(image: Image, record: Any) -> Image:
        key = (kind, *(_hashable(getattr(record, field)) for field in fields))
        return image._replace(rest=_without(image.rest, key))

    return fold


def _hashable(value: Any) -> Any:
    return tuple((e.entity_type, e.entity_name) for e in value) if isinstance(value, list) else value


def _client_quota(image: Image, record: Any) -> Image:
    fold = _dropped if record.remove else _kept
    return fold("quota", "entity", "key")(image, record)


FOLDS: dict[str, Callable[[Image, Any], Image]] = {
    "FeatureLevelRecord": _feature_level,
    "RegisterBrokerRecord": _register_broker,
    "BrokerRegistrationChangeRecord": _broker_registration_change,
    "FenceBrokerRecord": _fence_broker,
    "UnfenceBrokerRecord": _unfence_broker,
    "UnregisterBrokerRecord": _unregister_broker,
    "RegisterControllerRecord": _register_controller,
    "UnregisterControllerRecord": _unregister_controller,
    "TopicRecord": _topic,
    "PartitionRecord": _partition,
    "PartitionChangeRecord": _partition_change,
    "RemoveTopicRecord": _remove_topic,
    "ClearElrRecord": _clear_elr,
    "ConfigRecord": _config,
    "ProducerIdsRecord": _producer_ids,
    "NoOpRecord": _nothing,
    "ZkMigrationRecord": _nothing,
    "ClientQuotaRecord": _client_quota,
    "AccessControlEntryRecord": _kept("acl", "id"),
    "RemoveAccessControlEntryRecord": _dropped("acl", "id"),
    "UserScramCredentialRecord": _kept("scram", "name", "mechanism"),
    "RemoveUserScramCredentialRecord": _dropped("scram", "name", "mechanism"),
    "DelegationTokenRecord": _kept("token", "token_id"),
    "RemoveDelegationTokenRecord": _dropped("token", "token_id"),
}
