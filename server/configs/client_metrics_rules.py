"""Validates the configurations of a client metrics subscription (KIP-714)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .client_metrics import CLIENT_METRICS
from .definition import InvalidConfig, InvalidRequest, Value

INTERVAL = range(100, 3_600_001)  # ms
PROPERTIES = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
"""The properties of a client that `match` can name."""


def validate_client_metrics(configs: Mapping[str, str]) -> None:
    """Raises InvalidRequest or InvalidConfig for the first configuration that is not valid."""
    for name in configs:
        if name not in CLIENT_METRICS:
            raise InvalidRequest(f"Unknown client metrics configuration: {name}")
    values = {config.name: config.parse(configs[config.name]) for config in CLIENT_METRICS if config.name in configs}
    interval = values.get("interval.ms", INTERVAL[0])
    if interval not in INTERVAL:
        raise InvalidRequest(
            f"Invalid value {interval} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
        )
    patterns(values.get("match", ()))


def patterns(match: Value) -> dict[str, re.Pattern[str]]:
    """The pattern for each property of a client, from the elements of `match`."""
    found = {}
    for element in match if isinstance(match, tuple) else ():
        name, equals, pattern = element.partition("=")
        try:
            found[name.strip()] = re.compile(pattern.strip())
        except (re.error, OverflowError, RecursionError):
            equals = ""
        if not equals or not pattern or "=" in pattern or name.strip() not in PROPERTIES:
            raise InvalidConfig("match", element, text=f"Illegal client matching pattern: {element}")
    return found


def match_texts(match: Value) -> dict[str, str]:
    """The text of the pattern for each property of a client, from a `match` that is valid. The
    last pattern for a property counts."""
    elements = [element.partition("=") for element in match] if isinstance(match, tuple) else []
    return {name.strip(): pattern.strip() for name, _, pattern in elements}
