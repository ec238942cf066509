"""The client instances that may push metrics, and what each is to push (KIP-714): Apache Kafka's
`ClientMetricsManager`.

Rules. A subscription is a client-metrics resource; one whose patterns all match an instance applies
to it. An instance gets the union of the metrics and the shortest interval, and a subscription id
made from both and from its own id. An instance asks or pushes again after its push interval; the
first push after a question may come at any time. An instance is forgotten when its connection ends,
after three push intervals without a request (a minute at least), or when 16384 others were used
since, or fewer with long names. A broker without an exporter answers the same, and drops what is
pushed.

Differences. A match pattern is RE2's, in linear time; one that RE2 does not compile matches no
client.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.push_telemetry import PushTelemetryRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.compression import CODECS

from ..requests.request import Refusal, Request
from .client_metrics_instance import ClientMetricsInstance, attributes_of
from .client_metrics_subscriptions import ClientMetricsSubscriptions
from .host import ClientMetricsHost

MAX_INSTANCES = 16384
"""The most instances, as in Kafka."""

MAX_INSTANCES_BYTES = 32 << 20
"""The most bytes that all instances take, by estimate: enough for the most instances with names of
usual length. A client chooses the ids of instances, and its own names.
"""

SHORTEST_EXPIRY_MS = 60_000
EXPIRY_INTERVALS = 3

RESERVED = frozenset({Uuid.ZERO, Uuid.METADATA_TOPIC_ID})
"""Ids that no client instance has."""


class TelemetryExporter(Protocol):
    """The receiver of the metrics of clients: Kafka's `ClientTelemetryExporter`."""

    def decode(self, data: bytes) -> Any:
        """The values of an OTLP MetricsData. Raises ValueError. It touches no state: it may run on
        any thread."""
        ...

    def export(self, client_instance_id: Uuid, client_id: str, decoded: Any, now: int) -> None:
        """Keeps what `decode` returned."""
        ...


class ClientMetricsManager:
    """The instances, by id, those that were used last at the end."""

    def __init__(self, host: ClientMetricsHost) -> None:
        self._host = host
        self._subscriptions = ClientMetricsSubscriptions()
        self._instances: OrderedDict[Uuid, ClientMetricsInstance] = OrderedDict()
        self._by_connection: dict[int, Uuid] = {}
        self.size_bytes = 0
        self.max_bytes = host.settings.int("telemetry.max.bytes")

    def subscription(self, request: Request[Any], id: Uuid) -> ClientMetricsInstance:
        """The instance that asks for its subscription; a zero id gets a new one. Raises
        Refusal."""
        now = self._host.now
        instance = self._instance(request, id if id != Uuid.ZERO else self._new_id(), now)
        if not instance.may_ask(now):
            raise Refusal(error_codes.THROTTLING_QUOTA_EXCEEDED)
        instance.last_error = error_codes.NONE
        return instance

    def check_push(self, request: Request[PushTelemetryRequest]) -> ClientMetricsInstance:
        """The instance that pushes. Raises Refusal."""
        id = Uuid(request.body.client_instance_id)
        if id in RESERVED:
            raise Refusal(error_codes.INVALID_REQUEST)
        now = self._host.now
        instance = self._instance(request, id, now)
        instance.last_error = self._push_error(request.body, instance, now)
        instance.is_terminating = request.body.terminating
        if instance.last_error:
            raise Refusal(instance.last_error)
        return instance

    def note_error(self, id: Uuid, code: int) -> None:
        """A push of this instance failed after `check_push`."""
        if (instance := self._instances.get(id)) is not None:
            instance.last_error = code

    def _push_error(self, body: PushTelemetryRequest, instance: ClientMetricsInstance, now: int) -> int:
        """The first rule that a push breaks, or NONE. A push that may be too early is counted
        before its subscription is checked, as in Kafka."""
        if instance.is_terminating:
            return error_codes.INVALID_REQUEST
        if not instance.may_push(now) and not body.terminating:
            return error_codes.THROTTLING_QUOTA_EXCEEDED
        if body.subscription_id != instance.subscription_id:
            return error_codes.UNKNOWN_SUBSCRIPTION_ID
        if body.compression_type not in CODECS:
            return error_codes.UNSUPPORTED_COMPRESSION_TYPE
        if len(body.metrics) > self.max_bytes:
            return error_codes.TELEMETRY_TOO_LARGE
        return error_codes.NONE

    def _new_id(self) -> Uuid:
        id = Uuid.random(self._host.random.randbytes)
        return self._new_id() if id in self._instances else id

    def _instance(self, request: Request[Any], id: Uuid, now: int) -> ClientMetricsInstance:
        """The instance with this id, as the subscriptions of now have it."""
        self._subscriptions.update(self._host.image)
        known = self._instances.get(id)
        if known is None:
            instance = self._create(id, attributes_of(id, request))
            self._remember(instance, request)
        elif known.version < self._subscriptions.version:
            instance = self._create(id, known.attributes)
            self._forget(id)
            self._remember(instance, request)
        else:
            instance = known
            self._instances.move_to_end(id)
        if instance.expiry is not None:
            instance.expiry.cancel()
        after_ms = max(SHORTEST_EXPIRY_MS, instance.push_interval_ms * EXPIRY_INTERVALS)
        expire = partial(self._expire, instance.id, request.peer.id)
        instance.expiry = self._host.waiting.timers.at(now + after_ms, expire)
        return instance

    def _create(self, id: Uuid, attributes: dict[str, str]) -> ClientMetricsInstance:
        metrics, interval_ms = self._subscriptions.of(attributes)
        return ClientMetricsInstance(id, attributes, metrics, interval_ms, self._subscriptions.version)

    def _remember(self, instance: ClientMetricsInstance, request: Request[Any]) -> None:
        most_bytes = MAX_INSTANCES_BYTES - instance.size_bytes
        while self._instances and (len(self._instances) >= MAX_INSTANCES or self.size_bytes > most_bytes):
            self._forget(next(iter(self._instances)))
        self._instances[instance.id] = instance
        self.size_bytes += instance.size_bytes
        self._by_connection[request.peer.id] = instance.id
        request.peer.listen_to_disconnect(self.on_disconnect)

    def on_disconnect(self, connection_id: int) -> None:
        """The connection has ended: so has the instance that was made last over it."""
        id = self._by_connection.pop(connection_id, None)
        if id is not None:
            self._forget(id)

    def _expire(self, id: Uuid, connection_id: int, now: int) -> None:
        self._by_connection.pop(connection_id, None)
        self._forget(id)

    def _forget(self, id: Uuid) -> None:
        instance = self._instances.pop(id, None)
        if instance is None:
            return
        self.size_bytes -= instance.size_bytes
        if instance.expiry is not None:
            instance.expiry.cancel()

    def __len__(self) -> int:
        return len(self._instances)

    def __repr__(self) -> str:
        return f"{len(self)} client instances; {self._subscriptions!r}"
