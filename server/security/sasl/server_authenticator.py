"""The server's side of SASL on one connection: which frame may come when, and what is answered
(KIP-43, KIP-152, KIP-368; Kafka's SaslServerAuthenticator).

Rules.
- Before its authentication a client may send ApiVersions, once, and must send SaslHandshake, which
  names a mechanism. The table `ADMITTED` has what follows for every state and kind of request.
- After SaslHandshake version 1 the client sends SaslAuthenticate; after version 0 it sends frames
  that are the bare messages of the mechanism.
- A session may end: by `connections.max.reauth.ms`, or with the credential. Then only a new
  SaslHandshake is taken, which authenticates again: by the same mechanism, with the same
  principal, and not twice within a second.
- A failure ends the connection. The caller sends its answer, if there is one, after
  `connection.failed.authentication.delay.ms`.

This file has no clock and no socket. Nothing that a client sends makes it raise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys

from . import oauth_bearer, plain
from .claimed_name import claimed_name
from .exchange import Authenticated, SaslFailure, ServerExchange

REAUTHENTICATION_INTERVAL_MS = 1000
"""The least time between the beginnings of two authentications after the first one."""


class SaslState(StrEnum):
    """How far the authentication of a connection is."""

    INITIAL_REQUEST = "has sent nothing"
    HANDSHAKE_OR_VERSIONS_REQUEST = "may send ApiVersions or SaslHandshake"
    HANDSHAKE_REQUEST = "must send SaslHandshake"
    AUTHENTICATE = "must send SaslAuthenticate"
    AUTHENTICATE_BARE = "must send a message of its mechanism"
    REAUTH_BAD_MECHANISM = "authenticates again by another mechanism"
    COMPLETE = "is authenticated"
    FAILED = "has failed"


class FrameAdmission(StrEnum):
    """The reactions to a frame."""

    HANDLE = "a request that is handled"
    TOKEN = "a message of the mechanism, without a header"
    REFUSE = "a request that is answered with ILLEGAL_SASL_STATE"
    FAIL = "the authentication fails without an answer"
    CLOSE = "the connection is closed at once"


HANDLE: Final = FrameAdmission.HANDLE
TOKEN: Final = FrameAdmission.TOKEN
REFUSE: Final = FrameAdmission.REFUSE
FAIL: Final = FrameAdmission.FAIL
CLOSE: Final = FrameAdmission.CLOSE

OTHER: Final = -1
"""Any other API."""

VERSIONS: Final = int(ApiKeys.API_VERSIONS)
HANDSHAKE: Final = int(ApiKeys.SASL_HANDSHAKE)
AUTHENTICATE: Final = int(ApiKeys.SASL_AUTHENTICATE)

ADMITTED: Final[dict[SaslState, dict[int, FrameAdmission]]] = {
    SaslState.INITIAL_REQUEST: {VERSIONS: HANDLE, HANDSHAKE: HANDLE, AUTHENTICATE: CLOSE, OTHER: CLOSE},
    SaslState.HANDSHAKE_OR_VERSIONS_REQUEST: {VERSIONS: HANDLE, HANDSHAKE: HANDLE, AUTHENTICATE: CLOSE, OTHER: CLOSE},
    SaslState.HANDSHAKE_REQUEST: {VERSIONS: CLOSE, HANDSHAKE: HANDLE, AUTHENTICATE: CLOSE, OTHER: CLOSE},
    SaslState.AUTHENTICATE: {VERSIONS: REFUSE, HANDSHAKE: REFUSE, AUTHENTICATE: HANDLE, OTHER: REFUSE},
    SaslState.AUTHENTICATE_BARE: {VERSIONS: TOKEN, HANDSHAKE: TOKEN, AUTHENTICATE: TOKEN, OTHER: TOKEN},
    SaslState.REAUTH_BAD_MECHANISM: {VERSIONS: FAIL, HANDSHAKE: FAIL, AUTHENTICATE: FAIL, OTHER: FAIL},
    SaslState.COMPLETE: {VERSIONS: HANDLE, HANDSHAKE: HANDLE, AUTHENTICATE: HANDLE, OTHER: HANDLE},
    SaslState.FAILED: {VERSIONS: CLOSE, HANDSHAKE: CLOSE, AUTHENTICATE: CLOSE, OTHER: CLOSE},
}
"""The reaction to a frame, by state and API."""

WRONG_CREDENTIALS: Final[Mapping[str, str]] = {
    "PLAIN": plain.WRONG,
    "OAUTHBEARER": oauth_bearer.TokenRefused("by a fault rule").as_json(),
}
"""What the mechanisms say of wrong credentials that have texts of their own."""

ILLEGAL = "SaslAuthenticate request received after successful authentication"


class SaslPeer(Protocol):
    """The client of the connection, as the rest of the server sees it."""

    principal: str
    may_ask_for_tokens: bool


class HandshakeAnswer(NamedTuple):
    """An error code, and the mechanisms that are enabled."""

    error_code: int
    mechanisms: tuple[str, ...] = ()


class TokenAnswer(NamedTuple):
    """The response of a mechanism, or an error; and how long the session lasts (ms), 0 for ever."""

    response: bytes = b""
    error_code: int = error_codes.NONE
    error_message: str = ""
    lifetime_ms: int = 0


class EnabledMechanisms(NamedTuple):
    """The mechanisms of a listener: how an exchange of each begins, and how long its sessions last
    (ms, 0 for ever)."""

    begin: Mapping[str, Callable[[], ServerExchange]]
    max_reauth_ms: Mapping[str, int]

    def __repr__(self) -> str:
        """Without what begins an exchange, which may hold passwords."""
        return f"the mechanisms {', '.join(self.begin)}"


class _Session(NamedTuple):
    """The values that a reauthentication must not change."""

    mechanism: str
    principal: str


class SaslServerAuthenticator:
    """Authenticates the client of one connection, and sets the principal of `peer`."""

    def __init__(self, peer: SaslPeer, enabled: EnabledMechanisms) -> None:
        self.state = SaslState.INITIAL_REQUEST
        self.expires_at: int | None = None
        """When the session ends (ms); None for a session without an end."""
        self.failure = ""
        """Why the authentication failed, for the log; it has nothing that is secret."""
        self._peer, self._enabled = peer, enabled
        self.mechanism = ""
        """The mechanism that the client named last; empty before that."""
        self._claimed = ""
        self._exchange: ServerExchange | None = None
        self._session: _Session | None = None
        self._began_again_at: int | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the connection ends after the next answer."""
        return self.state is SaslState.FAILED

    @property
    def is_first(self) -> bool:
        """Whether the client was never authenticated, and has not named a mechanism."""
        return not self.mechanism

    def admit(self, api_key: int, now: int) -> FrameAdmission:
        """The reaction to a frame that begins with this API key."""
        row = ADMITTED[self.state]
        admission = row.get(api_key, row[OTHER])
        if admission is FAIL:
            self._fail(self.failure)
        elif self._has_expired(now) and not (api_key == HANDSHAKE and self._may_begin_again(now)):
            self.failure = "uses a session that has expired"
            return CLOSE
        elif admission is CLOSE:
            self.failure = f"sent a request {_name(api_key)}, and {self.state}"
        return admission

    def _has_expired(self, now: int) -> bool:
        return self.state is SaslState.COMPLETE and self.expires_at is not None and now > self.expires_at

    def _may_begin_again(self, now: int) -> bool:
        began = self._began_again_at
        return self.expires_at is not None and (began is None or now - began >= REAUTHENTICATION_INTERVAL_MS)

    def claimed(self, token: bytes) -> str:
        """The principal that the client says it is, in this message of the mechanism or in an
        earlier one; that of the session if no authentication is under way."""
        if self.state is SaslState.COMPLETE:
            return self._peer.principal
        if name := claimed_name(self.mechanism, token):
            self._claimed = f"User:{name}"
        return self._claimed or self._peer.principal

    def expire(self, now: int) -> bool:
        """The session is over, as if its time had passed. Returns whether there was one."""
        if self.state is not SaslState.COMPLETE:
            return False
        self.expires_at = now - 1
        return True

    def fail_by_rule(self, message: str | None) -> str:
        """A fault rule refuses the authentication. Returns the message for the client: that of
        wrong credentials of its mechanism, if there is no other."""
        self._fail(f"is refused by a fault rule, {f'by {self.mechanism}' if self.mechanism else 'as SASL begins'}")
        return message or WRONG_CREDENTIALS.get(self.mechanism) or self._wrong_credentials()

    @property
    def enabled(self) -> tuple[str, ...]:
        """The mechanisms that are enabled."""
        return tuple(self._enabled.begin)

    def on_api_versions(self) -> None:
        """ApiVersions is answered without an error."""
        if self.state in (SaslState.INITIAL_REQUEST, SaslState.HANDSHAKE_OR_VERSIONS_REQUEST):
            self.state = SaslState.HANDSHAKE_REQUEST

    def on_handshake(self, mechanism: str, version: int, now: int) -> HandshakeAnswer | None:
        """The client names a mechanism. None: the connection ends without an answer, as Kafka's
        does for a mechanism that is not enabled, unless it is the first authentication."""
        if self.state is SaslState.COMPLETE:
            if not self._may_begin_again(now):
                return HandshakeAnswer(error_codes.ILLEGAL_SASL_STATE)
            self._began_again_at = now
        enabled = self.enabled
        if mechanism not in enabled:
            self._fail("names a mechanism that is not enabled")
            return HandshakeAnswer(error_codes.UNSUPPORTED_SASL_MECHANISM, enabled) if self._session is None else None
        if self._session is not None and self._session.mechanism != mechanism:
            self.state = SaslState.REAUTH_BAD_MECHANISM
            self.failure = f"authenticates again by {mechanism} after {self._session.mechanism}"
        else:
            self._begin(mechanism, version)
        return HandshakeAnswer(error_codes.NONE, enabled)

    def _begin(self, mechanism: str, version: int) -> None:
        self.mechanism, self._exchange, self._claimed = mechanism, self._enabled.begin[mechanism](), ""
        next(self._exchange)
        self.state = SaslState.AUTHENTICATE if version >= 1 else SaslState.AUTHENTICATE_BARE

    def on_token(self, token: bytes, now: int) -> TokenAnswer:
        """A message of the mechanism."""
        if self._exchange is None:
            return TokenAnswer(error_code=error_codes.ILLEGAL_SASL_STATE, error_message=ILLEGAL)
        self.claimed(token)  # a later message of SCRAM has no name
        try:
            return TokenAnswer(self._exchange.send(token))
        except StopIteration as end:
            return self._complete(end.value, now)
        except SaslFailure as failure:
            return self._refuse(failure.message or self._wrong_credentials(), failure.reason)

    def _wrong_credentials(self) -> str:
        during = "re-authentication" if self._session else "authentication"
        return f"Authentication failed during {during} due to invalid credentials with SASL mechanism {self.mechanism}"

    def _complete(self, found: Authenticated, now: int) -> TokenAnswer:
        principal = f"User:{found.name}"
        if self._session is not None and self._session.principal != principal:
            old, new = (each.replace(":", ".", 1) for each in (self._session.principal, principal))
            text = f"Cannot change principals during re-authentication from {old}: {new}"
            return self._refuse(text, "authenticates again as another user")
        self._exchange, self.state = None, SaslState.COMPLETE
        self._session = _Session(self.mechanism, principal)
        self._peer.principal, self._peer.may_ask_for_tokens = principal, not found.by_token
        # How long the session lasts; None for ever.
        limit = self._enabled.max_reauth_ms.get(self.mechanism, 0)
        ends = [*([limit] if limit > 0 else []), *([] if found.expires_at is None else [found.expires_at - now])]
        lifetime_ms = max(0, min(ends)) if ends else None
        # A session without a lifetime, of a token that is only valid by the skew, has ended.
        self.expires_at = None if lifetime_ms is None else now + (lifetime_ms or -1)
        return TokenAnswer(found.response, lifetime_ms=lifetime_ms or 0)

    def _refuse(self, message: str, reason: str) -> TokenAnswer:
        self._fail(f"cannot be authenticated by {self.mechanism}: {reason}")
        return TokenAnswer(error_code=error_codes.SASL_AUTHENTICATION_FAILED, error_message=message)

    def refuse_request(self, api_key: int) -> str:
        """Another request came in place of SaslAuthenticate. Returns the message for the client."""
        self._fail(f"sent a request {_name(api_key)}, and must send SaslAuthenticate")
        return f"Unexpected Kafka request of type {_constant(api_key)} during SASL authentication."

    def _fail(self, why: str) -> None:
        self._exchange, self.state, self.failure = None, SaslState.FAILED, why

    def __repr__(self) -> str:
        return f"authentication of a client that {self.state}"


def _name(api_key: int) -> str:
    from kafkadouble.messages import registry

    return next((api.name for api in registry.apis() if api.key == api_key), f"with the API key {api_key}")


def _constant(api_key: int) -> str:
    """Kafka's name of an API in messages: METADATA."""
    return ApiKeys(api_key).name if api_key in ApiKeys._value2member_map_ else str(api_key)
