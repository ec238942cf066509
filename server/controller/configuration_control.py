"""AlterConfigs and IncrementalAlterConfigs: checks the resource and turns the result of
`configs.alter` into records.

A resource that appears twice in a request is INVALID_REQUEST: each time at a broker, once at a
controller. A broker alters its own configurations or, under the empty name, those of all brokers; a
controller alters those of any registered node. A change of min.insync.replicas clears the eligible
leader replicas of the topics concerned (KIP-966). Logger levels are not in the log: see
`broker_loggers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest
from kafkadouble.messages.generated.clear_elr_record import ClearElrRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.message import Message

from ..configs.alter import (
    MIN_ISR,
    TABLES,
    AlterConfigOp,
    Resource,
    Target,
    altered,
    look_at_all,
    look_at_changes,
    replaced,
)
from ..configs.definition import ConfigRefused
from ..configs.layers import Layers
from ..configs.settings import Settings
from ..metadata.features import ELR
from ..metadata.image import Image
from ..metadata.topic_names import problem_with_name
from ..requests.request import Refusal
from ..requests.slices import counted
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from .controller_result import ControllerResult, check_size

Records = dict[str, str | None]
"""Configurations to write, by name; None deletes one."""


AlterConfigsResource = AlterConfigsRequest.AlterConfigsResource
IncrementalResource = IncrementalAlterConfigsRequest.AlterConfigsResource


class ConfigResource(Protocol):
    """A resource of AlterConfigs or IncrementalAlterConfigs."""

    resource_type: int
    resource_name: str
    configs: Sequence[Any]


A = TypeVar("A", bound=ConfigResource)
J = TypeVar("J")


class ConfigResourceResult(NamedTuple):
    """The result for one resource."""

    resource_type: int
    resource_name: str
    error_code: int = error_codes.NONE
    error_message: str | None = None


def alter_configs(
    image: Image,
    settings: Settings,
    resources: Sequence[A],
    alter: Callable[[Target, A], Records],
    loggers: Callable[[A], None] | None = None,
    *,
    at_controller: bool = False,
    reload_problem: Callable[[Layers], str] | None = None,
) -> Wait[ControllerResult[ConfigResourceResult]]:
    """Handles AlterConfigs and IncrementalAlterConfigs, in slices: `alter` is
    `legacy_alter_config` or `incremental_alter_config`.

    `loggers` changes the levels of the broker's loggers, or raises Refusal; without it they cannot
    be altered. `at_controller`: a controller received the request, not a broker. `reload_problem`:
    see `Target`.
    """
    check_size(sum(len(resource.configs) for resource in resources))
    times = yield from counted((resource.resource_type, resource.resource_name) for resource in resources)
    records: list[Message] = []
    results, slices = [], Slices()
    for resource in _without_duplicates(resources) if at_controller else resources:
        kind, name = resource.resource_type, resource.resource_name
        twice = times[kind, name] > 1
        try:
            if twice and not at_controller:
                raise Refusal(error_codes.INVALID_REQUEST, "Each resource must appear at most once.")
            if kind == Resource.BROKER_LOGGER and loggers is not None:
                loggers(resource)
            else:
                _check_resource_type(kind, at_controller=at_controller)
                if twice:
                    raise Refusal(error_codes.INVALID_REQUEST, "Duplicate resource.")
                target = _target(image, settings, resource, at_controller=at_controller, reload_problem=reload_problem)
                records += _resource_records(image, target, resource, alter)
        except Refusal as refusal:
            results.append(ConfigResourceResult(kind, name, refusal.code, refusal.message))
        else:
            results.append(ConfigResourceResult(kind, name))
        if slices.end(1 + len(resource.configs)):
            yield OTHERS_FIRST
    return ControllerResult(records, results).checked()


def preprocess(
    image: Image,
    settings: Settings,
    resources: Sequence[A],
    check: Callable[[Target, A], None],
    loggers: Callable[[A], None] | None = None,
    *,
    reload_problem: Callable[[Layers], str] | None = None,
    may_alter_cluster: Callable[[], bool] = lambda: True,
) -> Wait[tuple[list[ConfigResourceResult], list[A]]]:
    """The broker's part of `alter_configs` (Kafka's ConfigAdminManager.preprocess): the results of
    the resources that the broker decides itself, and the resources to forward to the controller.

    `check` is `preprocess_legacy_alter` or `preprocess_incremental_alter`; `may_alter_cluster`
    answers whether the client may alter what belongs to a broker. Only the controller checks
    whether a topic exists and whether it may have its new configuration.
    """
    times = yield from counted((resource.resource_type, resource.resource_name) for resource in resources)
    done, left, slices = [], [], Slices()
    for resource in resources:
        if slices.end(1 + len(resource.configs)):
            yield OTHERS_FIRST
        kind, name = resource.resource_type, resource.resource_name
        try:
            if times[kind, name] > 1:
                raise Refusal(error_codes.INVALID_REQUEST, "Each resource must appear at most once.")
            if kind in (Resource.BROKER, Resource.BROKER_LOGGER) and not may_alter_cluster():
                raise Refusal(error_codes.CLUSTER_AUTHORIZATION_FAILED)
            if kind != Resource.BROKER_LOGGER or loggers is None:
                _preprocess_resource(image, settings, resource, check, reload_problem)
                left.append(resource)
                continue
            loggers(resource)
        except Refusal as refusal:
            done.append(ConfigResourceResult(kind, name, refusal.code, refusal.message))
        else:
            done.append(ConfigResourceResult(kind, name))
    return done, left


def _preprocess_resource(
    image: Image,
    settings: Settings,
    resource: A,
    check: Callable[[Target, A], None],
    reload_problem: Callable[[Layers], str] | None,
) -> None:
    name, kind = resource.resource_name, resource.resource_type
    _check_resource_type(kind, at_controller=False)
    if kind == Resource.BROKER:
        _check_own_broker(settings, name)
    current = image.config_overrides(kind, name)
    target = Target(Resource(kind), name, current, settings, _elr_enabled(image), reload_problem=reload_problem)
    _refusing_bad_configs(lambda: check(target, resource))


def legacy_alter_config(target: Target, resource: AlterConfigsResource) -> Records:
    """AlterConfigs: exactly the given configurations are set."""
    return replaced(target, _replacement(target, resource))


def preprocess_legacy_alter(target: Target, resource: AlterConfigsResource) -> None:
    """The broker's part of `legacy_alter_config`."""
    look_at_all(target, _replacement(target, resource))


def _replacement(target: Target, resource: AlterConfigsResource) -> Records:
    configs = {config.name: config.value for config in resource.configs}
    if len(configs) < len(resource.configs) and not target.at_controller:
        raise Refusal(error_codes.INVALID_REQUEST, "Error due to duplicate config keys")
    return configs


def incremental_alter_config(target: Target, resource: IncrementalResource) -> Records:
    """IncrementalAlterConfigs: sets or deletes configurations, or appends to and subtracts from
    lists.
    """
    return altered(target, _increments(resource))


def preprocess_incremental_alter(target: Target, resource: IncrementalResource) -> None:
    """The broker's part of `incremental_alter_config`."""
    look_at_changes(target, _increments(resource))


def _increments(resource: IncrementalResource) -> list[AlterConfigOp]:
    return [AlterConfigOp(config.name, config.config_operation, config.value) for config in resource.configs]


def checked_topic_configs(image: Image, settings: Settings, name: str, configs: Mapping[str, str]) -> Records:
    """The configurations of a new topic. Refusal(INVALID_CONFIG)."""
    target = Target(Resource.TOPIC, name, {}, settings, _elr_enabled(image))
    return _refusing_bad_configs(lambda: replaced(target, configs))


def config_records(image: Image, kind: int, name: str, configs: Records) -> list[Message]:
    """The records that write `configs` of one resource."""
    records: list[Message] = [
        ConfigRecord(resource_type=kind, resource_name=name, name=config, value=value)
        for config, value in configs.items()
    ]
    if MIN_ISR in configs and kind in (Resource.TOPIC, Resource.BROKER) and _elr_enabled(image):
        records.append(ClearElrRecord(topic_name=name if kind == Resource.TOPIC else ""))
    return records


def _without_duplicates(resources: Sequence[A]) -> list[A]:
    """The resources without repetitions of a configurable one: the first counts."""
    seen: set[tuple[int, str]] = set()
    found = []
    for resource in resources:
        key = resource.resource_type, resource.resource_name
        if key not in seen or key[0] not in TABLES:
            seen.add(key)
            found.append(resource)
    return found


def _target(
    image: Image,
    settings: Settings,
    resource: ConfigResource,
    *,
    at_controller: bool = False,
    reload_problem: Callable[[Layers], str] | None,
) -> Target:
    """The altered resource. Raises Refusal for a resource that cannot be altered."""
    name, kind = resource.resource_name, Resource(resource.resource_type)
    if kind is Resource.BROKER and not at_controller:
        _check_own_broker(settings, name)
    elif kind is Resource.TOPIC and name and (problem := problem_with_name(name)) is not None:
        raise Refusal(error_codes.INVALID_TOPIC_EXCEPTION, problem)
    current = image.config_overrides(kind, name)
    return Target(kind, name, current, settings, _elr_enabled(image), at_controller, reload_problem)


def _resource_records(
    image: Image, target: Target, resource: A, alter: Callable[[Target, A], Records]
) -> list[Message]:
    name, kind, at_controller = target.name, target.kind, target.at_controller
    configs = _refusing_bad_configs(lambda: alter(target, resource))
    if kind is Resource.TOPIC and name not in image.topic_ids:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if kind is Resource.BROKER and name and at_controller and int(name) not in {*image.brokers, *image.controllers}:
        raise Refusal(error_codes.BROKER_ID_NOT_REGISTERED, f"No node with id {int(name)} found.")
    return config_records(image, kind, name, configs)


def _check_resource_type(number: int, *, at_controller: bool) -> None:
    if number in TABLES:
        return
    if not at_controller:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unknown resource type {number}")
    if number == Resource.BROKER_LOGGER:
        raise Refusal(error_codes.INVALID_REQUEST, "Unexpected resource type BROKER_LOGGER.")
    raise Refusal(error_codes.UNSUPPORTED_VERSION, f"Unknown resource type {number}.")


def _check_own_broker(settings: Settings, name: str) -> None:
    own = settings.int("node.id")
    if name and name.lstrip("+-").isdecimal() and int(name) != own:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unexpected broker id, expected {own}, but received {name}")


def _elr_enabled(image: Image) -> bool:
    return image.features.get(ELR, 0) > 0


def _refusing_bad_configs(action: Callable[[], J]) -> J:
    try:
        return action()
    except ConfigRefused as refused:
        code: int = getattr(error_codes, refused.error)
        raise Refusal(code, str(refused)) from None
