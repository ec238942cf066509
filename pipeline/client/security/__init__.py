"""The authentication of both ends: TLS and SASL, by Kafka's settings."""

from __future__ import annotations

from .sasl import authenticate
from .tls import secured

__all__ = ["authenticate", "secured"]
