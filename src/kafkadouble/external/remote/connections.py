"""Asks a Kafka that runs elsewhere, as an admin client does: any broker, or one at an address.

Rules. Errors of the connection are KafkaErrors, with the code that a client would report. A call
ends within `ANSWER_MS`. One thread asks at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.pipeline.client import ApiError, ClientError, NotAuthenticated, NotReachable, TimedOut, Unsupported
from kafkadouble.pipeline.client.connection import BrokerConnection
from kafkadouble.pipeline.client.errors import ConnectionLost
from kafkadouble.pipeline.client.names import BrokerEndpoint
from kafkadouble.pipeline.client.network import Network
from kafkadouble.pipeline.client.settings import ClientSettings

NAMES_UP_TO = {ApiKeys.OFFSET_FETCH: 9}
"""Later versions have the ids of topics instead of their names."""

ANSWER_MS = 10_000
"""How long a Kafka may take to answer."""

CODES: dict[type, int] = {
    ConnectionLost: error_codes.BROKER_NOT_AVAILABLE,
    NotReachable: error_codes.BROKER_NOT_AVAILABLE,
    NotAuthenticated: error_codes.SASL_AUTHENTICATION_FAILED,
    Unsupported: error_codes.UNSUPPORTED_VERSION,
    TimedOut: error_codes.REQUEST_TIMED_OUT,
}
"""The error code for each error of a connection."""


class KafkaConnections:
    """The connections to the brokers of a Kafka. `settings` are those of a client."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        limits = {"default.api.timeout.ms": ANSWER_MS, "request.timeout.ms": 3 * ANSWER_MS}
        self._settings = ClientSettings({"client.id": "kafkadouble", **limits, **settings})
        self._network = Network(self._settings)

    def ask(self, body: Message, at: BrokerEndpoint | None = None) -> Any:
        """The response to a request. Raises KafkaError if there is none."""
        with _as_kafka_errors():
            patience = self._network.patience(type(body).__name__)
            if at is None:
                return self._network.metadata.call_any_broker(patience, lambda connection: _asked(connection, body))
            with self._network.links.lent(at, patience.left()) as connection:
                return _asked(connection, body)

    def highest(self, key: ApiKeys) -> int:
        """The newest version of an API that a broker and this client have."""
        with _as_kafka_errors():
            patience = self._network.patience(key.name)
            return self._network.metadata.call_any_broker(patience, lambda connection: connection.version(key))

    def begin_anew(self) -> None:
        """Closes every connection: brokers were restarted."""
        self._network.close()
        self._network = Network(self._settings)

    def close(self) -> None:
        """Closes every connection."""
        self._network.close()

    def __repr__(self) -> str:
        return f"connections to {', '.join(map(str, self._settings.bootstrap))}"


def _asked(connection: BrokerConnection, body: Message) -> Any:
    if body.api_key is None:
        raise UsageError(f"{type(body).__name__} is no request")
    highest = NAMES_UP_TO.get(ApiKeys(body.api_key), 1 << 15)
    return connection.ask(body, connection.version(body.api_key, highest=highest))


@contextmanager
def _as_kafka_errors() -> Iterator[None]:
    try:
        yield
    except ApiError as problem:
        raise KafkaError(problem.code, str(problem)) from None
    except (ClientError, ConnectionLost) as problem:
        code = next((CODES[kind] for kind in type(problem).__mro__ if kind in CODES), error_codes.UNKNOWN_SERVER_ERROR)
        raise KafkaError(code, str(problem)) from None
