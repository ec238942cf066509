"""The login of this node on a connection to another node (KIP-43, KIP-152, KIP-368).

Rules. A refusal is a BadPeer, so that the connection is tried again after a backoff. A session that
ends is not renewed: before its end the connection is replaced by another.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kafkadouble.messages import error_codes
from kafkadouble.wire.errors import UsageError

from ..client.client_connection import BadPeer
from ..client.sasl_login import CredentialsRefused, MechanismRefused, sasl_login
from ..client.steps import Steps
from ..configs.settings import Settings
from ..security.sasl.exchange import ServerNotTrusted
from ..security.sasl.node_login import NodeLogin, node_login


def login_to(settings: Settings, listener: str, is_to_controllers: bool) -> Callable[[], Steps[float | None]]:
    """What logs in on new connections to this listener. UsageError for settings that cannot be."""
    login = node_login(settings, listener, to_controllers=is_to_controllers)
    return lambda: _steps(login)


def _steps(login: NodeLogin) -> Steps[float | None]:
    """The steps on one connection, and after how many seconds it is to be replaced."""
    try:
        return (yield from sasl_login(login.mechanism, lambda: login.begin(time.time())))
    except MechanismRefused as refused:
        raise BadPeer(f"it takes no {login.mechanism}: {error_codes.name(refused.code)}") from None
    except CredentialsRefused as refused:
        raise BadPeer(f"it refuses the {login!r}: {refused.message or error_codes.name(refused.code)}") from None
    except (ServerNotTrusted, UsageError) as problem:
        raise BadPeer(f"the {login!r} fails: {problem}") from None
