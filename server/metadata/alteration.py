"""Altering configurations as a decision: which resource, whether it is there, and the records that `configs.alter` asks for.

A resource that stands twice in a request is INVALID_REQUEST, each time. A broker's configurations are altered by that broker, or, under the
empty name, for all of them. A change of min.insync.replicas forgets the eligible leader replicas of the topics concerned (KIP-966). The levels
of loggers are no configurations of the log: see `broker_loggers.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_configs import AlterConfigsRequest
from kafkadouble.messages.generated.clear_elr_record import ClearElrRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.message import Message

from ..configs.alter import MIN_ISR, TABLES, Change, Operation, Resource, Target, altered, replaced
from ..configs.definition import ConfigRefused
from ..request import Refusal
from ..settings import Settings
from .decision import Decision, check_size
from .features import ELR
from .image import Image
from .topic_names import problem_with_name

Records = dict[str, str | None]
"""Configurations to write, by name; None deletes."""


AlterConfigsResource = AlterConfigsRequest.AlterConfigsResource
IncrementalResource = IncrementalAlterConfigsRequest.AlterConfigsResource


class Asked(Protocol):
    """A resource of AlterConfigs or IncrementalAlterConfigs."""

    resource_type: int
    resource_name: str
    configs: Sequence[Any]


A = TypeVar("A", bound=Asked)


class Altered(NamedTuple):
    """What became of one resource."""

    resource_type: int
    resource_name: str
    error_code: int = error_codes.NONE
    error_message: str | None = None


def alter(
    image: Image,
    settings: Settings,
    asked: Sequence[A],
    judge: Callable[[Target, A], Records],
    loggers: Callable[[A], None] | None = None,
) -> Decision[Altered]:
    """What AlterConfigs and IncrementalAlterConfigs do: `judge` is `replace` or `increment`.

    `loggers` changes the levels of the loggers of a broker, or raises Refusal; without it they cannot be altered.
    """
    check_size(sum(len(resource.configs) for resource in asked))
    times = Counter((resource.resource_type, resource.resource_name) for resource in asked)
    records: list[Message] = []
    results = []
    for resource in asked:
        kind, name = resource.resource_type, resource.resource_name
        try:
            if times[kind, name] > 1:
                raise Refusal(error_codes.INVALID_REQUEST, "Each resource must appear at most once.")
            if kind == Resource.BROKER_LOGGER and loggers is not None:
                loggers(resource)
            else:
                records += _altered(image, settings, resource, judge)
        except Refusal as refusal:
            results.append(Altered(kind, name, refusal.code, refusal.message))
        else:
            results.append(Altered(kind, name))
    return Decision(records, results).checked()


def replace(target: Target, resource: AlterConfigsResource) -> Records:
    """AlterConfigs: the configurations given, and no others."""
    configs = {config.name: config.value for config in resource.configs}
    if len(configs) < len(resource.configs):
        raise Refusal(error_codes.INVALID_REQUEST, "Error due to duplicate config keys")
    return replaced(target, configs)


def increment(target: Target, resource: IncrementalResource) -> Records:
    """IncrementalAlterConfigs: the configurations given are set, deleted, or lists that gain or lose elements."""
    return altered(target, [Change(config.name, config.config_operation, config.value) for config in resource.configs])


def judged_new_topic(image: Image, settings: Settings, name: str, configs: Mapping[str, str]) -> Records:
    """The configurations of a topic that is to be. Refusal(INVALID_CONFIG) when it cannot have them."""
    target = Target(Resource.TOPIC, name, {}, settings, _elr(image))
    return _judged(lambda: altered(target, [Change(name, Operation.SET, text) for name, text in configs.items()]))


def config_records(image: Image, kind: int, name: str, configs: Records) -> list[Message]:
    """The records that write `configs` of one resource."""
    records: list[Message] = [
        ConfigRecord(resource_type=kind, resource_name=name, name=config, value=value)
        for config, value in configs.items()
    ]
    if MIN_ISR in configs and kind in (Resource.TOPIC, Resource.BROKER) and _elr(image):
        records.append(ClearElrRecord(topic_name=name if kind == Resource.TOPIC else ""))
    return records


def _altered(image: Image, settings: Settings, resource: A, judge: Callable[[Target, A], Records]) -> list[Message]:
    name, kind = resource.resource_name, _kind(resource.resource_type)
    if kind is Resource.BROKER:
        _check_own(settings, name)
    elif kind is Resource.TOPIC and name and (problem := problem_with_name(name)) is not None:
        raise Refusal(error_codes.INVALID_TOPIC_EXCEPTION, problem)
    target = Target(kind, name, image.config_overrides(kind, name), settings, _elr(image))
    configs = _judged(lambda: judge(target, resource))
    if kind is Resource.TOPIC and name not in image.topic_ids:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    return config_records(image, kind, name, configs)


def _kind(number: int) -> Resource:
    if number not in TABLES:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unknown resource type {number}")
    return Resource(number)


def _check_own(settings: Settings, name: str) -> None:
    own = settings.int("node.id")
    if name and name.lstrip("+-").isdecimal() and int(name) != own:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unexpected broker id, expected {own}, but received {name}")


def _elr(image: Image) -> bool:
    return image.features.get(ELR, 0) > 0


def _judged(judge: Callable[[], Records]) -> Records:
    try:
        return judge()
    except ConfigRefused as refused:
        code: int = getattr(error_codes, refused.error)
        raise Refusal(code, str(refused)) from None
