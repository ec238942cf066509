"""Validates the configurations of a topic: names, bounds, and consistency with one another and with
the broker's configurations.

The error messages are close to those of Kafka's LogConfig. Tiered storage (KIP-405, KIP-950) has no
effect here, but its rules apply, so that this broker refuses what Kafka would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping

from .definition import InvalidConfig, Value
from .effective import effective_topic_config
from .layers import Layers
from .own import TOPIC_HERE

REMOTE = "remote.storage.enable"
UNITS = (
    ("local.retention.bytes", "retention.bytes", "remote.copy.lag.bytes"),
    ("local.retention.ms", "retention.ms", "remote.copy.lag.ms"),
)
"""The local retention, the whole one and the lag of copies, in each unit."""

AS_THE_LOG = -2  # the value of local.retention.* that means: the value of retention.*


def validate_topic(configs: Mapping[str, str], layers: Layers, before: Mapping[str, str] | None = None) -> None:
    """Raises InvalidConfig for configurations that a topic may not have. `before` are the present
    ones.
    """
    for name in configs:
        if name not in TOPIC_HERE:
            raise InvalidConfig(name, configs[name], text=f"Unknown topic config name: {name}")
    values = effective_topic_config(configs, layers)
    low, high = (_number(values, name) for name in ("min.compaction.lag.ms", "max.compaction.lag.ms"))
    if low > high:
        lags = f"min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})"
        raise InvalidConfig("min.compaction.lag.ms", low, text=f"conflict topic config setting {lags}")
    if values[REMOTE]:
        _check_remote(values, layers)
    elif (before or {}).get(REMOTE, "").lower() == "true" and not values["remote.log.delete.on.disable"]:
        why = "It is invalid to disable remote storage without deleting remote data."
        ways = "Set `remote.log.copy.disable=true` to keep it, or `remote.log.delete.on.disable=true` to delete it."
        raise InvalidConfig(REMOTE, False, text=f"{why} {ways}")


def _number(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int), name
    return value


def _check_remote(values: Mapping[str, Value], layers: Layers) -> None:
    if not layers.value("remote.log.storage.system.enable"):
        why = "Tiered Storage functionality is disabled in the broker. This topic cannot have it."
        raise InvalidConfig(REMOTE, True, text=why)
    if values["cleanup.policy"] not in ((), ("delete",)):
        why = (
            "Remote log storage only supports topics with cleanup.policy=delete or cleanup.policy being an empty list."
        )
        raise InvalidConfig("cleanup.policy", values["cleanup.policy"], text=why)
    for local_name, whole, _ in UNITS:
        _check_local_retention(values, local_name, whole)
    for local_name, whole, lag_name in UNITS:
        lag, local = _number(values, lag_name), _number(values, local_name)
        local = _number(values, whole) if local == AS_THE_LOG else local
        if lag > 0 and 0 <= local < lag:
            raise InvalidConfig(lag_name, lag, f"Value must not exceed {local_name} (effective value: {local})")
    if values["remote.log.copy.disable"]:
        for local_name, whole, _ in UNITS:
            _check_retention_without_copies(values, local_name, whole)


def _check_local_retention(values: Mapping[str, Value], name: str, whole: str) -> None:
    local, total = _number(values, name), _number(values, whole)
    if total == -1 or (whole == "retention.bytes" and total < 0) or local == AS_THE_LOG:
        return
    if local == -1:
        raise InvalidConfig(name, local, f"Value must not be -1 as {whole} value is set as {total}.")
    if local > total:
        raise InvalidConfig(name, local, f"Value must not be more than {whole} property value: {total}")


def _check_retention_without_copies(values: Mapping[str, Value], name: str, whole: str) -> None:
    local = _number(values, name)
    if local not in (AS_THE_LOG, _number(values, whole)):
        why = f"When `remote.log.copy.disable` is set to true, the `{name}` and `{whole}` must be set to the identical value"
        raise InvalidConfig(name, local, text=f"{why}: nothing more is copied to remote storage.")
