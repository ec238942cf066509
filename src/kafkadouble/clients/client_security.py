"""The security settings of a client of one listener: the address, the protocol, the
authority that it trusts, and what authenticates a user.

Rules. Without a listener it is the first one; with a user or a mechanism, the first on which that
can authenticate. The protocol is that of the listener, whether `security` or the settings give it.
A user of SASL is one of `users`, or of the settings for PLAIN. For OAUTHBEARER every name is a user
and gets a token of the double's issuer if there is one, else an unsecured one, as Kafka's own login
module makes for tests; tokens that are signed by others cannot be made here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.access.security import Security
from kafkadouble.common.errors import UsageError
from kafkadouble.common.start_options import SECURITY
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.listener_settings import prefix_of
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.security.sasl import jaas, plain
from kafkadouble.server.security.sasl.bearer_validators import UNSECURED
from kafkadouble.server.security.sasl.listener_mechanisms import CALLBACKS, enabled_names
from kafkadouble.server.security.sasl.mechanisms import MECHANISMS, OAUTHBEARER, PLAIN
from kafkadouble.server.security.sasl.oauth_bearer import unsecured_token
from kafkadouble.wire.wording import ShownValue

if TYPE_CHECKING:
    from kafkadouble.access.certificates import Certificates

TOKEN_LIFETIME_S = 3600
ANY_SECRET = "secret"


class ListenerAccess(NamedTuple):
    """The listeners for clients, the settings of their broker, and the security that was made for
    them. `now` is the time of the double (ms)."""

    listeners: Sequence[ListenerSpec]
    settings: Layers
    security: Security | None
    now: int


class SaslLogin(NamedTuple):
    """The login of a user. For OAUTHBEARER `password` is a token; with `secret` a client gets a
    signed one itself."""

    mechanism: str
    name: str
    password: str
    secret: str = ""

    @property
    def is_signed(self) -> bool:
        """Whether the token is one of the issuer."""
        return bool(self.secret)

    def __repr__(self) -> str:
        return f"{self.name} by {self.mechanism}"


class ClientSecurity(NamedTuple):
    """The security settings of a client. `authority_file` is empty without TLS, or with
    certificates of the settings, `key_file` without the certificate of a user. With `contents` a
    client gets PEM in place of names of files. `token_endpoint` is for clients that get signed
    tokens themselves."""

    listener: str
    protocol: str
    bootstrap: str = ""
    authority_file: str = ""
    key_file: str = ""
    login: SaslLogin | None = None
    contents: bool = False
    token_endpoint: str = ""


def client_security(
    access: ListenerAccess, user: str | None, mechanism: str | None, listener: str | None
) -> ClientSecurity:
    """The security settings of a client of a listener, without the address. Raises UsageError for
    an unknown listener or mechanism, and for a user that cannot authenticate."""
    if mechanism is not None and mechanism not in MECHANISMS:
        raise UsageError(f"mechanism is {mechanism!r}: there are {', '.join(MECHANISMS)}")
    spec = _listener(access, user, mechanism, listener)
    found = ClientSecurity(spec.name, spec.security_protocol)
    if (certificates := _certificates(access, spec)) is not None:
        found = found._replace(authority_file=str(certificates.authority_file))
        if user is not None and not spec.has_sasl:
            return found._replace(key_file=str(certificates.of_user(user)))
    if not spec.has_sasl:
        return found
    enabled = enabled_names(access.settings, spec.name)
    chosen = mechanism or (PLAIN if PLAIN in enabled else enabled[0])
    return found._replace(login=_login(access, spec.name, user, chosen))


def _listener(access: ListenerAccess, user: str | None, mechanism: str | None, name: str | None) -> ListenerSpec:
    """The listener of this name, or the first one that fits. UsageError."""
    named = [listener for listener in access.listeners if name is None or listener.name == name.upper()]
    if not named:
        raise UsageError(
            f"there is no listener {name!r}; there are {', '.join(listener.name for listener in access.listeners)}"
        )
    if mechanism is not None:
        fitting = [each for each in named if each.has_sasl]
        why = f"mechanism is {mechanism!r}, and the listeners have no SASL"
    elif user is not None:
        fitting = [each for each in named if each.has_sasl or _certificates(access, each) is not None]
        protocols = ", ".join(dict.fromkeys(each.security_protocol for each in named))
        why = f"user {user!r} cannot authenticate: the listeners are {protocols}; give {{option}}"
    else:
        return named[0]
    if not fitting:
        raise UsageError(why, option=SECURITY)
    return fitting[0]


def _certificates(access: ListenerAccess, spec: ListenerSpec) -> Certificates | None:
    """The certificates that were made for a listener."""
    is_ours = access.security is not None and spec.name in access.security.with_certificate
    return access.security.certificates if access.security is not None and is_ours else None


def _login(access: ListenerAccess, listener: str, user: str | None, mechanism: str) -> SaslLogin:
    if mechanism == OAUTHBEARER:
        return _token(access, listener, user)
    users = _users(access, listener)
    if user is None or user not in users:
        raise UsageError("user is {user}: there are {users}", user=ShownValue(user), users=", ".join(users) or "none")
    return SaslLogin(mechanism, user, users[user])


def _users(access: ListenerAccess, listener: str) -> Mapping[str, str]:
    """The users of a listener, with their passwords, as far as the double knows them."""
    if access.security is not None and access.security.users:
        return access.security.users
    login = access.settings.texts.get(f"{prefix_of(listener)}{PLAIN.lower()}.sasl.jaas.config")
    return {} if login is None else plain.users_of(jaas.parse(login).options)


def _token(access: ListenerAccess, listener: str, user: str | None) -> SaslLogin:
    if user is None:
        raise UsageError("user is {none}: with OAUTHBEARER give the name of the principal", none=ShownValue(None))
    if access.security is not None and (tokens := access.security.tokens) is not None:
        secret = "" if tokens.issuer is None else access.security.users.get(user, ANY_SECRET)
        return SaslLogin(OAUTHBEARER, user, tokens.token(user, access.now), secret)
    callback = access.settings.texts.get(f"{prefix_of(listener)}{OAUTHBEARER.lower()}.{CALLBACKS}", UNSECURED)
    if not callback.endswith(UNSECURED):
        raise UsageError(f"listener {listener} takes signed tokens only: give the client one of your issuer")
    return SaslLogin(OAUTHBEARER, user, unsecured_token({"sub": user}, access.now // 1000, TOKEN_LIFETIME_S))
