"""Which APIs a broker announces, by name: what is not announced cannot be asked for, and what needs it is not offered."""

from __future__ import annotations

from collections.abc import Mapping

from interop.local.identity import identity
from kafkadouble.messages.registry import apis


def versions(bootstrap: str) -> Mapping[str, tuple[int, int]]:
    """The first and the last version of each API of the first of these addresses, by name."""
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    announced = identity(host, int(port)).versions
    return {api.name: announced[api.key] for api in apis() if api.key in announced}


def served(bootstrap: str) -> frozenset[str]:
    """The names alone."""
    return frozenset(versions(bootstrap))
