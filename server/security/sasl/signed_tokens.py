"""OAUTHBEARER with signed tokens: what Kafka's OAuthBearerValidatorCallbackHandler checks (KIP-768,
KIP-1139).

Rules, which are those of Kafka's BrokerJwtValidator.
- The signature is that of a key of the JWK set, by an asymmetric algorithm.
- `exp` and `iat` must be there, and `exp` not before `iat` or `nbf`. A token is valid from `nbf` to
  `exp`, with the skew of the clocks allowed. `iat` may be in the future.
- Audience and issuer are those of the settings, unless the settings say that they go unchecked.
- The principal is a text that is not blank. Scopes are texts, not blank, none of them twice.

The library PyJWT checks signature, audience and issuer. Times are checked here, against the time of
the node. A reason never has a part of the token.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from kafkadouble.wire.errors import UsageError

from .json_web_keys import ALGORITHMS, JsonWebKey, KeySource, key_for
from .oauth_bearer import BearerToken, TokenRefused

URL, VALIDATOR = "sasl.oauthbearer.jwks.endpoint.url", "sasl.oauthbearer.jwt.validator.class"
AUDIENCE, ISSUER = "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.expected.issuer"
ANY_AUDIENCE = "sasl.oauthbearer.allow.unverified.audience"
ANY_ISSUER = "sasl.oauthbearer.allow.unverified.issuer"
SKEW = "sasl.oauthbearer.clock.skew.seconds"
SCOPE, PRINCIPAL = "sasl.oauthbearer.scope.claim.name", "sasl.oauthbearer.sub.claim.name"
VALIDATORS = ("DefaultJwtValidator", "BrokerJwtValidator")

REASONS = {
    "InvalidSignatureError": "the signature of the token is wrong",
    "InvalidAudienceError": "the token is for another audience",
    "InvalidIssuerError": "the token is of another issuer",
    "MissingRequiredClaimError": "the token has not every claim that it must have",
}
"""Why a token is refused, by the name of PyJWT's exception."""


class TokenRules(NamedTuple):
    """The claims that the settings of a listener require of a token."""

    source: KeySource
    audience: tuple[str, ...]
    issuer: str | None
    skew_s: int
    scope_claim: str
    principal_claim: str


def token_rules(value: Callable[[str], object], source: Callable[[str], KeySource]) -> TokenRules:
    """The rules that settings give. `source` gives the keys at a URL. UsageError for settings that
    Kafka refuses, or that cannot be used."""
    validator = str(value(VALIDATOR))
    if validator.rpartition(".")[2] not in VALIDATORS:
        raise UsageError(f"{VALIDATOR}: {validator} is not known; {' and '.join(VALIDATORS)} are")
    url, audience, issuer = value(URL), cast("tuple[str, ...]", value(AUDIENCE) or ()), value(ISSUER)
    for setting, given, unchecked in (
        (URL, url, None),
        (AUDIENCE, audience, ANY_AUDIENCE),
        (ISSUER, issuer, ANY_ISSUER),
    ):
        if not given and not (unchecked and value(unchecked)):
            rest = f", or {unchecked}=true" if unchecked else ""
            raise UsageError(f"{setting} is missing: signed tokens of OAUTHBEARER need it{rest}")
    names = [str(value(setting)).strip() for setting in (SCOPE, PRINCIPAL)]
    if not all(names):
        raise UsageError(f"{SCOPE if not names[0] else PRINCIPAL} is blank")
    try:
        import cryptography  # noqa: F401
        import h11  # noqa: F401  # for keys at a URL
        import jwt  # noqa: F401
    except ImportError:
        raise UsageError(
            "signed tokens of OAUTHBEARER are checked by the library PyJWT: pip install 'kafkadouble[security]'"
        ) from None
    return TokenRules(source(str(url)), audience, cast("str | None", issuer), cast(int, value(SKEW)), *names)


class SignedValidator:
    """Checks signed tokens. `now` gives the time (ms)."""

    def __init__(self, rules: TokenRules, now: Callable[[], int]) -> None:
        self._rules, self._now = rules, now

    def __call__(self, token: str) -> BearerToken:
        claims = self._verified(token)
        expires_at_s = self._check_times(claims)
        _check_scopes(claims.get(self._rules.scope_claim))
        name = claims.get(self._rules.principal_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefused("the token names no principal")
        return BearerToken(name.strip(), expires_at_s * 1000)

    def _verified(self, token: str) -> Mapping[str, Any]:
        """The claims of a token whose signature, audience and issuer are right."""
        import jwt

        rules = self._rules
        try:
            algorithm, key = self._key(jwt.get_unverified_header(token))
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[algorithm],
                audience=rules.audience or None,
                issuer=rules.issuer or None,
                options={
                    "require": ["exp", "iat"],
                    "verify_aud": bool(rules.audience),
                    "verify_iss": bool(rules.issuer),
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
            # A name that is twice in one object is refused, as Kafka's library does: other programs
            # may take the other value.
            for part in token.split(".")[:2]:
                json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)), object_pairs_hook=_once)
        except jwt.PyJWTError as problem:
            raise TokenRefused(REASONS.get(type(problem).__name__, "the token is no valid JWT")) from None
        except (ValueError, TypeError, RecursionError):
            raise TokenRefused("the token is no valid JWT") from None
        return claims

    def _key(self, header: Mapping[str, Any]) -> tuple[str, JsonWebKey]:
        """The algorithm that a token names, and the key for it."""
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
            raise TokenRefused("the algorithm of the token is not accepted")
        source, key_id = self._rules.source, header.get("kid")
        key = key_for(source.keys, algorithm, key_id)
        if key is None:
            source.key_is_missing(key_id, self._now())
            raise TokenRefused("the key of the token is not in the JWK set")
        return algorithm, key

    def _check_times(self, claims: Mapping[str, Any]) -> int:
        """When a token expires (s), if it is valid now."""
        expires, issued, begins = (_time_s(claims, name) for name in ("exp", "iat", "nbf"))
        now, skew = self._now() // 1000, self._rules.skew_s
        if expires is None or expires < 0 or issued is None or issued < 0:
            raise TokenRefused("the token has no time of issue or of expiry")
        if now - skew >= expires:
            raise TokenRefused("the token has expired")
        if begins is not None and now + skew < begins:
            raise TokenRefused("the token is not valid yet")
        if expires < issued or (begins is not None and expires < begins):
            raise TokenRefused("the token expires before it begins")
        return expires

    def __repr__(self) -> str:
        return f"validator of signed tokens with {len(self._rules.source.keys)} keys"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TokenRefused("a name is twice in the token")
    return found


def _time_s(claims: Mapping[str, Any], name: str) -> int | None:
    """A time of a token in whole seconds, such that it is within 64 bits in ms."""
    value = claims.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1 << 52:
        raise TokenRefused(f"the claim {name} of the token is no time")
    return int(value)


def _check_scopes(claim: object) -> None:
    """As Kafka does: a scope in one text counts as one."""
    given = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    scopes = [each.strip() for each in given if isinstance(each, str)]
    if len(scopes) < len(given) or not all(scopes) or len(set(scopes)) < len(scopes):
        raise TokenRefused("the scopes of the token are no texts, or blank, or there twice")
