"""Kinds of brokers that the suite can test: one file per kind, and what each kind can do beyond
Kafka's protocol.

A word of `--broker` names a broker: either a kind of `KINDS`, or HOST:PORT of a running broker. A
new kind is a file with a function that yields a Broker, and a line in the table. The function
raises Unavailable if something that it needs is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from .address import at_address
from .broker import CAPABILITIES, Broker, BrokerRequirements, Server, Unavailable
from .container import container
from .double import double
from .local import local

__all__ = ["CAPABILITIES", "KINDS", "Broker", "BrokerRequirements", "Kind", "Server", "Unavailable", "kind_of"]


class Kind(NamedTuple):
    """How a broker is made, and whether starting one is so slow that it is kept for the whole
    session."""

    opened: Callable[[BrokerRequirements], AbstractContextManager[Broker]]
    kept: bool


KINDS = {
    "double": Kind(double, kept=False),
    "local": Kind(local, kept=True),
    "container": Kind(container, kept=True),
}


def kind_of(word: str) -> Kind:
    """The kind of broker that a word of `--broker` names."""
    if word in KINDS:
        return KINDS[word]
    host, colon, port = word.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise ValueError(f"--broker {word}: neither HOST:PORT nor one of {', '.join(KINDS)}")
    return Kind(partial(at_address, host, int(port)), kept=True)
