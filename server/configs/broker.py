"""The configurations of a broker or controller: all of Kafka 4.4's, by subject in `broker_*.py`.

A name may carry the prefix of a listener: `listener.name.internal.ssl.keystore.type` is `ssl.keystore.type` for one listener.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def _load() -> Iterator[str]:
    """The rows by subject: what every node asks for first, the rest perhaps never."""
    from . import broker_quorum

    yield broker_quorum.ROWS
    from . import broker_network

    yield broker_network.ROWS
    from . import broker_logs

    yield broker_logs.ROWS
    from . import broker_groups

    yield broker_groups.ROWS
    from . import broker_replication

    yield broker_replication.ROWS
    from . import broker_transactions

    yield broker_transactions.ROWS
    from . import broker_sharing

    yield broker_sharing.ROWS
    from . import broker_quotas

    yield broker_quotas.ROWS
    from . import broker_sasl

    yield broker_sasl.ROWS
    from . import broker_tls

    yield broker_tls.ROWS
    from . import broker_oauth

    yield broker_oauth.ROWS
    from . import broker_remote

    yield broker_remote.ROWS


BROKER = Table(_load)


def base_name(name: str) -> str | None:
    """What stands behind the prefix of a listener, and of a mechanism; None without such a prefix."""
    rest = name.removeprefix(LISTENER_PREFIX).partition(".")[2]
    if not name.startswith(LISTENER_PREFIX) or not rest:
        return None
    return next((single for single in OF_ONE_MECHANISM if rest.endswith(single)), rest)


def broker_config(name: str) -> Config | None:
    """The configuration that a name means, with a listener's prefix or without."""
    return BROKER.get(name) or BROKER.get(base_name(name) or "")
