"""Rows of captured traffic as a connection makes them."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.tracing import capture

AT = 1_763_000_000_000_000

ROW = {
    "time": AT,
    "node": 1,
    "connection": "1",
    "client_id": "app",
    "client_software": "franz-go",
    "client_version": "1.2",
    "address": "10.0.0.1:5",
    "principal": "User:alice",
    "api_key": ApiKeys.FETCH,
    "version": 11,
    "request_bytes": 10,
    "response_bytes": 20,
    "correlation_id": 1,
    "errors": (),
    "latency_us": 100,
    "outcome": "answered",
    "highest": 18,
    "request": None,
    "response": None,
}


def row(**changes: Any) -> tuple[Any, ...]:
    """One of them, with these values changed."""
    return tuple({**ROW, **changes}[name] for name in capture.FIELDS)
