"""The client libraries, each in one shape, so that a test is written once for all of them."""

from __future__ import annotations

from . import aio, confluent, python
from .shape import Client

CLIENTS: list[Client] = [python.CLIENT, aio.CLIENT, confluent.CLIENT]

CREATOR: Client = confluent.CLIENT
"""The client that prepares what a test of another client needs."""

__all__ = ["CLIENTS", "CREATOR", "Client"]
