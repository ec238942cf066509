"""PushTelemetry: the metrics of a client, as OTLP MetricsData in protobuf (KIP-714).

Metrics are decompressed beside the event loop. With an exporter they are then decoded; without one
they are dropped, as by a Kafka broker without a plugin. Metrics that no codec or decoder can read
are INVALID_RECORD, and so are those that are larger than `telemetry.max.bytes` when they are
decompressed, as in Kafka 4.4.0; compressed ones that are larger are TELEMETRY_TOO_LARGE.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.compression import decompress

from ..broker.client_metrics_manager import TelemetryExporter
from ..requests.request import Refusal, Request
from ..requests.waiting import Aside, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(
    node: HandlerContext, request: Request[PushTelemetryRequest]
) -> PushTelemetryResponse | Wait[PushTelemetryResponse]:
    instance = node.client_metrics.check_push(request)
    if not request.body.metrics or (node.telemetry is None and not request.body.compression_type):
        return PushTelemetryResponse()
    return _exported(node, request, instance.id, node.telemetry)


def _exported(
    node: HandlerContext, request: Request[PushTelemetryRequest], id: Uuid, exporter: TelemetryExporter | None
) -> Wait[PushTelemetryResponse]:
    aside = Aside(partial(_decoded, exporter, request.body, node.client_metrics.max_bytes))
    yield aside
    try:
        decoded = aside.result()
    except ValueError as problem:
        node.client_metrics.note_error(id, error_codes.INVALID_RECORD)
        raise Refusal(error_codes.INVALID_RECORD) from problem
    if exporter is not None:
        exporter.export(id, request.client_id, decoded, node.now)
    return PushTelemetryResponse()


def _decoded(exporter: TelemetryExporter | None, body: PushTelemetryRequest, limit: int) -> Any:
    data = decompress(body.compression_type, body.metrics, limit)
    return None if exporter is None else exporter.decode(data)
