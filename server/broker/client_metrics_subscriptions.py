"""The subscriptions to metrics of clients: what the client-metrics resources of the metadata say
(KIP-714).

`version` grows whenever a subscription changes; an instance that was made from an earlier one is
made again. The order of the metrics is that of Java's hash sets, because the subscription id
depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..configs.alter import Resource
from ..configs.client_metrics import CLIENT_METRICS
from ..configs.client_metrics_rules import match_texts
from ..java.hash_tables import hash_map_order, hash_set_copy_order, string_hash
from ..metadata.image import Image
from ..requests.regular_expression import InvalidRegularExpression, Pattern, compile_pattern

ALL_METRICS = "*"
DEFAULT_INTERVAL_MS = 300_000
"""Of a client without a subscription, and of a subscription that does not set it."""


class ClientMetricsSubscription(NamedTuple):
    """One resource. A pattern is None if RE2 does not compile it: it matches nothing."""

    metrics: list[str]
    interval_ms: int
    patterns: dict[str, Pattern | None]

    def matches(self, attributes: Mapping[str, str]) -> bool:
        """Whether all patterns match."""
        return all(pattern is not None and pattern.matches(attributes[name]) for name, pattern in self.patterns.items())


class ClientMetricsSubscriptions:
    """The subscriptions by name, as of the image that was seen last."""

    def __init__(self) -> None:
        self.version = 0
        self._seen: object = None
        self._configs: dict[str, Mapping[str, str]] = {}
        self._by_name: dict[str, ClientMetricsSubscription] = {}

    def update(self, image: Image) -> None:
        """Takes the configurations of this image; the same again cost nothing."""
        if image.configs is self._seen:
            return
        self._seen = image.configs
        configs: dict[str, Mapping[str, str]] = {
            name: image.configs[kind, name] for kind, name in image.configs if kind == Resource.CLIENT_METRICS
        }
        if configs.keys() == self._configs.keys() and all(configs[name] is self._configs[name] for name in configs):
            return
        self._configs = configs
        self._by_name = {name: _subscription(configs[name]) for name in hash_map_order(sorted(configs), string_hash)}
        self.version += 1

    def of(self, attributes: Mapping[str, str]) -> tuple[list[str], int]:
        """The metrics of a client with these attributes, and its push interval (ms)."""
        matching = [each for each in self._by_name.values() if each.matches(attributes)]
        interval_ms = min([DEFAULT_INTERVAL_MS, *(each.interval_ms for each in matching)])
        metrics = [name for each in matching for name in each.metrics]
        if ALL_METRICS in metrics:
            return [ALL_METRICS], interval_ms
        return hash_map_order(dict.fromkeys(metrics), string_hash), interval_ms

    def __repr__(self) -> str:
        return f"{len(self._by_name)} subscriptions"


def _subscription(configs: Mapping[str, str]) -> ClientMetricsSubscription:
    values = {each.name: each.parse(configs[each.name]) for each in CLIENT_METRICS if each.name in configs}
    metrics, interval_ms = values.get("metrics"), values.get("interval.ms")
    return ClientMetricsSubscription(
        hash_set_copy_order(metrics, string_hash) if isinstance(metrics, tuple) else [],
        interval_ms if isinstance(interval_ms, int) else DEFAULT_INTERVAL_MS,
        {name: compiled(text) for name, text in match_texts(values.get("match", ())).items()},
    )


def compiled(text: str) -> Pattern | None:
    """The pattern, or None if RE2 does not accept it."""
    try:
        return compile_pattern(text)
    except InvalidRegularExpression:
        return None
