"""The state machine of an authentication: every state and kind of frame; what a failure says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.security.sasl import plain
from kafkadouble.server.security.sasl.exchange import Authenticated, ServerExchange
from kafkadouble.server.security.sasl.server_authenticator import (
    ADMITTED,
    CLOSE,
    FAIL,
    HANDLE,
    OTHER,
    REFUSE,
    TOKEN,
    EnabledMechanisms,
    SaslServerAuthenticator,
    SaslState,
)

USERS = {"alice": "secret", "bob": "hidden"}
ALICE, BOB, WRONG = b"\0alice\0secret", b"\0bob\0hidden", b"\0alice\0wrong"
BEGIN: dict[str, Callable[[], ServerExchange]] = {
    "PLAIN": partial(plain.server_exchange, USERS),
    "OTHER": partial(plain.server_exchange, USERS),
}
NOW = 1000


def authenticator(max_reauth_ms: int = 0) -> SaslServerAuthenticator:
    peer: Any = SimpleNamespace(principal="User:ANONYMOUS", may_ask_for_tokens=False)
    return SaslServerAuthenticator(peer, EnabledMechanisms(BEGIN, dict.fromkeys(BEGIN, max_reauth_ms)))


def complete(max_reauth_ms: int = 0) -> SaslServerAuthenticator:
    made = authenticator(max_reauth_ms)
    made.on_handshake("PLAIN", 1, NOW)
    assert made.on_token(ALICE, NOW).lifetime_ms == max_reauth_ms
    return made


def test_every_state_has_a_decision_for_every_kind_of_frame() -> None:
    kinds = {int(ApiKeys.API_VERSIONS), int(ApiKeys.SASL_HANDSHAKE), int(ApiKeys.SASL_AUTHENTICATE), OTHER}
    assert ADMITTED.keys() == set(SaslState)
    assert all(row.keys() == kinds for row in ADMITTED.values())


def in_state(state: SaslState) -> SaslServerAuthenticator:
    """Leads a new authentication to a state, as a client would."""
    made = authenticator(5000)
    if state is SaslState.HANDSHAKE_REQUEST:
        made.on_api_versions()
    elif state in (SaslState.AUTHENTICATE, SaslState.AUTHENTICATE_BARE):
        made.on_handshake("PLAIN", int(state is SaslState.AUTHENTICATE), NOW)
    elif state is SaslState.FAILED:
        made.on_handshake("NONE", 1, NOW)
    elif state is not SaslState.INITIAL_REQUEST:
        made = complete(5000)
        if state is SaslState.REAUTH_BAD_MECHANISM:
            made.on_handshake("OTHER", 1, NOW)
    assert made.state is state
    return made


@pytest.mark.parametrize(
    ("state", "decisions"),
    [
        (SaslState.INITIAL_REQUEST, (HANDLE, HANDLE, CLOSE, CLOSE)),
        (SaslState.HANDSHAKE_REQUEST, (CLOSE, HANDLE, CLOSE, CLOSE)),
        (SaslState.AUTHENTICATE, (REFUSE, REFUSE, HANDLE, REFUSE)),
        (SaslState.AUTHENTICATE_BARE, (TOKEN, TOKEN, TOKEN, TOKEN)),
        (SaslState.COMPLETE, (HANDLE, HANDLE, HANDLE, HANDLE)),
        (SaslState.REAUTH_BAD_MECHANISM, (FAIL, FAIL, FAIL, FAIL)),
        (SaslState.FAILED, (CLOSE, CLOSE, CLOSE, CLOSE)),
    ],
)
def test_frames_admitted_by_the_server_authenticator(state: SaslState, decisions: tuple[object, ...]) -> None:
    keys = (ApiKeys.API_VERSIONS, ApiKeys.SASL_HANDSHAKE, ApiKeys.SASL_AUTHENTICATE, ApiKeys.METADATA)
    assert tuple(in_state(state).admit(key, NOW) for key in keys) == decisions
    assert in_state(state).admit(-7, NOW) is decisions[-1], "a key that no API has"


def test_the_principal_is_set_once_the_client_is_authenticated() -> None:
    made = authenticator()
    peer: Any = made._peer
    made.on_handshake("PLAIN", 1, NOW)
    assert peer.principal == "User:ANONYMOUS"
    made.on_token(ALICE, NOW)
    assert (peer.principal, peer.may_ask_for_tokens, made.state) == ("User:alice", True, SaslState.COMPLETE)


def test_a_session_of_a_token_that_has_expired_has_ended() -> None:
    """The clock skew that is allowed lets the client authenticate, and no more, as in Kafka."""

    def expired() -> ServerExchange:
        yield b""
        return Authenticated("ann", expires_at=NOW - 10)

    peer: Any = SimpleNamespace(principal="User:ANONYMOUS", may_ask_for_tokens=False)
    made = SaslServerAuthenticator(peer, EnabledMechanisms({"PLAIN": expired}, {}))
    made.on_handshake("PLAIN", 1, NOW)
    assert made.on_token(b"a token", NOW).lifetime_ms == 0
    assert made.admit(ApiKeys.METADATA, NOW) is CLOSE
    assert made.failure == "uses a session that has expired"


@pytest.mark.parametrize("token", [WRONG, BOB, b"", b"\xff"])
def test_a_failure_says_nothing_that_is_secret(token: bytes) -> None:
    made = complete(5000)
    made.on_handshake("PLAIN", 1, NOW)
    answer = made.on_token(token, NOW)
    assert answer.error_code == error_codes.SASL_AUTHENTICATION_FAILED
    assert made.has_failed
    for text in (str(answer.error_message), made.failure, repr(made)):
        assert not any(secret in text for secret in ("secret", "hidden", "wrong"))
