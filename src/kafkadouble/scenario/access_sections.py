"""The sections of a scenario that say who the clients are, and what they may do: the arguments
`security`, `certificate`, `users`, `oauthbearer`, `acls` and `super_users` of a KafkaDouble.

No error shows a password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.access.acls import AclBinding
from kafkadouble.access.client_access import ClientAccess
from kafkadouble.access.security import SECURE, check_words
from kafkadouble.access.users import checked_users
from kafkadouble.arguments.parameters import ARGUMENTS, PRINCIPAL, check_one
from kafkadouble.common.errors import UsageError
from kafkadouble.verbs.forms.json_form import acl_from_json

from .calls import items_of, located
from .files.document import ScenarioDocument, ValuePath


def protocol_of(document: ScenarioDocument, path: ValuePath, value: Any) -> str:
    """The section `security`."""
    if value not in SECURE:
        raise document.problem(path, f"security is {value!r}: there are {', '.join(SECURE)}")
    return str(value)


def certificate_of(document: ScenarioDocument, path: ValuePath, value: Any) -> str:
    """The section `certificate`."""
    with located(document, path):
        check_one("certificate", ARGUMENTS["certificate"], value)
    return str(value)


def users_of(document: ScenarioDocument, path: ValuePath, value: Any) -> dict[str, str]:
    """The section `users`."""
    if not isinstance(value, Mapping) or not value:
        raise document.problem(path, "users has a password for each name, such as {alice: secret}")
    for name, password in value.items():
        with located(document, (*path, name)):
            checked_users({name: password})
    return dict(value)


def tokens_of(document: ScenarioDocument, path: ValuePath, value: Any) -> str:
    """The section `oauthbearer`."""
    with located(document, path):
        check_one("oauthbearer", ARGUMENTS["oauthbearer"], value)
    return str(value)


def acls_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[AclBinding | str, ...]:
    """The section `acls`."""
    found = []
    for at, item in items_of(document, path, value):
        with located(document, at):
            acl = acl_from_json(item)
            if not isinstance(acl, str | AclBinding):
                raise UsageError(f"an ACL is a text or a mapping with {', '.join(AclBinding._fields)}, not {item!r}")
        found.append(acl)
    return tuple(found)


def super_users_of(document: ScenarioDocument, path: ValuePath, value: Any) -> tuple[str, ...]:
    """The section `super_users`."""
    found = []
    for at, item in items_of(document, path, value):
        with located(document, at):
            check_one("a super user", PRINCIPAL, item)
        found.append(item)
    return tuple(found)


def access_of(document: ScenarioDocument, sections: Mapping[str, Any]) -> ClientAccess:
    """The access that these sections give; None for a missing one. Raises UsageError for what
    cannot be together."""
    arguments = {name: value for name, value in sections.items() if value is not None}
    if (protocol := sections["security"]) is not None:
        with located(document, ("users",)):
            check_words([protocol], sections["users"], None)
        with located(document, ("certificate",)):
            check_words([protocol], None, sections["certificate"])
        with located(document, ("oauthbearer",)):
            check_words([protocol], None, None, sections["oauthbearer"])
    return ClientAccess(**arguments, places={name: document.where((name,)) for name in arguments})
