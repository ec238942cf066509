"""SASL: the client authenticates with each of the mechanisms, with credentials from every setting
in which Kafka accepts them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.client import NotAuthenticated
from kafkadouble.server.security.sasl import scram
from kafkadouble.server.security.sasl.exchange import ServerNotTrusted
from kafkadouble.server.security.sasl.jaas import Login, parse
from kafkadouble.wire.errors import UsageError
from tests.support.pipeline_client import client_of, works

from . import sasl_server
from .fake_broker import FakeBroker

USERS = {"alice": 'it\'s; a "secret"', "a=b,c": "p"}
JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="it\'s; a \\"secret\\"";'
SASL = {"security_protocol": "SASL_PLAINTEXT"}


def accepted(token: str) -> bool:
    head, claims, signature = token.split(".")
    padded = [part + "=" * (-len(part) % 4) for part in (head, claims)]
    header, payload = (json.loads(base64.urlsafe_b64decode(part)) for part in padded)
    return header == {"alg": "none"} and not signature and payload["sub"] == "alice" and payload["exp"] > payload["iat"]


DIALOGUES: dict[str, Callable[[], sasl_server.Dialogue]] = {
    "PLAIN": partial(sasl_server.plain, USERS),
    "SCRAM-SHA-256": partial(sasl_server.scram, "sha256", USERS),
    "SCRAM-SHA-512": partial(sasl_server.scram, "sha512", USERS),
    "OAUTHBEARER": partial(sasl_server.bearer, accepted),
}


@pytest.fixture(scope="module")
def broker() -> Iterator[FakeBroker]:
    with FakeBroker(sasl_server.handlers(DIALOGUES)) as broker:
        yield broker


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(
    "credentials",
    [
        {"sasl_jaas_config": JAAS},
        {"sasl_username": "alice", "sasl_password": USERS["alice"]},
        {"sasl_username": "a=b,c", "sasl_password": "p"},
    ],
)
def test_a_known_user(broker: FakeBroker, mechanism: str, credentials: dict[str, object]) -> None:
    assert works(client_of(broker.bootstrap, **SASL, sasl_mechanism=mechanism, **credentials))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(("name", "password"), [("alice", "wrong"), ("stranger", "p")])
def test_an_unknown_user_is_refused_at_once(broker: FakeBroker, mechanism: str, name: str, password: str) -> None:
    message = f"refuses this user by {mechanism}: SASL_AUTHENTICATION_FAILED: Authentication failed: unknown user"
    with pytest.raises(NotAuthenticated, match=message):
        works(client_of(broker.bootstrap, **SASL, sasl_mechanism=mechanism, sasl_username=name, sasl_password=password))


def test_a_token_from_a_file_or_made_up(broker: FakeBroker, tmp_path: Path) -> None:
    file = tmp_path / "token"
    claims = base64.urlsafe_b64encode(b'{"sub":"alice","iat":1,"exp":2}').decode().rstrip("=")
    file.write_text(f"eyJhbGciOiJub25lIn0.{claims}.\n")
    bearer = {**SASL, "sasl_mechanism": "OAUTHBEARER"}
    assert works(client_of(broker.bootstrap, **bearer, sasl_oauthbearer_token_endpoint_url=file.as_uri()))
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    for name, known in (("alice", True), ("bob", False)):
        jaas = f'{module} unsecuredLoginStringClaim_sub="{name}";'
        if known:
            assert works(client_of(broker.bootstrap, **bearer, sasl_jaas_config=jaas))
        else:
            with pytest.raises(NotAuthenticated, match="by OAUTHBEARER: SASL_AUTHENTICATION_FAILED"):
                works(client_of(broker.bootstrap, **bearer, sasl_jaas_config=jaas))


def test_a_mechanism_that_the_broker_does_not_offer() -> None:
    with FakeBroker(sasl_server.handlers({"PLAIN": DIALOGUES["PLAIN"]})) as broker:
        message = "takes no SCRAM-SHA-256 .*: set sasl.mechanism to one that it offers, of PLAIN"
        with pytest.raises(NotAuthenticated, match=message):
            works(client_of(broker.bootstrap, **SASL, sasl_mechanism="SCRAM-SHA-256", sasl_jaas_config=JAAS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spoil": True}, "its server signature is not the expected one"),
        ({"iterations": "1000000000"}, "it requires 1000000000 iterations"),
        ({"iterations": "0"}, "it requires 0 iterations"),
        ({"iterations": "many"}, "it requires many iterations"),
    ],
)
def test_a_broker_that_cannot_prove_itself(options: dict[str, object], message: str) -> None:
    dialogue = partial(sasl_server.scram, "sha256", USERS, **options)  # type: ignore[arg-type]
    with FakeBroker(sasl_server.handlers({"SCRAM-SHA-256": dialogue})) as broker:
        client = client_of(broker.bootstrap, **SASL, sasl_mechanism="SCRAM-SHA-256", sasl_jaas_config=JAAS)
        with pytest.raises(NotAuthenticated, match=f"fails in SCRAM-SHA-256: {message}"):
            works(client)


def test_a_session_that_ends_is_followed_by_another() -> None:
    """KIP-368, in the simplest form: the client opens another connection."""
    plain = {**SASL, "sasl_mechanism": "PLAIN", "sasl_jaas_config": JAAS}
    broker = FakeBroker(sasl_server.handlers({"PLAIN": DIALOGUES["PLAIN"]}, lifetime_ms=1))
    with broker, client_of(broker.bootstrap, **plain) as client:
        while [head.api_key for head, _ in broker.seen].count(ApiKeys.SASL_HANDSHAKE) < 2:
            assert client.topics() == ["t"]


def test_a_server_with_nonsense_in_scram_is_reported() -> None:
    for first in (
        b"",
        b"\xff",
        b"r=,s=,i=1",
        b"r=abc,s=c2FsdA==,i=1",
        b"e=other-error",
        b"r=own,s=c2FsdA==,i=1",
        b"r=ownx,s=?,i=1",
    ):
        exchange = scram.client_exchange("SCRAM-SHA-256", "alice", "p", nonce=lambda: "own")
        next(exchange)
        with pytest.raises(ServerNotTrusted):
            exchange.send(first)


def test_scram_as_in_its_rfc() -> None:
    """The example of RFC 7677, section 3."""
    exchange = scram.client_exchange("SCRAM-SHA-256", "user", "pencil", nonce=lambda: "rOprNGfwEbeRWgbNEkqO")
    assert next(exchange) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = b"rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    final = exchange.send(b"r=" + nonce + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096")
    assert final == b"c=biws,r=" + nonce + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    with pytest.raises(StopIteration):
        exchange.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "sasl.mechanism 'GSSAPI' is not supported; use one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
        ({"sasl_mechanism": "PLAIN"}, "needs a user: give sasl.jaas.config"),
        (
            {"sasl_mechanism": "PLAIN", "sasl_jaas_config": "x.OtherLoginModule required;"},
            "OtherLoginModule has no name",
        ),
        ({"sasl_mechanism": "OAUTHBEARER"}, "OAUTHBEARER needs a token"),
        (
            {"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_endpoint_url": "https://idp/token"},
            "only file: URLs are read",
        ),
        ({"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_endpoint_url": "file:///no/such"}, "cannot be read"),
    ],
)
def test_credentials_that_are_missing(broker: FakeBroker, given: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        works(client_of(broker.bootstrap, **SASL, **given))


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("a.b.Module required u=\"x\" p='y z';", Login("Module", {"u": "x", "p": "y z"})),
        ("Module REQUIRED\n  debug=true /* aside */ // more\n  # and more\n  ;", Login("Module", {"debug": "true"})),
        (r'M required p="a\\b\"c;=";', Login("M", {"p": 'a\\b"c;='})),
        ("M required;", Login("M", {})),
    ],
)
def test_jaas_config_of_a_client_is_read(text: str, login: Login) -> None:
    assert parse(text) == login


@pytest.mark.parametrize(
    "text",
    ["", ";", "M", "M required", "M required u=x", "M sometimes u=x;", "M required u=;", "M required =x;", 'M required p="secret;',
     "M required u=secret; N required;", 'M required u "secret";'],
)  # fmt: skip
def test_jaas_that_cannot_be_read_shows_no_secret(text: str) -> None:
    with pytest.raises(UsageError, match=r"sasl.jaas.config") as refused:
        parse(text)
    assert "secret" not in str(refused.value)


def test_codes_of_authentication_are_that_error() -> None:
    from kafkadouble.pipeline.client.errors import refusal

    for code in (error_codes.ILLEGAL_SASL_STATE, error_codes.SASL_AUTHENTICATION_FAILED):
        assert isinstance(refusal("x", code), NotAuthenticated)
