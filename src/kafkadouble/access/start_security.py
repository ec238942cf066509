"""Gives brokers the users and the certificate with which a double starts."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from kafkadouble.brokers import broker_settings
from kafkadouble.server.configs.alter import Resource

from .users import check_results, scram_requests

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

    from .security import Security


async def begin(broker: ClusterApi, security: Security, random: Random) -> None:
    """Restores the users and the certificate of the start. UsageError if
    the cluster refuses a user."""
    security.begin()
    # The requests are sent before the loop serves a client.
    sent = [broker.ask(request) for request in scram_requests(security.users, random)] if security.users else []
    for each in sent:
        check_results(await _answer(each))
    for member in broker.members:
        changed = broker.image.config_overrides(Resource.BROKER, str(member.node.id))
        if names := [name for name in changed if name in security.changeable]:
            broker_settings.accept_any_certificate(member)
            request = broker_settings.to_delete(member.node.id, names)
            broker_settings.check_results(await _answer(broker.ask(request, member)))


async def _answer(sent: Any) -> Any:
    """The answer of the brokers. A cancelled wait does not cancel the request."""
    return await asyncio.shield(asyncio.wrap_future(sent))
