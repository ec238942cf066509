"""Subscriptions to metrics of clients, and what clients push, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.brokers.client_metrics_requests import to_set
from tests.server.harness import Harness


def subscribe(cluster: Harness, name: str, config: Mapping[str, str]) -> None:
    """Sets the configurations of a subscription."""
    (response,) = cluster.submit(to_set(name, config), 1).responses
    assert response.error_code == 0, response.error_message


def metrics_data(*metrics: Any, **attributes: str) -> bytes:
    """An OTLP MetricsData with one resource."""
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.metrics.v1 import metrics_pb2

    made = metrics_pb2.MetricsData()
    resource = made.resource_metrics.add()
    for key, value in attributes.items():
        resource.resource.attributes.append(common_pb2.KeyValue(key=key, value=common_pb2.AnyValue(string_value=value)))
    resource.scope_metrics.add().metrics.extend(metrics)
    return bytes(made.SerializeToString())
