"""GetTelemetrySubscriptions: which metrics a client is to push, and how often (KIP-714).

The first request has a zero id, and the answer has a new one. A client asks again after its push
interval; before that it is THROTTLING_QUOTA_EXCEEDED. As on a broker without a plugin for metrics
of clients, ApiVersions does not list this API unless the node has an exporter (`telemetry=True`);
a request is answered in any case, as by Apache Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.compression import codec_id

from ..requests.request import Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

ACCEPTED = tuple(codec_id(name) for name in ("zstd", "lz4", "gzip", "snappy"))
"""The codecs in Kafka's order; a client takes the first one that it has."""


def answer(
    node: HandlerContext, request: Request[GetTelemetrySubscriptionsRequest]
) -> GetTelemetrySubscriptionsResponse:
    manager = node.client_metrics
    instance = manager.subscription(request, Uuid(request.body.client_instance_id))
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance.id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(ACCEPTED),
        push_interval_ms=instance.push_interval_ms,
        telemetry_max_bytes=manager.max_bytes,
        delta_temporality=True,
        requested_metrics=list(instance.metrics),
    )
