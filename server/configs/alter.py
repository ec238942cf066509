"""AlterConfigs and IncrementalAlterConfigs without the wire: a request gives the records to write,
or a refusal (KIP-339).

This module writes nothing, and does not check whether the resource exists. It checks a broker's
configurations together (KIP-226), and a topic's or a group's against the broker's. A broker may
have names that are in no table, because they may belong to a plugin. A record with the value None
deletes.

In Apache Kafka the broker validates a request first, and forwards it to the controller. A
controller that receives the request, from a broker or from its own client (KIP-919), skips the
broker's part: the last of two changes of one name applies, null deletes, and a broker's
configurations are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from .broker import BROKER, broker_config
from .broker_rules import broken, stepped_too_far
from .client_metrics import CLIENT_METRICS
from .client_metrics_rules import validate_client_metrics
from .definition import ConfigRefused, ConfigType, InvalidConfig, InvalidRequest
from .group import GROUP
from .group_rules import validate_group
from .layers import Layers, only_per_broker, usable
from .table import ConfigDef
from .topic import TOPIC
from .topic_rules import validate_topic

LONGEST_VALUE = 32_767  # characters, although the error message says bytes
MIN_ISR = "min.insync.replicas"
BROKER_ID = re.compile(r"[+-]?[0-9]{1,10}")


class Resource(IntEnum):
    """The types of resources that have configurations; the numbers are those of DescribeConfigs."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class AlterConfigOpType(IntEnum):
    """The operations of IncrementalAlterConfigs; APPEND and SUBTRACT are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AlterConfigOp(NamedTuple):
    """One change of IncrementalAlterConfigs. `operation` is the number from the request, known or
    not.
    """

    name: str
    operation: int
    value: str | None


TABLES: dict[Resource, ConfigDef] = {
    Resource.TOPIC: TOPIC,
    Resource.BROKER: BROKER,
    Resource.GROUP: GROUP,
    Resource.CLIENT_METRICS: CLIENT_METRICS,
}


WITH_LISTS = frozenset({Resource.TOPIC, Resource.BROKER})
"""The resources whose lists accept APPEND and SUBTRACT. Kafka's controller has no lists of groups
and client metrics.
"""


class Target(NamedTuple):
    """The resource to alter, its present configurations, and those of the broker. The name "" with
    the kind BROKER means all brokers.

    `elr`: eligible leader replicas are enabled, so that min.insync.replicas is set for all brokers
    or for none (KIP-966). `at_controller`: a controller received the request, and does its own part
    only. `reload_problem`: why a broker cannot load what its new configurations name, or "".
    """

    kind: Resource
    name: str
    current: Mapping[str, str]
    layers: Layers
    elr: bool = False
    at_controller: bool = False
    reload_problem: Callable[[Layers], str] | None = None


def altered(target: Target, changes: Iterable[AlterConfigOp]) -> dict[str, str | None]:
    """The records that IncrementalAlterConfigs writes, by name; raises ConfigRefused."""
    requested = list(changes)
    if target.at_controller:
        _check_name(target)
        lists = (
            change for change in requested if change.operation not in (AlterConfigOpType.SET, AlterConfigOpType.DELETE)
        )
        _refuse_nulls(change.name for change in lists if change.value is None)
    else:
        look_at_changes(target, requested)
    return _checked(target, {change.name: _operated(target, change) for change in requested}, dropped=())


def look_at_changes(target: Target, changes: Sequence[AlterConfigOp]) -> None:
    """The broker's part of `altered`; raises ConfigRefused."""
    _check_name(target)
    if len({change.name for change in changes}) < len(changes):
        raise InvalidRequest("Error due to duplicate config keys")
    _refuse_nulls(
        change.name for change in changes if change.operation != AlterConfigOpType.DELETE and change.value is None
    )
    if target.kind is Resource.BROKER:
        for change in changes:
            _operated(target, change)
        _check_broker(target, _broker_properties(target, changes))


def replaced(target: Target, configs: Mapping[str, str | None]) -> dict[str, str | None]:
    """The records that AlterConfigs writes: it sets these configurations and deletes all others."""
    if target.at_controller:
        _check_name(target)
    else:
        look_at_all(target, configs)
    return _checked(target, dict(configs), dropped=[name for name in target.current if name not in configs])


def look_at_all(target: Target, configs: Mapping[str, str | None]) -> None:
    """The broker's part of `replaced`; raises ConfigRefused."""
    _check_name(target)
    _refuse_nulls(name for name, value in configs.items() if value is None)
    if target.kind is Resource.BROKER:
        _check_broker(target, {name: value for name, value in configs.items() if value is not None})


def _check_name(target: Target) -> None:
    kind, name = target.kind, target.name
    if kind not in TABLES:
        raise InvalidRequest(f"Unknown resource type {int(kind)}")
    if kind is Resource.BROKER and target.at_controller:
        # As a controller does.
        if name and not BROKER_ID.fullmatch(name):
            raise InvalidRequest("Unable to parse broker name as a base 10 number.")
        if name and int(name) < 0:
            raise InvalidRequest("Invalid negative broker ID.")
    elif kind is Resource.BROKER and name and not (name.lstrip("+").isascii() and name.lstrip("+").isdecimal()):
        raise InvalidRequest(f"Node id must be an integer, but it is: {name}")
    if kind is not Resource.BROKER and not name:
        texts = {Resource.CLIENT_METRICS: "Subscription name can't be empty"}
        raise InvalidRequest(texts.get(kind, f"Default {kind.name.lower()} resources are not allowed."))


def _refuse_nulls(names: Iterable[str]) -> None:
    nulls = list(names)
    if nulls:
        raise InvalidRequest("Null value not supported for : " + ", ".join(nulls))


def _operated(target: Target, change: AlterConfigOp) -> str | None:
    if change.operation == AlterConfigOpType.DELETE:
        return None
    if change.operation == AlterConfigOpType.SET:
        return change.value
    if change.operation not in (AlterConfigOpType.APPEND, AlterConfigOpType.SUBTRACT):
        raise InvalidRequest(f"Unknown operations type {change.operation}")
    config = TABLES[target.kind].get(change.name) if target.kind in WITH_LISTS else None
    if config is None or config.type is not ConfigType.LIST:
        raise InvalidConfig(change.name, change.value, text=_not_a_list(target, change))
    held = target.current.get(change.name, config.default) or ""
    elements = [element for element in held.split(",") if element]
    for element in (change.value or "").split(","):
        if change.operation == AlterConfigOpType.APPEND and element not in elements:
            elements.append(element)
        elif change.operation == AlterConfigOpType.SUBTRACT and element in elements:
            elements.remove(element)
    return ",".join(elements)


def _not_a_list(target: Target, change: AlterConfigOp) -> str:
    verb, config = AlterConfigOpType(change.operation).name, BROKER.get(change.name)
    if target.kind is not Resource.BROKER or target.at_controller:
        return f"Can't {verb} to key {change.name} because its type is not LIST."
    if config is None or config.mode == "dynamic-only":
        return f"Unknown config name: {change.name}"
    return f"Config value {verb.lower()} is not allowed for config key: {change.name}"


def _checked(target: Target, records: dict[str, str | None], dropped: Iterable[str]) -> dict[str, str | None]:
    current, changed = target.current, dict(records)
    # A broker's configurations are written even if unchanged: the broker may have to reload files.
    if target.kind is not Resource.BROKER:
        changed = {name: value for name, value in records.items() if current.get(name) != value}
    changed |= dict.fromkeys(dropped)
    for name, value in changed.items():
        _check_record(target, name, value)
    after = {name: value for name, value in {**current, **changed}.items() if value is not None}
    CHECKS[target.kind](target, after)
    return changed


def _check_record(target: Target, name: str, value: str | None) -> None:
    if name == MIN_ISR and target.kind is Resource.BROKER and target.elr:
        if target.name:
            raise InvalidConfig(name, value, text=f"Broker-level {MIN_ISR} cannot be altered while ELR is enabled.")
        if value is None:
            raise InvalidConfig(name, value, text=f"Cluster-level {MIN_ISR} cannot be removed while ELR is enabled.")
    # A character is at most two of Java's, so most values need not be encoded.
    if value is None or 2 * len(value) <= LONGEST_VALUE:
        return
    if len(value.encode("utf-16-le", "surrogatepass")) // 2 > LONGEST_VALUE:
        why = f"it exceeds the maximum value size of {LONGEST_VALUE} bytes."
        raise InvalidConfig(name, "", text=f"The configuration value cannot be added because {why}")


def _broker_properties(target: Target, changes: Sequence[AlterConfigOp]) -> dict[str, str]:
    """The configurations that a broker would have. It uses only valid stored values, and keeps
    duplicates, so that the check finds them.
    """
    props = usable(target.current, per_broker=bool(target.name))
    for name, operation, value in changes:
        config = BROKER.get(name)
        elements = (value or "").split(",")
        if operation == AlterConfigOpType.DELETE:
            props.pop(name, None)
        elif operation == AlterConfigOpType.SET and value is not None:
            props[name] = value
        elif config is not None and config.type is ConfigType.LIST:
            held = [element for element in (props.get(name, config.default) or "").split(",") if element]
            if operation == AlterConfigOpType.APPEND:
                props[name] = ",".join(held + [element for element in elements if element not in held])
            else:
                props[name] = ",".join(element for element in held if element not in elements)
    return props


def _check_broker(target: Target, props: Mapping[str, str]) -> None:
    for_one, layers = bool(target.name), target.layers
    modes = {name: config.mode for name in props if (config := BROKER.get(name)) is not None}
    _refuse_names("Cannot update these configs dynamically", [name for name in modes if modes[name] == "read-only"])
    _refuse_names(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        [name for name in modes if modes[name] == "per-listener"],
    )
    for name, text in props.items():
        _refuse_wrong(name, text)
    if not for_one:
        _refuse_names(
            "Cannot update these configs at default cluster level, broker id must be specified",
            [name for name in props if only_per_broker(name, BROKER.get(name))],
        )
    altered_layers = Layers(layers.static, *((layers.cluster, props) if for_one else (props, layers.own)))
    for _, problem in broken(altered_layers):
        raise InvalidRequest(problem)
    problem = stepped_too_far(layers, altered_layers)
    if not problem and for_one and target.reload_problem is not None:
        problem = target.reload_problem(altered_layers)
    if problem:
        exception = "org.apache.kafka.common.config.ConfigException"
        raise InvalidRequest(f"Invalid value {exception}: {problem} for configuration Invalid dynamic configuration")


def _refuse_names(problem: str, names: list[str]) -> None:
    if names:
        raise InvalidRequest(f"{problem}: [{', '.join(sorted(names))}]")


def _refuse_wrong(name: str, text: str) -> None:
    config = broker_config(name)
    try:
        if config is not None:
            config.parse(text, strict=True)
    except ConfigRefused as refused:
        raise InvalidRequest(str(refused)) from None


CHECKS: dict[Resource, Callable[[Target, Mapping[str, str]], None]] = {
    Resource.TOPIC: lambda target, after: validate_topic(after, target.layers, target.current),
    Resource.BROKER: lambda target, after: None,
    Resource.GROUP: lambda target, after: validate_group(after, target.layers),
    Resource.CLIENT_METRICS: lambda target, after: validate_client_metrics(after),
}
"""The controller's check of all configurations that the resource would have."""
