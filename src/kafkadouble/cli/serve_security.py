"""The options --security, --user, --users-file, --certificate, --acl and --super-user of
`kafkadouble serve`, with what a scenario says of the same."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.server.configs.settings import Given, as_text
from kafkadouble.server.requests.listener_spec import WITH_SASL

from ..access import ClientAccess, with_scenario
from ..errors import UsageError
from ..security import Security
from ..users import MORE_USERS, users_of_options
from .serve import DEFAULT_HOST, DEFAULT_PORT

if TYPE_CHECKING:
    from ..scenario.scenario import Scenario


WORDS = {
    "security": "--security",
    "certificate": "--certificate",
    "users": "--user",
    "acls": "--acl",
    "super_users": "--super-user",
}
"""The options, by the names of a program."""


def access_of(options: argparse.Namespace, scenario: Scenario | None) -> ClientAccess:
    """Who the clients are, and what they may do. UsageError."""
    protocol = options.security or (scenario and scenario.security)
    has_users = options.user or options.users_file or (protocol in WITH_SASL and os.environ.get(MORE_USERS))
    users = users_of_options(options.user, options.users_file) if has_users else None
    given = ClientAccess(options.security, options.certificate, users, options.acl or None, options.super_user or None)
    return with_scenario(given, scenario, WORDS)


def security_of(options: argparse.Namespace) -> Security:
    """The security, with certificates for the addresses of the options. UsageError."""
    hosts = [options.host, options.advertised and options.advertised[0]]
    security: Security | None = options.access.made_security([host for host in hosts if host])
    assert security is not None
    return security


def with_security(options: argparse.Namespace, security: Security, given: Sequence[Given]) -> list[Given]:
    """The settings of the security, and those that were given, which win. UsageError when these
    have listeners, too."""
    for place, name, _ in given:
        if name == "listeners":
            raise UsageError(f"{place}: --security gives the broker its listener, and listeners does so, too")
    port = DEFAULT_PORT if options.port is None else options.port
    own = security.only_listener(options.host or DEFAULT_HOST, port)
    return [*(("--security", name, as_text(value)) for name, value in own.items()), *given]
