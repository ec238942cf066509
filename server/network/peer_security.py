"""How a node secures its connections to other nodes: by the listener that they go to.

Rules. To brokers this is `inter.broker.listener.name`, or `security.inter.broker.protocol`; to
controllers the first of `controller.listener.names`. The settings of that listener count, so that a
node shows other nodes the certificate that it also shows its clients there, and logs in by the same
`sasl.jaas.config`. Nodes of one process need none of this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..configs.listeners import controller_listener_names, inter_broker_listener_name, security_protocols
from ..configs.settings import Settings
from ..requests.listener_spec import PROTOCOLS, WITH_SASL, WITH_TLS

if TYPE_CHECKING:
    import ssl

    from ..client.steps import Steps

log = ClientLog("kafkadouble.server.network")

Login = Callable[[], "Steps[float | None]"]
"""Begins the login on one connection; the result is the seconds after which it is replaced."""


class PeerSecurity(NamedTuple):
    """Of the connections to one listener. `login` begins on each new connection, after
    ApiVersions."""

    context: ssl.SSLContext | None = None
    login: Login | None = None


PLAINTEXT = PeerSecurity()


def peer_listener(settings: Settings, is_to_controllers: bool) -> tuple[str, str]:
    """The listener that connections to controllers, or to brokers, go to: its name and its security
    protocol."""
    if is_to_controllers:
        name = controller_listener_names(settings)[0]
    else:
        name = inter_broker_listener_name(settings)
    return name, security_protocols(settings).get(name, PROTOCOLS[0])


def peer_security(settings: Settings, is_to_controllers: bool, before: PeerSecurity | None = None) -> PeerSecurity:
    """The security of connections to controllers, or to brokers. Settings that cannot be used any
    more, since a file is gone, leave it as it was `before`. UsageError without that."""
    name, protocol = peer_listener(settings, is_to_controllers)
    if protocol == PROTOCOLS[0]:
        return PLAINTEXT
    try:
        return PeerSecurity(
            _context(settings, name) if protocol in WITH_TLS else None,
            _login(settings, name, is_to_controllers) if protocol in WITH_SASL else None,
        )
    except UsageError as problem:
        if before is None:
            raise
        log.warning("connections to other nodes keep their certificates and logins: %s", problem)
        return before


def _context(settings: Settings, listener: str) -> ssl.SSLContext:
    from ..security.tls.contexts import client_context

    return client_context(settings, listener)


def _login(settings: Settings, listener: str, is_to_controllers: bool) -> Login:
    from .peer_login import login_to

    return login_to(settings, listener, is_to_controllers)
