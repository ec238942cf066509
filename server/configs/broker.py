"""The configurations of a broker or controller: all of Kafka 4.4's, by subject in `broker_*.py`.

A name can have the prefix of a listener: `listener.name.internal.ssl.keystore.type` is
`ssl.keystore.type` for one listener.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from . import broker_logs, broker_network, broker_quorum
from .definition import ConfigKey
from .table import ConfigDef

LISTENER_PREFIX = "listener.name."
OF_ONE_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Configurations that a listener has for each SASL mechanism:
`listener.name.internal.plain.sasl.jaas.config`.
"""
OF_OAUTHBEARER = ".sasl.oauthbearer."
"""The common prefix of all settings of the mechanism OAUTHBEARER, after its name."""


ALWAYS = (broker_quorum, broker_network, broker_logs)
"""The rows that every node reads when it starts."""

ON_DEMAND = ("groups", "replication", "transactions", "sharing", "quotas", "sasl", "tls", "oauth", "remote")
"""The subjects whose rows are imported when a name is not found in `ALWAYS`."""


def _load() -> Iterator[str]:
    """The rows by subject."""
    for module in ALWAYS:
        yield module.ROWS
    for subject in ON_DEMAND:
        yield str(import_module(f"{__package__}.broker_{subject}").ROWS)


def _load_own() -> Iterator[str]:
    from . import own

    yield own.BROKER_ROWS


BROKER = ConfigDef(_load)
OWN = ConfigDef(_load_own)
"""The configurations of a node that Apache Kafka does not have. DescribeConfigs never shows them,
so that a node looks as in Kafka.
"""


def base_name(name: str) -> str | None:
    """The name without the prefix of a listener and of a mechanism; None without such a prefix."""
    rest = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    if not name.startswith(LISTENER_PREFIX) or not rest:
        return None
    mechanism, found, own = rest.partition(OF_OAUTHBEARER)
    if found and "." not in mechanism:
        return OF_OAUTHBEARER[1:] + own
    return next((single for single in OF_ONE_MECHANISM if rest.endswith(single)), rest)


def broker_config(name: str) -> ConfigKey | None:
    """The configuration with this name, which may have the prefix of a listener."""
    return BROKER.get(name) or BROKER.get(base_name(name) or "") or OWN.get(name)
