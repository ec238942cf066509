"""Validates the configurations of a broker together: which must be larger than which, and by how
much one change may alter a number of threads.

A node calls `broken` when it starts, and before every dynamic change. The error messages are close
to those of Kafka's KafkaConfig.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .layers import Layers
from .listeners import LISTENERS, endpoints, listener_problems

AT_LEAST, AT_MOST, BELOW = "greater than or equal to", "less than or equal to", "less than"
HOLDS: dict[str, Callable[[int, int], bool]] = {
    AT_LEAST: int.__ge__,
    AT_MOST: int.__le__,
    BELOW: int.__lt__,
}


def _group_orders(kind: str) -> Iterator[tuple[str, str, str]]:
    for what in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"):
        name, low, high = (f"group.{kind}.{side}{what}" for side in ("", "min.", "max."))
        yield high, AT_LEAST, low
        yield name, AT_LEAST, low
        yield name, AT_MOST, high
        if what.startswith("session"):
            yield f"group.{kind}.heartbeat.interval.ms", BELOW, name


def _share_orders() -> Iterator[tuple[str, str, str]]:
    for what in ("delivery.count.limit", "partition.max.record.locks", "record.lock.duration.ms"):
        yield f"group.share.max.{what}", AT_LEAST, f"group.share.{what}"
        yield f"group.share.{what}", AT_LEAST, f"group.share.min.{what}"


ORDERS = (
    *_group_orders("consumer"),
    *_group_orders("share"),
    *_group_orders("streams"),
    ("group.streams.num.standby.replicas", AT_MOST, "group.streams.max.standby.replicas"),
    ("group.streams.task.offset.interval.ms", AT_LEAST, "group.streams.min.task.offset.interval.ms"),
    ("group.streams.num.warmup.replicas", AT_MOST, "group.streams.max.warmup.replicas"),
    *_share_orders(),
    ("group.share.max.share.sessions", AT_LEAST, "group.share.max.size"),
    ("replica.fetch.wait.max.ms", AT_MOST, "replica.socket.timeout.ms"),
    ("replica.fetch.wait.max.ms", AT_MOST, "replica.lag.time.max.ms"),
)
"""Pairs of numbers, and the order that they must have."""

SAME_ID = (
    "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use `node.id` instead."
)
CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
OF_A_CODEC = ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec")
"""Numbers of codecs of internal topics."""

EARLY = "early.start.listeners"
PROTOCOLS = "group.coordinator.rebalance.protocols"
ASSIGNORS = {
    "group.consumer.assignors": ("uniform", "range"),
    "group.share.assignors": ("simple",),
    "group.streams.assignors": ("sticky",),
}
"""Kafka's assignors, by the setting that names them. A name with a dot is that of a class."""

STEPPED = (
    "num.io.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "log.cleaner.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
"""Numbers of threads. One dynamic change may at most halve or double them (KIP-226)."""


def broken(layers: Layers) -> Iterator[tuple[str, str]]:
    """The rules that these configurations break, each as a configuration's name and the rule in
    words.
    """
    if "broker.id" in layers.texts and number(layers, "broker.id") != number(layers, "node.id"):
        yield "broker.id", SAME_ID
    for name, order, other in ORDERS:
        if not HOLDS[order](number(layers, name), number(layers, other)):
            yield name, f"{name} must be {order} {other}"
    for names, holds, text in OTHERS:
        if not holds(*(number(layers, name) for name in names)):
            yield names[0], text
    if len(listed(layers, "group.share.assignors")) != 1:
        yield "group.share.assignors", "group.share.assignors must contain exactly one assignor"
    yield from _of_groups(layers)
    if number(layers, "max.connections.per.ip") == 0 and not layers.value("max.connections.per.ip.overrides"):
        name = "max.connections.per.ip"
        yield name, f"{name} can be set to zero only if {name}.overrides property is set."
    problems = [*listener_problems(layers)]
    yield from problems or _early_problems(layers)


def _early_problems(layers: Layers) -> Iterator[tuple[str, str]]:
    names = [endpoint.name for endpoint in endpoints(layers)]
    for name in listed(layers, EARLY):
        if name not in names:
            yield EARLY, f"{EARLY} has {name}: there may be listeners of {LISTENERS}, in capitals, {','.join(names)}"


def _of_groups(layers: Layers) -> Iterator[tuple[str, str]]:
    for name in OF_A_CODEC:
        if number(layers, name) not in CODECS:
            known = ", ".join(f"{id} ({codec})" for id, codec in CODECS.items())
            yield name, f"{name} is {number(layers, name)}: there are {known}"
    if "classic" not in listed(layers, PROTOCOLS):
        yield PROTOCOLS, f"{PROTOCOLS} is {','.join(listed(layers, PROTOCOLS))}: classic must be among them"
    for name, assignors in ASSIGNORS.items():
        for assignor in listed(layers, name):
            if "." not in assignor and assignor not in assignors:
                yield name, f"{name} has {assignor}: there are {', '.join(assignors)}, and names of classes"


OTHERS: tuple[tuple[tuple[str, ...], Callable[..., bool], str], ...] = (
    (("log.roll.ms",), lambda ms: ms >= 1, "log.roll.ms must be greater than or equal to 1"),
    (("log.roll.jitter.ms",), lambda ms: ms >= 0, "log.roll.jitter.ms must be greater than or equal to 0"),
    *(
        ((name,), lambda age: age >= 1 or age < 0, f"{name} must be unlimited (-1) or, greater than or equal to 1")
        for name in ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    ),
    (
        ("log.cleaner.dedupe.buffer.size", "log.cleaner.threads"),
        lambda size, threads: threads > 0 and size // threads > 1 << 20,
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    ),
    (
        ("queued.max.request.bytes", "socket.request.max.bytes"),
        lambda queued, request: queued <= 0 or queued >= request,
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    ),
    (
        ("connection.failed.authentication.delay.ms", "connections.max.idle.ms"),
        lambda delay, idle: idle < 0 or delay < idle,
        "connection.failed.authentication.delay.ms should always be less than connections.max.idle.ms"
        " to prevent failed authentication responses from timing out",
    ),
)
"""Further rules: the configurations, the condition on their numbers, and the error message."""


def stepped_too_far(before: Layers, after: Layers) -> str:
    """The error message for a dynamic change of a number of threads that is too large, or ""."""
    for name in STEPPED:
        old, new = number(before, name), number(after, name)
        problem = f"Dynamic thread count update validation failed for {name}={new}, value should "
        if new != old and new < old // 2:
            return problem + f"be at least half the current value {old}"
        if new > old * 2:
            return problem + f"not be greater than double the current value {old}"
    return ""


def number(layers: Layers, name: str) -> int:
    """The effective number of a configuration. A configuration that is not set is 1, which every
    rule above allows."""
    value = layers.value(name)
    return value if isinstance(value, int) else 1


def listed(layers: Layers, name: str) -> tuple[str, ...]:
    """The effective elements of a list."""
    value = layers.value(name)
    return value if isinstance(value, tuple) else ()
