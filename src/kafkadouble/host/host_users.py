"""Restores the users of a double: after a reset to the users of the start, after a restore to the
users of the snapshot."""

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
    """Creates the users and the certificate of the start on the brokers."""
    await begin(broker, security, Random(seed))


def were_restored(host: Host, security: Security) -> None:
    """Updates the users from the brokers, which were restored from a snapshot."""
    if security.has_sasl:
        broker = host.serving().broker
        security.begin()
        users_by_member = host.call(lambda: [users for member in broker.members if (users := changed_users(member))])
        security.users = users_by_member[0] if users_by_member else security.users
