"""The users of a double and their rights, as a program, a command line or a scenario gives them.

    KafkaDouble(security="SASL_SSL", users={"alice": "secret"}, acls=[])

Rules. The names are the same in all three. Each of them is given once: a scenario may name the
protocol, and a program the users. With `acls`, also without any in it, or with `super_users`, the
brokers check ACLs. No error shows a password.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.common.errors import UsageError

if TYPE_CHECKING:
    from kafkadouble.common.literals import TokenKind
    from kafkadouble.messages.generated.create_acls import CreateAclsRequest
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck

    from .acls import AclBinding

NAMES = ("security", "certificate", "users", "oauthbearer", "acls", "super_users")


class ClientAccess(NamedTuple):
    """None is what is not given. `places` has FILE:LINE:COLUMN of what a scenario gives."""

    security: str | Mapping[str, str] | None = None
    certificate: str | None = None
    users: Mapping[str, str] | None = None
    acls: Iterable[AclBinding | str] | None = None
    super_users: Iterable[str] | None = None
    oauthbearer: TokenKind | TokenCheck | None = None
    places: Mapping[str, str] = {}

    @property
    def given(self) -> dict[str, Any]:
        """The arguments that are not None, by name."""
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}

    @property
    def is_secured(self) -> bool:
        """Whether listeners have TLS or SASL, or something is given that needs them."""
        return any(each is not None for each in (self.security, self.certificate, self.users, self.oauthbearer))

    @property
    def checks_acls(self) -> bool:
        """Whether clients may do only what an ACL allows."""
        return self.acls is not None or bool(self.super_users)

    def creations(self) -> list[CreateAclsRequest.AclCreation]:
        """The ACLs as CreateAcls has them. UsageError."""
        if self.acls is None:
            return []
        from .acls import checked_acls  # with ACLs alone

        return checked_acls(self.acls)

    def __repr__(self) -> str:
        return f"access by {', '.join(self.given) or 'nothing'}"


def with_scenario(access: ClientAccess, own: ClientAccess | None, names: Mapping[str, str] = {}) -> ClientAccess:
    """The access that a program and its scenario, if it has one, give together. UsageError for what
    both give. `names` are the words of the program, where they are others."""
    if own is None:
        return access
    for name in access.given:
        if name in own.given:
            raise UsageError(f"{own.places[name]}: {names.get(name, name)} is given, too: give it once")
    return ClientAccess(**{**access.given, **own.given}, places=own.places)
