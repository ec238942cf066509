"""The authentication of both ends: TLS and SASL, by Kafka's settings."""

from __future__ import annotations

from .sasl import login
from .tls import secured

__all__ = ["login", "secured"]
