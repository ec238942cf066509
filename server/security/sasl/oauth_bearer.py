"""OAUTHBEARER: the client sends a token (RFC 7628, KIP-255).

Rules. A token that is not valid is no error of the first message: its answer is a text in JSON,
which the client answers with one byte; only then the authentication fails, with that text.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .exchange import Authenticated, ClientExchange, SaslFailure, ServerExchange, ServerNotTrusted

SEPARATOR = "\x01"
CONTINUED = b"\x01"
"""The message that the client sends after a text with an error."""

NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
PAIRS = r"(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*"
FIRST = re.compile(rf"n,(?:a=(?P<authorization_id>{NAME}))?,\x01(?P<pairs>{PAIRS})\x01")
AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)", re.ASCII)


class BearerToken(NamedTuple):
    """A valid token: the name of its principal, and when it expires (ms), if it does."""

    name: str
    expires_at: int | None


class TokenRefused(Exception):
    """A token is not valid. `scope` is what was required, if only that is missing."""

    def __init__(self, reason: str, scope: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.scope = reason, scope

    def as_json(self) -> str:
        """The text for the client, with Kafka's blanks."""
        if self.scope is None:
            return '{"status":"invalid_token"}'
        return f'{{"status":"insufficient_scope", "scope":"{self.scope}"}}'


Validator = Callable[[str], BearerToken]
"""Checks a token; it raises TokenRefused."""


def client_exchange(token: str) -> ClientExchange:
    """The client's half."""
    refused = yield f"n,,{SEPARATOR}auth=Bearer {token}{SEPARATOR}{SEPARATOR}".encode()
    if refused:
        yield CONTINUED
        raise ServerNotTrusted(f"it answers {refused[:200].decode('utf-8', 'replace')}")


def server_exchange(validator: Validator) -> ServerExchange:
    """The server's half."""
    message = yield b""
    while True:
        authorization_id, text = first_message(message.decode("utf-8", "replace"))
        try:
            token = validator(text)
        except TokenRefused as refused:
            message = yield refused.as_json().encode()
            if message == CONTINUED:
                raise SaslFailure(refused.as_json(), reason=refused.reason) from None
            continue
        if authorization_id not in ("", token.name):
            raise SaslFailure(
                f"Authentication failed: Client requested an authorization id ({authorization_id}) that is different"
                f" from the token's principal name ({token.name})"
            )
        return Authenticated(token.name, expires_at=token.expires_at)


def first_message(message: str) -> tuple[str, str]:
    """The authorization id and the token of the first message. SaslFailure."""
    found = FIRST.fullmatch(message)
    if found is None:
        raise SaslFailure(reason="the message is not one of OAUTHBEARER")
    pairs = dict(pair.split("=", 1) for pair in found["pairs"].split(SEPARATOR) if pair)
    auth = AUTH.fullmatch(pairs.get("auth", ""))
    if auth is None or auth["scheme"].lower() != "bearer":
        raise SaslFailure(reason="the message has no bearer token")
    return found["authorization_id"] or "", auth["token"]


TokenCheck = Callable[[str], str | None]
"""A function of the program: the name of a token's principal, or None to refuse it."""


class CheckedByProgram:
    """Tokens of any form, of which a function of the program says whose they are. They do not
    expire by themselves; `connections.max.reauth.ms` ends their sessions."""

    def __init__(self, check: TokenCheck) -> None:
        self._check = check

    def __call__(self, token: str) -> BearerToken:
        name = self._check(token)
        if not name:
            raise TokenRefused("the program refuses the token")
        return BearerToken(name, None)

    def __repr__(self) -> str:
        return f"validator of tokens by {self._check!r}"


class UnsecuredValidator:
    """Checks tokens without a signature, as Kafka's OAuthBearerUnsecuredValidatorCallbackHandler
    does: the times of a token, its principal and its scope. For tests only: any client can make
    such a token. `options` are those of the login module; `now` gives the time (ms)."""

    def __init__(self, options: Mapping[str, str], now: Callable[[], int]) -> None:
        self._principal_claim = self._option(options, "PrincipalClaimName") or "sub"
        self._scope_claim = self._option(options, "ScopeClaimName") or "scope"
        self._required = self._option(options, "RequiredScope").split()
        skew = self._option(options, "AllowableClockSkewMs")
        self._skew_ms, self._now = int(skew) if skew.isdecimal() else 0, now

    @staticmethod
    def _option(options: Mapping[str, str], name: str) -> str:
        return options.get(f"unsecuredValidator{name}", "").strip()

    def __call__(self, token: str) -> BearerToken:
        parts = token.split(".")
        if len(parts) != 3 or parts[2]:
            raise TokenRefused("the token has not three parts, of which the last is empty")
        if _json(parts[0]).get("alg") != "none":
            raise TokenRefused("the token is signed, and only unsecured tokens are accepted")
        claims = _json(parts[1])
        name = claims.get(self._principal_claim)
        if not isinstance(name, str) or not name.strip():
            raise TokenRefused("the token names no principal")
        expires_at, now = _time_ms(claims, "exp"), self._now()
        issued_at = _time_ms(claims, "iat") if "iat" in claims else None
        if issued_at is not None and issued_at > now + self._skew_ms:
            raise TokenRefused("the token is not valid yet")
        if now - self._skew_ms >= expires_at:
            raise TokenRefused("the token has expired")
        if issued_at is not None and expires_at <= issued_at:
            raise TokenRefused("the token expires before it was issued")
        self._check_scope(claims.get(self._scope_claim))
        return BearerToken(name, expires_at)

    def _check_scope(self, claim: object) -> None:
        given = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
        missing = set(self._required) - {str(each).strip() for each in given}
        if missing:
            raise TokenRefused("the token has not the required scope", f"[{', '.join(self._required)}]")

    def __repr__(self) -> str:
        return f"validator of unsecured tokens with the principal in {self._principal_claim}"


def claims_of(token: str) -> Mapping[str, Any]:
    """The claims of a JWT, whose signature is not looked at. TokenRefused for what is none."""
    parts = token.split(".")
    if len(parts) != 3:
        raise TokenRefused("the token has not three parts")
    return _json(parts[1])


def _json(part: str) -> Mapping[str, Any]:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        raise TokenRefused("a part of the token is not JSON in base64") from None
    if not isinstance(found, dict):
        raise TokenRefused("a part of the token is no JSON object")
    return found


def _time_ms(claims: Mapping[str, Any], name: str) -> int:
    """A time of the token in ms, within 64 bits."""
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1 << 52:
        raise TokenRefused(f"the claim {name} of the token is no time")
    return round(value * 1000)


def unsecured_token(claims: Mapping[str, object], now_s: int, lifetime_s: int) -> str:
    """A token with no signature (RFC 7519, section 6), as Kafka's own login module makes for
    tests."""
    payload: dict[str, object] = {"iat": now_s, "exp": now_s + lifetime_s, **claims}
    return ".".join((_part({"alg": "none"}), _part(payload), ""))


def _part(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
