"""The metrics that clients push, as values: `kafka.telemetry` with `KafkaDouble(telemetry=True)`
(KIP-714).

A client pushes OTLP MetricsData in protobuf, which the library opentelemetry-proto decodes (the
extra `kafkadouble[telemetry]`). Rules. A gauge or a sum is one value for each data point; a
histogram or a summary is two, NAME.count and NAME.sum. A data point without a value is left out.
The newest values are kept: at most KEPT_VALUES, from pushes of at most KEPT_BYTES together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

from kafkadouble.common.errors import UsageError
from kafkadouble.messages.uuid import Uuid

MISSING = "metrics of clients are decoded by opentelemetry-proto, which is not installed: pip install 'kafkadouble[telemetry]'"
OTLP = "opentelemetry.proto.metrics.v1.metrics_pb2"

KEPT_VALUES = 10_000
KEPT_BYTES = 4 << 20
"""The most bytes of pushes whose values are kept: each value may hold long texts."""

NANOS_PER_MS = 1_000_000


class TelemetryValue(NamedTuple):
    """A value of a metric of a client. `attributes` are those of the resource and of the data
    point; `time_ms` is when the client measured it, or when the broker received it if the client
    does not say."""

    client_instance_id: str
    client_id: str
    name: str
    attributes: Mapping[str, Any]
    value: float
    time_ms: int


class MetricPoint(NamedTuple):
    """A data point: name, attributes, value, and time in ms or 0."""

    name: str
    attributes: dict[str, Any]
    value: float
    time_ms: int


class DecodedPush(NamedTuple):
    """The newest data points of one push, and the size of all in bytes."""

    points: tuple[MetricPoint, ...]
    size_bytes: int


class TelemetryCollector:
    """Keeps the newest values. Raises UsageError if the library is missing."""

    def __init__(self) -> None:
        try:
            self._otlp = import_module(OTLP)
            self._decode_error: type[Exception] = import_module("google.protobuf.message").DecodeError
        except ImportError:
            raise UsageError(MISSING) from None
        self._pushes: deque[tuple[str, str, int, DecodedPush]] = deque()
        self._values = self._bytes = 0

    def decode(self, data: bytes) -> DecodedPush:
        """The data points of a MetricsData. Raises ValueError for other bytes."""
        try:
            decoded = self._otlp.MetricsData.FromString(data)
        except self._decode_error as problem:
            raise ValueError(f"no OTLP MetricsData: {problem}") from None
        return DecodedPush(tuple(deque(_points(decoded), KEPT_VALUES)), len(data))

    def export(self, client_instance_id: Uuid, client_id: str, decoded: DecodedPush, now: int) -> None:
        """Keeps the values of a push, and drops the oldest pushes that are too many."""
        if not decoded.points:
            return
        self._pushes.append((str(client_instance_id), client_id, now, decoded))
        self._values += len(decoded.points)
        self._bytes += decoded.size_bytes
        while self._pushes and (self._bytes > KEPT_BYTES or self._is_surplus(self._pushes[0][-1])):
            oldest = self._pushes.popleft()[-1]
            self._values -= len(oldest.points)
            self._bytes -= oldest.size_bytes

    def _is_surplus(self, oldest: DecodedPush) -> bool:
        """Whether enough values are kept without the oldest push."""
        return self._values - len(oldest.points) >= KEPT_VALUES

    def values(self) -> list[TelemetryValue]:
        """The values that are kept, oldest first."""
        return list(islice(self._all(), max(0, self._values - KEPT_VALUES), None))

    def _all(self) -> Iterator[TelemetryValue]:
        for instance_id, client_id, received, decoded in self._pushes:
            for point in decoded.points:
                yield TelemetryValue(
                    instance_id, client_id, point.name, point.attributes, point.value, point.time_ms or received
                )

    def clear(self) -> None:
        """Forgets everything."""
        self._pushes.clear()
        self._values = self._bytes = 0

    def __repr__(self) -> str:
        return f"{self._values} values of {len(self._pushes)} pushes"


def _points(decoded: Any) -> Iterator[MetricPoint]:
    for resource in decoded.resource_metrics:
        shared = _attributes(resource.resource.attributes)
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                yield from _points_of(metric, shared)


def _points_of(metric: Any, shared: dict[str, Any]) -> Iterator[MetricPoint]:
    kind = metric.WhichOneof("data")
    if kind is None:
        return
    for point in getattr(metric, kind).data_points:
        attributes = {**shared, **_attributes(point.attributes)} if point.attributes else shared
        for suffix, value in _values(point, is_number=kind in ("gauge", "sum")):
            yield MetricPoint(metric.name + suffix, attributes, value, point.time_unix_nano // NANOS_PER_MS)


def _values(point: Any, *, is_number: bool) -> list[tuple[str, float]]:
    """The ends of the names of a point's values, and the values."""
    if not is_number:
        return [(".count", point.count), (".sum", point.sum)]
    field = point.WhichOneof("value")
    return [] if field is None else [("", getattr(point, field))]


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _attribute(pair.value) for pair in pairs}


def _attribute(value: Any) -> Any:
    """An AnyValue as Python's; protobuf limits how deep it nests."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_attribute(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values)
    return getattr(value, kind)
