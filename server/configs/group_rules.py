"""Validates the configurations of a group: each is within the broker's bounds, and the session
timeout is longer than the heartbeat interval (KIP-848).

The broker's bounds are `group.KIND.min...` and `group.KIND.max...`. The error messages are close to
Kafka's.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import InvalidConfig, Value, shown
from .group import GROUP
from .layers import Layers

BOUNDED = {
    "consumer.heartbeat.interval.ms": ("min", "max"),
    "consumer.session.timeout.ms": ("min", "max"),
    "consumer.assignment.interval.ms": ("min", "max"),
    "share.heartbeat.interval.ms": ("min", "max"),
    "share.session.timeout.ms": ("min", "max"),
    "share.record.lock.duration.ms": ("min", "max"),
    "share.delivery.count.limit": ("min", "max"),
    "share.partition.max.record.locks": ("min", "max"),
    "share.assignment.interval.ms": ("min", "max"),
    "streams.heartbeat.interval.ms": ("min", "max"),
    "streams.session.timeout.ms": ("min", "max"),
    "streams.num.standby.replicas": ("max",),
    "streams.assignment.interval.ms": ("min", "max"),
    "streams.task.offset.interval.ms": ("min",),
    "streams.num.warmup.replicas": ("max",),
}
"""The bounds that the broker has for each configuration of a group, in the order of the checks."""

KINDS = ("consumer", "share", "streams")
TAGS = "streams.rack.aware.assignment.tags"


def validate_group(configs: Mapping[str, str], layers: Layers) -> None:
    """Raise InvalidConfig for a configuration that is unknown, wrong, or outside the broker's
    bounds.
    """
    for name in configs:
        if name not in GROUP:
            raise InvalidConfig(name, configs[name], text=f"Unknown group config name: {name}")
    if TAGS in configs:
        _refuse_doubled_tags(configs[TAGS])
    values = {config.name: config.parse(configs[config.name]) for config in GROUP if config.name in configs}
    for name in BOUNDED:
        if name in values:
            _refuse_out_of_bounds(name, values[name], layers)
    _refuse_unknown_assignor(values, layers)
    for kind in KINDS:
        _refuse_short_session(kind, values, layers)
    if str(values.get("errors.deadletterqueue.topic.name", "")).startswith("__"):
        name = "errors.deadletterqueue.topic.name"
        raise InvalidConfig(name, values[name], text=f"{name}: DLQ topic name must not start with '__'")


def bound_of(name: str, side: str, layers: Layers) -> int | None:
    """The `min` or `max` of the broker for a configuration of a group; None for no bound."""
    kind, _, rest = name.partition(".")
    bounded = side in BOUNDED.get(name, ())
    bound = layers.value(f"group.{kind}.{side}.{rest.removeprefix('num.')}") if bounded else None
    return bound if isinstance(bound, int) else None


def clamped(name: str, value: Value, layers: Layers) -> Value:
    """The value, or the nearest bound of the broker if it is outside them."""
    if name not in BOUNDED or not isinstance(value, int):
        return value
    low, high = bound_of(name, "min", layers), bound_of(name, "max", layers)
    capped = value if high is None else min(value, high)
    return capped if low is None else max(capped, low)


def _refuse_out_of_bounds(name: str, value: Value, layers: Layers) -> None:
    low, high = bound_of(name, "min", layers), bound_of(name, "max", layers)
    texts = {
        ("min", "max"): f"{name} must be in the range {low} to {high} inclusive.",
        ("max",): f"{name} must be less than or equal to {high}",
        ("min",): f"{name} must be greater than or equal to {low}",
    }
    if clamped(name, value, layers) != value:
        raise InvalidConfig(name, value, text=texts[BOUNDED[name]])


def _refuse_doubled_tags(text: str) -> None:
    tags = [tag.strip() for tag in text.split(",")]
    if len(set(tags)) < len(tags):
        raise InvalidConfig(TAGS, text, text=f"{TAGS} must not contain duplicate tag keys.")


def _refuse_unknown_assignor(values: Mapping[str, Value], layers: Layers) -> None:
    name, known = "streams.assignor.name", layers.value("group.streams.assignors")
    if name in values and values[name] not in (known if isinstance(known, tuple) else ()):
        why = f"is not a registered task assignor. Registered assignors are: {shown(known)}."
        raise InvalidConfig(name, values[name], text=f"{name} '{values[name]}' {why}")


def _refuse_short_session(kind: str, values: Mapping[str, Value], layers: Layers) -> None:
    names = (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
    session, heartbeat = (values.get(name, layers.value(f"group.{name}")) for name in names)
    if values.keys() & set(names) and isinstance(session, int) and isinstance(heartbeat, int) and session <= heartbeat:
        raise InvalidConfig(names[0], session, text=f"{names[0]} must be greater than {names[1]}")
