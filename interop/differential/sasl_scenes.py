"""The scenes of SASL that are played to a kafkadouble and to an Apache Kafka: what a client sends
on one connection, step by step. The outcomes are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from interop.sasl_servers import SASL, SESSION_MS, SHORT
from kafkadouble.server.security.sasl import oauth_bearer, scram
from tests.support.sasl_talk import CLOSED, Talk, plain_token, shake

Step = Callable[[Talk], object]


def step(function: Callable[..., object], *arguments: Any, **fields: Any) -> Step:
    return lambda talk: function(talk, *arguments, **fields)


def ask(api: str, version: int = 0, **fields: Any) -> Step:
    return step(Talk.ask, api, version, **fields)


def handshake(mechanism: str = "PLAIN", version: int = 1) -> Step:
    return step(shake, mechanism, version)


def token(message: bytes, version: int = 2) -> Step:
    return step(plain_token, message, version)


def raw(frame: bytes) -> Step:
    return step(Talk.raw, frame)


ALICE, CAROL, WRONG = b"\0alice\0alice-secret", b"\0carol\0carol-secret", b"\0alice\0wrong"
SHAKE, LOGIN, VERSIONS, METADATA = handshake(), token(ALICE), ask("ApiVersions"), ask("Metadata", 12, topics=[])
DESCRIBE = ask("DescribeCluster", 2)
SHAKE_SCRAM, SHAKE_BEARER = handshake("SCRAM-SHA-256"), handshake("OAUTHBEARER")


def software(name: str) -> Step:
    return ask("ApiVersions", 3, client_software_name=name, client_software_version="1")


def bare_login(talk: Talk) -> None:
    assert talk.raw(ALICE) == b""


def bare_scram(talk: Talk) -> None:
    exchange = scram.client_exchange("SCRAM-SHA-256", "bob", "bob-secret")
    first = talk.raw(next(exchange))
    with pytest.raises(StopIteration):
        exchange.send(talk.raw(exchange.send(first or b"")) or b"")


def too_large(talk: Talk) -> None:
    talk.socket.sendall((524289).to_bytes(4) + b"x" * 100)
    talk.outcomes.append(CLOSED if talk.raw(b"") is None else "open")


def scram_of(mechanism: str, user: str, password: str) -> Step:
    return lambda talk: talk.by(scram.client_exchange(mechanism, user, password))


def bearer(version: int = 2, **claims: int | str) -> Step:
    """Times are relative to now, in seconds."""

    def play(talk: Talk) -> None:
        now = int(time.time())
        given = {name: value if isinstance(value, str) else now + value for name, value in claims.items()}
        exchange = oauth_bearer.client_exchange(oauth_bearer.unsecured_token({"sub": "ann", **given}, now, 3600))
        plain_token(talk, next(exchange), version)
        if talk.answer_bytes():
            plain_token(talk, exchange.send(talk.answer_bytes()))

    return play


def wait_for_the_end(talk: Talk) -> None:
    """The only wait: sessions of Kafka end by its own clock."""
    end = time.monotonic() + SESSION_MS / 1000 + 0.2
    while time.monotonic() < end and talk.outcomes[-1] != CLOSED:
        talk.ask("ApiVersions", 0)
    talk.outcomes = [*talk.outcomes[:2], talk.outcomes[-1]]


PLAIN_MESSAGES = (
    b"",
    b"alice",
    b"\0\0",
    b"\0alice\0",
    b"\0\0x",
    b"carol\0alice\0alice-secret",
    b"\xff\0\xff\0\xff",
    ALICE + b"\0x",
)
SCRAM_MESSAGES = (
    b"",
    b"n,,n=bob",
    b"y,,n=bob,r=nonce",
    b"n,a=other,n=bob,r=nonce",
    b"n,a=bob,n=bob,r=nonce",
    b"n,,n=b=2Cb,r=nonce",
    b"n,,n=bob,r=nonce,tokenauth=true",
    b"n,,n=bob,r=nonce,x=y",
    b"n,,m=x,n=bob,r=nonce",
)
OF_SCRAM = [
    (mechanism, user, password)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    for user, password in (("bob", "bob-secret"), ("bob", "wrong"), ("stranger", "x"), ("alice", "alice-secret"))
]

OF_SASL: dict[str, Sequence[Step]] = {
    "PLAIN of the oldest version": [VERSIONS, SHAKE, token(ALICE, 0), METADATA],
    "authenticated twice": [SHAKE, LOGIN, SHAKE, LOGIN, software("x")],
    "wrong password": [SHAKE, token(WRONG), VERSIONS],
    "unknown user": [SHAKE, token(b"\0stranger\0wrong", 1)],
    **{f"PLAIN {message!r}": [SHAKE, token(message)] for message in PLAIN_MESSAGES},
    "unsupported mechanism": [handshake("GSSAPI"), VERSIONS],
    "unsupported mechanism in version 0": [handshake("plain", 0)],
    "Metadata first": [METADATA],
    "Metadata after ApiVersions": [VERSIONS, METADATA],
    "SaslAuthenticate first": [LOGIN],
    "ApiVersions twice": [VERSIONS, VERSIONS],
    "ApiVersions with errors": [software("-"), ask("ApiVersions", 99), VERSIONS, SHAKE],
    "ApiVersions after the handshake": [SHAKE, VERSIONS],
    "DescribeCluster after the handshake": [SHAKE, DESCRIBE],
    "handshake twice": [SHAKE, SHAKE],
    "handshake of an unknown version": [handshake(version=9)],
    "SaslAuthenticate of an unknown version": [SHAKE, token(ALICE, 9)],
    "no request": [raw(b"\x60\x81\x00")],
    "unknown API": [raw(bytes.fromhex("7fff0000000000010000"))],
    "bare messages": [handshake(version=0), bare_login, METADATA],
    "bare messages that are wrong": [handshake(version=0), raw(WRONG)],
    "bare messages of SCRAM": [handshake("SCRAM-SHA-256", 0), bare_scram, METADATA],
    "too large": [too_large],
    **{f"{each[0]} of {each[1]} with {each[2]}": [handshake(each[0]), scram_of(*each), METADATA] for each in OF_SCRAM},
    **{f"SCRAM {message!r}": [SHAKE_SCRAM, token(message)] for message in SCRAM_MESSAGES},
    "wrong last message of SCRAM": [SHAKE_SCRAM, token(b"n,,n=bob,r=nonce"), token(b"c=biws,r=nonce,p=AAAA")],
    "token": [SHAKE_BEARER, bearer(version=0), METADATA],
    "token that has expired": [SHAKE_BEARER, bearer(exp=-10)],
    "token of the future": [SHAKE_BEARER, bearer(iat=1000)],
    "token without a subject": [SHAKE_BEARER, bearer(sub="")],
    "message without a token": [SHAKE_BEARER, token(b"n,,\x01x=y\x01\x01")],
}
OF_SHORT: dict[str, Sequence[Step]] = {
    "again in time": [SHAKE, token(ALICE, 1), METADATA, SHAKE],
    "again as another user": [SHAKE, token(CAROL)],
    "again by another mechanism": [SHAKE_SCRAM, token(b"n,,n=bob,r=nonce")],
    "again with a wrong password": [SHAKE, token(b"\0")],
    "again by a mechanism that is not enabled": [handshake("GSSAPI")],
    "again with another request": [SHAKE, DESCRIBE],
    "after the end": [wait_for_the_end],
}
"""What follows a login to a session of two seconds."""

SCENES: dict[str, tuple[str, Sequence[Step]]] = {
    **{name: (SASL, steps) for name, steps in OF_SASL.items()},
    **{name: (SHORT, [SHAKE, LOGIN, *steps]) for name, steps in OF_SHORT.items()},
}
"""The listener and the steps of each scene."""
