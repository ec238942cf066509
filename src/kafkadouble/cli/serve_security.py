"""The options --security, --user, --users-file and --certificate of `kafkadouble serve`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kafkadouble.server.configs.settings import Given, as_text

from ..errors import UsageError
from ..security import Security
from ..users import users_of_options
from .serve import DEFAULT_HOST, DEFAULT_PORT


def security_of(options: argparse.Namespace) -> Security:
    """The security, with certificates for the addresses of the options. UsageError."""
    hosts = [options.host, options.advertised and options.advertised[0]]
    users = users_of_options(options.user, options.users_file) if options.user or options.users_file else None
    return Security(options.security, users, options.certificate, filter(None, hosts))


def with_security(options: argparse.Namespace, security: Security, given: Sequence[Given]) -> list[Given]:
    """The settings of the security, and those that were given, which win. UsageError when these
    have listeners, too."""
    for place, name, _ in given:
        if name == "listeners":
            raise UsageError(f"{place}: --security gives the broker its listener, and listeners does so, too")
    port = DEFAULT_PORT if options.port is None else options.port
    own = security.only_listener(options.host or DEFAULT_HOST, port)
    return [*(("--security", name, as_text(value)) for name, value in own.items()), *given]
