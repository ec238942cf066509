"""The configurations of a broker or controller: all of Kafka 4.4's, by subject in `broker_*.py`.

A name may carry the prefix of a listener: `listener.name.internal.ssl.keystore.type` is `ssl.keystore.type` for one listener.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from . import broker_logs, broker_network, broker_quorum
from .definition import Config
from .table import Table

LISTENER_PREFIX = "listener.name."
OF_ONE_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Configurations that a listener has for each SASL mechanism: `listener.name.internal.plain.sasl.jaas.config`."""


ALWAYS = (broker_quorum, broker_network, broker_logs)
"""What every node asks for when it starts."""

PERHAPS = ("groups", "replication", "transactions", "sharing", "quotas", "sasl", "tls", "oauth", "remote")
"""What is not read before somebody asks for it."""


def _load() -> Iterator[str]:
    """The rows by subject."""
    for module in ALWAYS:
        yield module.ROWS
    for subject in PERHAPS:
        yield str(import_module(f"{__package__}.broker_{subject}").ROWS)


def _load_own() -> Iterator[str]:
    from . import own

    yield own.BROKER_ROWS


BROKER = Table(_load)
OWN = Table(_load_own)
"""What a node takes that Apache Kafka does not know. It is described nowhere, so that a node looks as in Kafka."""


def base_name(name: str) -> str | None:
    """What stands behind the prefix of a listener, and of a mechanism; None without such a prefix."""
    rest = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    if not name.startswith(LISTENER_PREFIX) or not rest:
        return None
    return next((single for single in OF_ONE_MECHANISM if rest.endswith(single)), rest)


def broker_config(name: str) -> Config | None:
    """The configuration that a name means, with a listener's prefix or without."""
    return BROKER.get(name) or BROKER.get(base_name(name) or "") or OWN.get(name)
