"""Validates the configurations of a group: each is within the broker's bounds, and the session
timeout is longer than the heartbeat interval (KIP-848).

The error messages are close to Kafka's.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import InvalidConfig, Value, shown
from .group import GROUP
from .layers import Layers

BOUNDED = {
    "consumer.heartbeat.interval.ms": (
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.max.heartbeat.interval.ms",
    ),
    "consumer.session.timeout.ms": ("group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    "consumer.assignment.interval.ms": (
        "group.consumer.min.assignment.interval.ms",
        "group.consumer.max.assignment.interval.ms",
    ),
    "share.heartbeat.interval.ms": ("group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"),
    "share.session.timeout.ms": ("group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"),
    "share.record.lock.duration.ms": (
        "group.share.min.record.lock.duration.ms",
        "group.share.max.record.lock.duration.ms",
    ),
    "share.delivery.count.limit": ("group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"),
    "share.partition.max.record.locks": (
        "group.share.min.partition.max.record.locks",
        "group.share.max.partition.max.record.locks",
    ),
    "share.assignment.interval.ms": (
        "group.share.min.assignment.interval.ms",
        "group.share.max.assignment.interval.ms",
    ),
    "streams.heartbeat.interval.ms": (
        "group.streams.min.heartbeat.interval.ms",
        "group.streams.max.heartbeat.interval.ms",
    ),
    "streams.session.timeout.ms": ("group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"),
    "streams.num.standby.replicas": (None, "group.streams.max.standby.replicas"),
    "streams.assignment.interval.ms": (
        "group.streams.min.assignment.interval.ms",
        "group.streams.max.assignment.interval.ms",
    ),
    "streams.task.offset.interval.ms": ("group.streams.min.task.offset.interval.ms", None),
    "streams.num.warmup.replicas": (None, "group.streams.max.warmup.replicas"),
}
"""The least and the greatest value that the broker allows for each configuration of a group, by the
names of the broker's configurations, in the order of the checks. Spelt out, so that a search for a
name finds what reads it."""

KINDS = ("consumer", "share", "streams")
TAGS = "streams.rack.aware.assignment.tags"


def validate_group(configs: Mapping[str, str], layers: Layers) -> None:
    """Raises InvalidConfig for a configuration that is unknown, wrong, or outside the broker's
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


def bounds_of(name: str, layers: Layers) -> tuple[int | None, int | None]:
    """The least and the greatest value that the broker allows; None for no bound."""
    low, high = (None if bound is None else layers.value(bound) for bound in BOUNDED.get(name, (None, None)))
    return low if isinstance(low, int) else None, high if isinstance(high, int) else None


def clamped(name: str, value: Value, layers: Layers) -> Value:
    """The value, or the nearest bound of the broker if it is outside them."""
    if name not in BOUNDED or not isinstance(value, int):
        return value
    low, high = bounds_of(name, layers)
    capped = value if high is None else min(value, high)
    return capped if low is None else max(capped, low)


def _refuse_out_of_bounds(name: str, value: Value, layers: Layers) -> None:
    low, high = bounds_of(name, layers)
    if clamped(name, value, layers) == value:
        return
    if low is None:
        raise InvalidConfig(name, value, text=f"{name} must be less than or equal to {high}")
    if high is None:
        raise InvalidConfig(name, value, text=f"{name} must be greater than or equal to {low}")
    raise InvalidConfig(name, value, text=f"{name} must be in the range {low} to {high} inclusive.")


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
