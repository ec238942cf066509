"""Replays the records about the cluster: features, brokers, controllers, configurations, producer
ids (KIP-584, KIP-631, KIP-919).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .broken_log import BrokenLog
from .image import BrokerImage, ControllerImage, Endpoint, Image, without
from .persistent_map import PersistentMap

UNFENCE, FENCE = -1, 1
"""The values of `fenced` in BrokerRegistrationChangeRecord; 0 means no change."""

CONTROLLED_SHUTDOWN = 1


def endpoints_of(record: Any) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points)


def features_of(record: Any) -> PersistentMap[str, tuple[int, int]]:
    return PersistentMap({f.name: (f.min_supported_version, f.max_supported_version) for f in record.features})


def feature_level(image: Image, record: Any) -> Image:
    if record.feature_level == 0:
        return image._replace(features=without(image.features, record.name))
    return image._replace(features=image.features.set(record.name, record.feature_level))


def register_broker(image: Image, record: Any) -> Image:
    broker = BrokerImage(
        record.broker_id,
        record.broker_epoch,
        record.incarnation_id,
        endpoints_of(record),
        features_of(record),
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


def broker_registration_change(image: Image, record: Any) -> Image:
    changes: dict[str, Any] = {}
    if record.fenced:
        changes["fenced"] = record.fenced == FENCE
    if record.in_controlled_shutdown == CONTROLLED_SHUTDOWN:
        changes["in_controlled_shutdown"] = True
    if record.log_dirs:
        changes["log_dirs"] = tuple(record.log_dirs)
    if record.cordoned_log_dirs is not None:
        changes["cordoned_log_dirs"] = tuple(record.cordoned_log_dirs)
    return _change_broker(image, record.broker_id, record.broker_epoch, **changes)


def fence_broker(image: Image, record: Any) -> Image:
    return _change_broker(image, record.id, record.epoch, fenced=True)


def unfence_broker(image: Image, record: Any) -> Image:
    return _change_broker(image, record.id, record.epoch, fenced=False)


def unregister_broker(image: Image, record: Any) -> Image:
    broker = image.brokers.get(record.broker_id)
    if broker is None or broker.epoch != record.broker_epoch:
        raise BrokenLog(f"broker {record.broker_id} is not registered with epoch {record.broker_epoch}")
    return image._replace(brokers=image.brokers.delete(record.broker_id))


def register_controller(image: Image, record: Any) -> Image:
    controller = ControllerImage(record.controller_id, record.incarnation_id, endpoints_of(record), features_of(record))
    return image._replace(controllers=image.controllers.set(controller.id, controller))


def unregister_controller(image: Image, record: Any) -> Image:
    return image._replace(controllers=without(image.controllers, record.controller_id))


def config(image: Image, record: Any) -> Image:
    resource = (record.resource_type, record.resource_name)
    values = image.configs.get(resource, PersistentMap())
    values = without(values, record.name) if record.value is None else values.set(record.name, record.value)
    configs = image.configs.set(resource, values) if values else without(image.configs, resource)
    return image._replace(configs=configs)


def producer_ids(image: Image, record: Any) -> Image:
    return image._replace(next_producer_id=record.next_producer_id)


REPLAYS: dict[str, Callable[[Image, Any], Image]] = {
    "FeatureLevelRecord": feature_level,
    "RegisterBrokerRecord": register_broker,
    "BrokerRegistrationChangeRecord": broker_registration_change,
    "FenceBrokerRecord": fence_broker,
    "UnfenceBrokerRecord": unfence_broker,
    "UnregisterBrokerRecord": unregister_broker,
    "RegisterControllerRecord": register_controller,
    "UnregisterControllerRecord": unregister_controller,
    "ConfigRecord": config,
    "ProducerIdsRecord": producer_ids,
}
