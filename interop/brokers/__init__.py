"""The brokers that the suite can be pointed at: one file per kind, and what each kind can do beyond Kafka's protocol.

A broker is named by a word of `--broker`: a kind of `KINDS`, or HOST:PORT of one that runs already. Another kind is one more file with a
function that yields a Broker, and one line in the table; what it needs and does not find, it says by Unavailable.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

from .address import at_address
from .broker import CAPABILITIES, Broker, Server, Unavailable, Wanted
from .container import container
from .double import double
from .local import local

__all__ = ["CAPABILITIES", "KINDS", "Broker", "Kind", "Server", "Unavailable", "Wanted", "kind_of"]


class Kind(NamedTuple):
    """How a broker is had, and whether one is dear enough to be kept for a whole session."""

    opened: Callable[[Wanted], AbstractContextManager[Broker]]
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
