"""The users of a double: those of the start, and those that a snapshot brings back."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from kafkadouble.access.start_security import begin
from kafkadouble.access.users import changed_users

if TYPE_CHECKING:
    from kafkadouble.access.security import Security
    from kafkadouble.engine.cluster_api import ClusterApi

    from .host import Host


def begin_security(host: Host, security: Security) -> None:
    """Restores the users and the certificate of the start."""
    running = host.known()
    running.thread.run(with_users(running.broker, security, host.seed))


async def with_users(broker: ClusterApi, security: Security, seed: int | None) -> None:
    """Gives brokers the users and the certificate of the start."""
    await begin(broker, security, Random(seed))


def were_restored(host: Host, security: Security) -> None:
    """The users are those of a snapshot, which the brokers have."""
    if security.has_sasl:
        broker = host.serving().broker
        security.begin()
        found = host.call(lambda: [users for member in broker.members if (users := changed_users(member))])
        security.users = found[0] if found else security.users
