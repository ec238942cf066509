"""Which APIs a broker announces, by name: what is not announced cannot be asked for, and what needs it is not offered."""

from __future__ import annotations

from interop.local.identity import identity
from kafkadouble.messages.registry import apis


def served(bootstrap: str) -> frozenset[str]:
    """The names of the APIs of the first of these addresses."""
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    announced = identity(host, int(port)).versions
    return frozenset(api.name for api in apis() if api.key in announced)
