"""How this node secures its connections to other nodes: TLS, and a login by SASL."""

from __future__ import annotations

from typing import NamedTuple

from ..security.sasl.node_login import NodeLogin


class PeerSecurity(NamedTuple):
    """`context` is that of TLS, None without it; `login` is that of SASL, None without it."""

    context: object | None = None
    login: NodeLogin | None = None


NO_SECURITY = PeerSecurity()
