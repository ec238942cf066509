"""The APIs that a broker announces, by name. A test that needs an API which is not announced is not
run."""

from __future__ import annotations

from collections.abc import Mapping

from interop.local.identity import identity
from kafkadouble.messages.registry import apis


def versions(bootstrap: str) -> Mapping[str, tuple[int, int]]:
    """The first and the last version of each API at the first of these addresses, by name."""
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    announced = identity(host, int(port)).versions
    return {api.name: announced[api.key] for api in apis() if api.key in announced}


def served(bootstrap: str) -> frozenset[str]:
    """The names alone."""
    return frozenset(versions(bootstrap))
