"""The mechanisms of SASL: the examples of their RFCs, both halves against one another, and messages
that are wrong."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Generator
from typing import Any

import pytest

from kafkadouble.server.metadata.image import ScramCredential
from kafkadouble.server.security.sasl import oauth_bearer, plain, scram
from kafkadouble.server.security.sasl.exchange import Authenticated, SaslFailure, ServerNotTrusted
from kafkadouble.server.security.sasl.jaas import parse
from kafkadouble.server.security.sasl.mechanisms import ServerConfig
from kafkadouble.server.security.sasl.oauth_bearer import BearerToken, TokenRefused, UnsecuredValidator
from kafkadouble.server.security.scram import MECHANISMS, record_of

NOW_S = 1_700_000_000
PASSWORD = "pencil"


def credential(mechanism: str, salt: bytes, iterations: int = 4096, password: str = PASSWORD) -> ScramCredential:
    made = MECHANISMS[mechanism]
    record = record_of(
        "user", made, salt, hashlib.pbkdf2_hmac(made.hash, password.encode(), salt, iterations), iterations
    )
    return ScramCredential(salt, bytes(record.stored_key), bytes(record.server_key), iterations)


class Store:
    """One user, one delegation token, and a nonce that is known."""

    def __init__(self, credential: ScramCredential, nonce: str = "of-the-server") -> None:
        self.found, self._nonce = credential, nonce

    def of_user(self, mechanism: str, name: str) -> ScramCredential | None:
        return self.found if name in ("user", "a=b,c") else None

    def of_token(self, mechanism: str, token_id: str) -> scram.ProvedToken | None:
        return scram.ProvedToken(self.found, "ann", 5000) if token_id == "id" else None

    def nonce(self) -> str:
        return self._nonce


def ended(exchange: Generator[Any, Any, Authenticated], message: bytes) -> Authenticated:
    with pytest.raises(StopIteration) as end:
        exchange.send(message)
    result: Authenticated = end.value.value
    return result


def between(client: Generator[bytes, bytes, None], server: Generator[bytes, bytes, Authenticated]) -> Authenticated:
    """Carries the messages of two halves until the server is done."""
    next(server)
    message = next(client)
    while True:
        try:
            message = client.send(server.send(message))
        except StopIteration as end:
            done: Authenticated = end.value
            break
    with pytest.raises(StopIteration):
        client.send(done.response)
    return done


class TestScram:
    def test_the_example_of_rfc_7677(self) -> None:
        store = Store(
            credential("SCRAM-SHA-256", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")),
            "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        )
        server = scram.server_exchange("SCRAM-SHA-256", store)
        next(server)
        nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
        first = server.send(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
        assert first == f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
        done = ended(server, f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode())
        assert done == Authenticated("user", b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")

    def test_the_example_of_rfc_5802_as_far_as_the_hash_allows(self) -> None:
        """Its client-first message, with an authorization id; the hash of the RFC is SHA-1."""
        server = scram.server_exchange("SCRAM-SHA-512", Store(credential("SCRAM-SHA-512", b"salt")))
        next(server)
        assert server.send(b"n,a=user,n=user,r=fyko+d2lbbFgONRv9qkxdawL").startswith(b"r=fyko+d2lbbFgONRv9qkxdawL")

    @pytest.mark.parametrize("mechanism", MECHANISMS)
    @pytest.mark.parametrize("name", ["user", "a=b,c"])
    def test_client_and_server_of_the_mechanism_agree(self, mechanism: str, name: str) -> None:
        store = Store(credential(mechanism, b"salt", 8192))
        done = between(scram.client_exchange(mechanism, name, PASSWORD), scram.server_exchange(mechanism, store))
        assert (done.name, done.expires_at, done.by_token) == (name, None, False)

    def test_a_delegation_token(self) -> None:
        store = Store(credential("SCRAM-SHA-256", b"salt"))
        client = scram.client_exchange("SCRAM-SHA-256", "id", PASSWORD, by_token=True)
        done = between(client, scram.server_exchange("SCRAM-SHA-256", store))
        assert (done.name, done.expires_at, done.by_token) == ("ann", 5000, True)

    def test_a_wrong_password(self) -> None:
        server = scram.server_exchange("SCRAM-SHA-256", Store(credential("SCRAM-SHA-256", b"salt")))
        client = scram.client_exchange("SCRAM-SHA-256", "user", "pen")
        next(server)
        final = client.send(server.send(next(client)))
        with pytest.raises(SaslFailure) as failure:
            server.send(final)
        assert failure.value.message is None

    @pytest.mark.parametrize(
        ("messages", "message"),
        [
            ([b"n,,n=stranger,r=nonce"], None),
            ([b"n,,n=user,r=nonce,tokenauth=true"], None),
            ([b"n,a=other,n=user,r=nonce"], scram.OTHER_AUTHORIZATION_ID),
            ([b"y,,n=user,r=nonce"], None),
            ([b"p=tls-unique,,n=user,r=nonce"], None),
            ([b"n,,n=us=er,r=nonce"], None),
            ([b"n,,n=user,r="], None),
            ([b"n,,n=user"], None),
            ([b"n,,n=\xc3\xa4,r=nonce"], None),
            ([b""], None),
            ([b"\xff" * 1000], None),
            ([b"n,,n=user,r=nonce", b"c=biws,r=other,p=AAAA"], None),
            ([b"n,,n=user,r=nonce", b"c=biws,r=nonceof-the-server,p=AAAA"], None),
            ([b"n,,n=user,r=nonce", b"c=biws,r=nonceof-the-server"], None),
            ([b"n,,n=user,r=nonce", b"c=biws,r=nonceof-the-server,p=" + b"A" * 43 + b"="], None),
        ],
    )
    def test_invalid_login_is_refused_by_the_server(self, messages: list[bytes], message: str | None) -> None:
        server = scram.server_exchange("SCRAM-SHA-256", Store(credential("SCRAM-SHA-256", b"salt")))
        next(server)
        *before, last = messages
        for each in before:
            server.send(each)
        with pytest.raises(SaslFailure) as failure:
            server.send(last)
        assert failure.value.message == message

    def test_a_credential_of_too_few_iterations(self) -> None:
        server = scram.server_exchange("SCRAM-SHA-256", Store(credential("SCRAM-SHA-256", b"salt", 100)))
        next(server)
        with pytest.raises(SaslFailure, match="only 100 iterations"):
            server.send(b"n,,n=user,r=nonce")

    def test_a_long_message_takes_no_long_time(self) -> None:
        """The patterns never go back over what they have read."""
        server = scram.server_exchange("SCRAM-SHA-256", Store(credential("SCRAM-SHA-256", b"salt")))
        next(server)
        with pytest.raises(SaslFailure):
            server.send(b"n,,n=user,r=nonce" + b",a=b" * 120_000 + b",")


USERS = {"alice": "secret", "bob": ""}


class TestPlain:
    @pytest.mark.parametrize("message", [b"\0alice\0secret", b"alice\0alice\0secret"])
    def test_a_known_user(self, message: bytes) -> None:
        server = plain.server_exchange(USERS)
        next(server)
        assert ended(server, message) == Authenticated("alice")

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            (b"\0alice\0wrong", plain.WRONG),
            (b"\0stranger\0secret", plain.WRONG),
            (b"bob\0alice\0secret", plain.OTHER_AUTHORIZATION_ID),
            (b"bob\0alice\0wrong", plain.WRONG),
            (b"\0alice\0", "Authentication failed: password not specified"),
            (b"\0bob\0", "Authentication failed: password not specified"),
            (b"\0\0secret", "Authentication failed: username not specified"),
            (b"alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
            (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
            (b"\0alice\0secret\0more\0x", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
            (b"\xff\0\xff\0\xff", plain.WRONG),
        ],
    )
    def test_invalid_sasl_message_is_refused(self, message: bytes, text: str | None) -> None:
        server = plain.server_exchange(USERS)
        next(server)
        with pytest.raises(SaslFailure) as failure:
            server.send(message)
        assert failure.value.message == text
        assert b"secret" not in str(failure.value).encode()

    def test_client_and_server_of_the_mechanism_agree(self) -> None:
        assert between(plain.client_exchange("alice", "secret"), plain.server_exchange(USERS)).name == "alice"


def token(**claims: object) -> str:
    return oauth_bearer.unsecured_token({"sub": "ann", **claims}, NOW_S, 60)


def validator(**options: str) -> UnsecuredValidator:
    return UnsecuredValidator(
        {f"unsecuredValidator{name}": text for name, text in options.items()}, lambda: NOW_S * 1000
    )


class TestOauthBearer:
    def test_client_and_server_of_the_mechanism_agree(self) -> None:
        done = between(oauth_bearer.client_exchange(token()), oauth_bearer.server_exchange(validator()))
        assert (done.name, done.expires_at) == ("ann", (NOW_S + 60) * 1000)

    def test_a_token_that_is_refused_is_answered_first(self) -> None:
        server = oauth_bearer.server_exchange(validator())
        client = oauth_bearer.client_exchange(token(exp=NOW_S))
        next(server)
        answer = server.send(next(client))
        assert json.loads(answer) == {"status": "invalid_token"}
        with pytest.raises(SaslFailure) as failure:
            server.send(client.send(answer))
        assert failure.value.message == '{"status":"invalid_token"}'
        with pytest.raises(ServerNotTrusted):
            next(client)

    def test_another_token_after_one_that_was_refused(self) -> None:
        server = oauth_bearer.server_exchange(validator())
        next(server)
        server.send(next(oauth_bearer.client_exchange(token(exp=1))))
        assert ended(server, next(oauth_bearer.client_exchange(token()))).name == "ann"

    @pytest.mark.parametrize(
        "message",
        [
            b"",
            b"\x01",
            b"n,,\x01\x01",
            b"n,,\x01auth=Basic abc\x01\x01",
            b"n,,\x01auth=Bearer a b\x01\x01",
            b"n,,auth=Bearer a.b.\x01\x01",
            b"\xff\xff",
        ],
    )
    def test_a_message_that_is_not_one(self, message: bytes) -> None:
        server = oauth_bearer.server_exchange(validator())
        next(server)
        with pytest.raises(SaslFailure) as failure:
            server.send(message)
        assert failure.value.message is None

    def test_an_authorization_id(self) -> None:
        for name, fits in (("ann", True), ("bob", False)):
            server = oauth_bearer.server_exchange(validator())
            next(server)
            message = f"n,a={name},\x01auth=bearer {token()}\x01x=y\x01\x01".encode()
            if fits:
                assert ended(server, message).name == "ann"
            else:
                with pytest.raises(SaslFailure, match=r"authorization id \(bob\) that is different"):
                    server.send(message)

    @pytest.mark.parametrize(
        ("claims", "options", "reason"),
        [
            ({"exp": NOW_S}, {}, "expired"),
            ({"exp": "soon"}, {}, "no time"),
            ({"exp": 1e300}, {}, "no time"),
            ({"iat": NOW_S + 1}, {}, "not valid yet"),
            ({"iat": NOW_S, "exp": NOW_S}, {"AllowableClockSkewMs": "5"}, "expires before"),
            ({"sub": " "}, {}, "no principal"),
            ({"sub": 7}, {}, "no principal"),
            ({}, {"PrincipalClaimName": "user"}, "no principal"),
            ({"scope": "a"}, {"RequiredScope": "a b"}, "scope"),
        ],
    )
    def test_claims_that_are_refused(self, claims: dict[str, object], options: dict[str, str], reason: str) -> None:
        with pytest.raises(TokenRefused, match=reason):
            validator(**options)(token(**claims))

    @pytest.mark.parametrize(
        ("claims", "options"),
        [
            ({"iat": NOW_S + 1}, {"AllowableClockSkewMs": "1000"}),
            ({"user": "eve"}, {"PrincipalClaimName": "user"}),
            ({"scope": ["a", " b"]}, {"RequiredScope": "a b"}),
            ({"rights": "a"}, {"RequiredScope": "a", "ScopeClaimName": "rights"}),
        ],
    )
    def test_claims_that_are_accepted(self, claims: dict[str, object], options: dict[str, str]) -> None:
        assert isinstance(validator(**options)(token(**claims)), BearerToken)

    @pytest.mark.parametrize(
        "text", ["a", "a.b.c", "..", "e30.e30.", "eyJhbGciOiJub25lIn0.W10.", "eyJhbGciOiJub25lIn0.bm8=.", "\u00e4.b."]
    )
    def test_a_text_that_is_no_unsecured_token(self, text: str) -> None:
        with pytest.raises(TokenRefused):
            validator()(text)


SHOWN: dict[str, Callable[[], object]] = {
    "a login": lambda: parse('PlainLoginModule required user_a="hidden";'),
    "a server": lambda: ServerConfig({"user_a": "hidden"}, None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", SHOWN)
def test_no_repr_shows_a_password(what: str) -> None:
    assert "hidden" not in repr(SHOWN[what]())
