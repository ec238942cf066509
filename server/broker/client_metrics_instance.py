"""One client instance: what it is to push, and when it last requested its subscriptions and pushed
(KIP-714)."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.checksum import crc32c

from ..java.hash_tables import uuid_hash_code
from ..requests.kept_bytes import text_bytes
from ..requests.request import Request
from ..requests.timers import Timer

NEVER_YET = -(2**63)

INSTANCE_BYTES = 1200
"""The memory of an instance without its names, with its timer."""

UNKNOWN = "unknown"
"""Kafka's name and version of the software of a client that did not say them."""

IGNORING_THE_INTERVAL = frozenset({error_codes.UNKNOWN_SUBSCRIPTION_ID, error_codes.UNSUPPORTED_COMPRESSION_TYPE})
"""After these errors of a push, a client may ask for its subscription at once."""


class ClientMetricsInstance:
    """What is known about it; `version` is that of the subscriptions that it was made from."""

    __slots__ = (
        "_asked",
        "_pushed",
        "attributes",
        "expiry",
        "id",
        "is_terminating",
        "last_error",
        "metrics",
        "push_interval_ms",
        "subscription_id",
        "version",
    )

    def __init__(
        self, id: Uuid, attributes: dict[str, str], metrics: list[str], push_interval_ms: int, version: int
    ) -> None:
        self.id, self.attributes, self.version = id, attributes, version
        self.metrics, self.push_interval_ms = metrics, push_interval_ms
        self.subscription_id = subscription_id(metrics, push_interval_ms, id)
        self.is_terminating, self.last_error = False, error_codes.NONE
        self.expiry: Timer | None = None
        self._asked = self._pushed = NEVER_YET

    @property
    def size_bytes(self) -> int:
        """The bytes that it takes, by estimate."""
        return INSTANCE_BYTES + sum(map(text_bytes, self.attributes.values()))

    def may_ask(self, now: int) -> bool:
        """Whether it may ask for its subscription now; a question in time is remembered."""
        in_time = now - max(self._asked, self._pushed) >= self.push_interval_ms
        if in_time:
            self._asked = now
        return in_time or self.last_error in IGNORING_THE_INTERVAL

    def may_push(self, now: int) -> bool:
        """Whether it may push now: at any time after it asked, or after its interval, because a
        client varies it by half. A push in time is remembered."""
        may = self._asked > self._pushed or now - self._pushed >= self.push_interval_ms
        if may:
            self._pushed = now
        return may

    def __repr__(self) -> str:
        return f"client instance {self.id} with subscription {self.subscription_id}"


def attributes_of(id: Uuid, request: Request[Any]) -> dict[str, str]:
    """The attributes to which match patterns are applied."""
    peer = request.peer
    return {
        "client_instance_id": str(id),
        "client_id": request.client_id,
        "client_software_name": peer.software_name or UNKNOWN,
        "client_software_version": peer.software_version or UNKNOWN,
        "client_source_address": peer.host,
        "client_source_port": str(peer.port),
    }


def subscription_id(metrics: list[str], push_interval_ms: int, id: Uuid) -> int:
    """The CRC-32C of the metrics and the interval as Java writes them, combined with the hash of
    the instance's id; an int32."""
    code = crc32c(f"[{', '.join(metrics)}]{push_interval_ms}".encode()) ^ uuid_hash_code(id)
    return int.from_bytes(code.to_bytes(4), signed=True)
