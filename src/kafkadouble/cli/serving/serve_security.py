"""The options --security, --user, --users-file, --oauthbearer, --certificate, --acl and
--super-user of `kafkadouble serve`, combined with the same settings of a scenario."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.access.client_access import ClientAccess, with_scenario
from kafkadouble.access.users import users_of_options
from kafkadouble.server.configs.listeners import LISTENERS, MAP
from kafkadouble.server.configs.settings import Given
from kafkadouble.server.requests.listener_spec import WITH_SASL

from .starting import MORE_USERS

if TYPE_CHECKING:
    from kafkadouble.scenario.scenario import Scenario


WORDS = {
    "security": "--security",
    "certificate": "--certificate",
    "users": "--user",
    "oauthbearer": "--oauthbearer",
    "acls": "--acl",
    "super_users": "--super-user",
}
"""A parameter of KafkaDouble -> the option of `kafkadouble serve`."""


def access_of(options: argparse.Namespace, scenario: Scenario | None, given: Sequence[Given]) -> ClientAccess:
    """The users and their ACLs. The environment variable for users is read only if a listener uses
    SASL. Raises UsageError."""
    protocol = options.security or (scenario and scenario.security)
    has_sasl = protocol in WITH_SASL or any(name in (LISTENERS, MAP) and "SASL_" in text for _, name, text in given)
    of_environment = os.environ.get(MORE_USERS, "") if has_sasl else ""
    has_users = options.user or options.users_file or of_environment
    users = users_of_options(options.user, options.users_file, of_environment) if has_users else None
    acls, super_users = options.acl or None, options.super_user or None
    of_options = ClientAccess(options.security, options.certificate, users, acls, super_users, options.oauthbearer)
    access = with_scenario(of_options, scenario and scenario.access, WORDS)
    access.creations()
    return access
