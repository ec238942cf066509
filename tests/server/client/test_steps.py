"""The steps until a connection may be used: which requests are sent, and what follows from the
responses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateResponse
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeResponse
from kafkadouble.server.client.api_versions import VersionsRefused, api_versions
from kafkadouble.server.client.sasl_login import CredentialsRefused, MechanismRefused, sasl_login
from kafkadouble.server.client.steps import ConnectionStep, driven, driven_async
from kafkadouble.server.security.sasl import plain
from kafkadouble.server.security.sasl.exchange import ClientExchange, ServerNotTrusted


class Peer:
    """Answers the steps one after another, and keeps them."""

    def __init__(self, *answers: Any) -> None:
        self._answers = iter(answers)
        self.asked: list[ConnectionStep] = []

    def answer(self, step: ConnectionStep) -> Any:
        self.asked.append(step)
        return next(self._answers)

    async def answer_later(self, step: ConnectionStep) -> Any:
        await asyncio.sleep(0)
        return self.answer(step)

    @property
    def requests(self) -> list[tuple[str, int, int]]:
        return [(type(step.body).__name__, step.version, step.lowest) for step in self.asked]


def served(*ranges: tuple[int, int, int], error_code: int = 0) -> ApiVersionsResponse:
    of = ApiVersionsResponse
    keys = [of.ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in ranges]
    return of(error_code=error_code, api_keys=keys)


# ApiVersions


def test_the_versions_of_the_peer_are_what_it_answers() -> None:
    peer = Peer(served((3, 0, 12), (18, 0, 4)))
    assert driven(api_versions(), peer.answer) == {3: (0, 12), 18: (0, 4)}
    assert peer.requests == [("ApiVersionsRequest", 4, 4)]


@pytest.mark.parametrize(
    ("own", "then"),
    [([(18, 0, 2)], 2), ([(18, 0, 9)], 3), ([], 0)],
    ids=["an older one", "a newer one", "none"],
)
def test_a_peer_that_does_not_know_the_version_is_asked_in_its_own(own: list[tuple[int, int, int]], then: int) -> None:
    peer = Peer(served(*own, error_code=error_codes.UNSUPPORTED_VERSION), served((3, 0, 9)))
    assert driven(api_versions(), peer.answer) == {3: (0, 9)}
    assert [step.version for step in peer.asked] == [4, then]


def test_a_peer_that_answers_an_error_is_refused() -> None:
    with pytest.raises(VersionsRefused) as refused:
        driven(api_versions(), Peer(served(error_code=error_codes.INVALID_REQUEST)).answer)
    assert refused.value.code == error_codes.INVALID_REQUEST


# The login


def exchange() -> ClientExchange:
    """Two messages, and then trust in a server that says `yes`."""
    first = yield b"one"
    second = yield b"two:" + first
    if second != b"yes":
        raise ServerNotTrusted("it does not say yes")


def token(data: bytes, lifetime_ms: int = 0) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(auth_bytes=data, session_lifetime_ms=lifetime_ms)


def test_a_login_sends_the_mechanism_and_then_the_messages_of_the_exchange() -> None:
    peer = Peer(SaslHandshakeResponse(), token(b"a"), token(b"yes"))
    assert driven(sasl_login("X", exchange), peer.answer) is None
    assert peer.requests == [
        ("SaslHandshakeRequest", 1, 1),
        ("SaslAuthenticateRequest", 2, 0),
        ("SaslAuthenticateRequest", 2, 0),
    ]
    assert [step.body.auth_bytes for step in peer.asked[1:]] == [b"one", b"two:a"]  # type: ignore[attr-defined]


def test_the_connection_is_replaced_before_the_session_ends() -> None:
    peer = Peer(SaslHandshakeResponse(), token(b"a", 5000), token(b"yes", 10_000))
    assert driven(sasl_login("X", exchange), peer.answer) == pytest.approx(8.5)


def test_without_the_mechanism_no_credentials_are_sent() -> None:
    code = error_codes.UNSUPPORTED_SASL_MECHANISM
    peer = Peer(SaslHandshakeResponse(error_code=code, mechanisms=["PLAIN"]))
    with pytest.raises(MechanismRefused) as refused:
        driven(sasl_login("X", exchange), peer.answer)
    assert (refused.value.code, list(refused.value.offered), len(peer.asked)) == (code, ["PLAIN"], 1)


def test_refused_credentials_end_the_login_with_the_text_of_the_peer() -> None:
    code = error_codes.SASL_AUTHENTICATION_FAILED
    peer = Peer(SaslHandshakeResponse(), SaslAuthenticateResponse(error_code=code, error_message="no"))
    with pytest.raises(CredentialsRefused) as refused:
        driven(sasl_login("PLAIN", lambda: plain.client_exchange("a", "b")), peer.answer)
    assert (refused.value.code, refused.value.message) == (code, "no")


def test_a_server_without_its_proof_is_not_trusted() -> None:
    peer = Peer(SaslHandshakeResponse(), token(b"a"), token(b"no"))
    with pytest.raises(ServerNotTrusted):
        driven(sasl_login("X", exchange), peer.answer)


def test_coroutines_take_the_same_steps() -> None:
    peer = Peer(SaslHandshakeResponse(), token(b"a"), token(b"yes", 1000))
    assert asyncio.run(driven_async(sasl_login("X", exchange), peer.answer_later)) == pytest.approx(0.85)
    assert [step.body.api_key for step in peer.asked] == [ApiKeys.SASL_HANDSHAKE, *[ApiKeys.SASL_AUTHENTICATE] * 2]
