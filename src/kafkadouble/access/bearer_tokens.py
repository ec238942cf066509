"""`KafkaDouble(oauthbearer=...)`: how brokers check bearer tokens, and tokens for tests.

    unsecured     as Kafka does by default: any client can make such a token
    signed        tokens of an issuer that the double has, with a JWK set and a token endpoint
    any           every token is accepted as it is, such as one of AWS MSK IAM
    a function    it gets the text of a token, and returns the name of the principal; None refuses

Rules. It only makes settings of Kafka, and the function for them. An exception of the function
refuses the token, and is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.arguments.parameters import TOKENS
from kafkadouble.common.errors import UsageError
from kafkadouble.common.literals import TokenKind
from kafkadouble.server.configs.listener_settings import prefix_of
from kafkadouble.server.security.sasl.bearer_validators import OF_PROGRAM, PACKAGE, SIGNED
from kafkadouble.server.security.sasl.listener_mechanisms import CALLBACKS
from kafkadouble.server.security.sasl.mechanisms import OAUTHBEARER
from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck, TokenRefused, claims_of, unsecured_token
from kafkadouble.wire.client_log import ClientLog

if TYPE_CHECKING:
    from .token_issuer import TokenIssuer

ANONYMOUS = "ANONYMOUS"
LIFETIME_MS = 3_600_000
MOST_ERRORS = 100

log = ClientLog("kafkadouble.oauthbearer")


class BearerTokens:
    """UsageError for another kind, and for `signed` without the extra `kafkadouble[security]`."""

    def __init__(self, given: TokenKind | TokenCheck) -> None:
        if not callable(given) and given not in TOKENS:
            raise UsageError(f"oauthbearer is {given!r}: there are {', '.join(TOKENS)}, or a function of a token")
        self._given = given
        self.errors: list[BaseException] = []
        """The exceptions of the function, at most `MOST_ERRORS`."""
        self.issuer: TokenIssuer | None = None
        if given == "signed":
            from .token_issuer import TokenIssuer  # needs an extra

            self.issuer = TokenIssuer()

    @property
    def check(self) -> TokenCheck | None:
        """The function with which brokers check tokens, if one does."""
        return self._checked if callable(self._given) else _named_by_token if self._given == "any" else None

    def _checked(self, token: str) -> str | None:
        assert callable(self._given)
        try:
            name = self._given(token)
            if name is not None and not isinstance(name, str):
                raise UsageError(f"the function of oauthbearer returns the name of a principal or None, not {name!r}")
        except Exception as error:  # of a function of the application
            log.warning("a token is refused, since the function of oauthbearer raised %r", error)
            if len(self.errors) < MOST_ERRORS:
                self.errors.append(error)
            return None
        return name

    def config(self, listeners: Sequence[str]) -> dict[str, str]:
        """Kafka's settings for these listeners."""
        if self._given == "unsecured":
            return {}
        name = OF_PROGRAM if self.issuer is None else f"{PACKAGE}.{SIGNED}"
        found = {f"{prefix_of(listener)}{OAUTHBEARER.lower()}.{CALLBACKS}": name for listener in listeners}
        return found if self.issuer is None else found | self.issuer.config()

    def token(self, user: str, now_ms: int, lifetime_ms: int = LIFETIME_MS, claims: Mapping[str, Any] = {}) -> str:
        """A token of this user: one of the issuer, else one without a signature. `claims` are more
        claims, and override those that every token has. UsageError."""
        now_s = now_ms // 1000
        if self.issuer is None:
            return unsecured_token({"sub": user, **claims}, now_s, lifetime_ms // 1000)
        times = {"iat": now_s, "exp": now_s + lifetime_ms // 1000}
        return self.issuer.token({"sub": user, **times, **claims})

    def close(self) -> None:
        """Removes the files of the issuer."""
        if self.issuer is not None:
            self.issuer.close()

    def __repr__(self) -> str:
        return f"tokens checked by {self._given!r}"


def _named_by_token(token: str) -> str:
    """The claim `sub` of a JWT, whatever signed it; other tokens name no user."""
    try:
        name = claims_of(token).get("sub")
    except TokenRefused:
        return ANONYMOUS
    return name if isinstance(name, str) and name.strip() else ANONYMOUS
