"""The scenes of SASL that are played to a kafkadouble and to an Apache Kafka: what a client sends
on one connection, and the outcomes that are compared."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from interop.sasl_servers import SASL, SESSION_MS, SHORT
from kafkadouble.server.security.sasl import oauth_bearer, scram
from tests.support.sasl_talk import CLOSED, Talk, plain_token, shake

ALICE, CAROL, WRONG = b"\0alice\0alice-secret", b"\0carol\0carol-secret", b"\0alice\0wrong"

Scene = Callable[[Talk], None]
SCENES: dict[str, tuple[str, Scene]] = {}


def scene(listener: str = SASL) -> Callable[[Scene], Scene]:
    def note(function: Scene) -> Scene:
        SCENES[function.__name__] = listener, function
        return function

    return note


@scene()
def plain_of_every_version(talk: Talk) -> None:
    talk.ask("ApiVersions", 0)
    shake(talk)
    plain_token(talk, ALICE, 0)
    talk.ask("Metadata", 12, topics=[])


@scene()
def authenticated_twice(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk)
    plain_token(talk, ALICE)
    talk.ask("ApiVersions", 3, client_software_name="x", client_software_version="1")


@scene()
def wrong_password(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, WRONG)
    talk.ask("ApiVersions", 0)


@scene()
def unknown_user(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, b"\0stranger\0wrong", 1)


for number, token in enumerate(
    (b"", b"alice", b"\0\0", b"\0alice\0", b"\0\0x", b"carol\0alice\0alice-secret", b"\xff\0\xff\0\xff", ALICE + b"\0x")
):

    @scene()
    def plain_message(talk: Talk, token: bytes = token) -> None:
        shake(talk)
        plain_token(talk, token)

    SCENES[f"plain_message_{number}"] = SCENES.pop("plain_message")


@scene()
def unsupported_mechanism(talk: Talk) -> None:
    shake(talk, "GSSAPI")
    talk.ask("ApiVersions", 0)


@scene()
def unsupported_mechanism_in_version_0(talk: Talk) -> None:
    shake(talk, "plain", 0)


@scene()
def metadata_first(talk: Talk) -> None:
    talk.ask("Metadata", 12, topics=[])


@scene()
def metadata_after_versions(talk: Talk) -> None:
    talk.ask("ApiVersions", 0)
    talk.ask("Metadata", 12, topics=[])


@scene()
def authenticate_first(talk: Talk) -> None:
    plain_token(talk, ALICE)


@scene()
def versions_twice(talk: Talk) -> None:
    talk.ask("ApiVersions", 0)
    talk.ask("ApiVersions", 0)


@scene()
def versions_with_errors(talk: Talk) -> None:
    talk.ask("ApiVersions", 3, client_software_name="-", client_software_version="1")
    talk.ask("ApiVersions", 99)
    talk.ask("ApiVersions", 0)
    shake(talk)


@scene()
def versions_after_the_handshake(talk: Talk) -> None:
    shake(talk)
    talk.ask("ApiVersions", 0)


@scene()
def metadata_after_the_handshake(talk: Talk) -> None:
    shake(talk)
    talk.ask("DescribeCluster", 2)


@scene()
def handshake_twice(talk: Talk) -> None:
    shake(talk)
    shake(talk)


@scene()
def handshake_of_a_version_that_is_not_there(talk: Talk) -> None:
    shake(talk, version=9)


@scene()
def authenticate_of_a_version_that_is_not_there(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE, 9)


@scene()
def no_request(talk: Talk) -> None:
    talk.raw(b"\x60\x81\x00")


@scene()
def unknown_api(talk: Talk) -> None:
    talk.raw(bytes.fromhex("7fff0000000000010000"))


@scene()
def bare_messages(talk: Talk) -> None:
    shake(talk, version=0)
    assert talk.raw(ALICE) == b""
    talk.ask("Metadata", 12, topics=[])


@scene()
def bare_messages_that_are_wrong(talk: Talk) -> None:
    shake(talk, version=0)
    talk.raw(WRONG)


@scene()
def bare_messages_of_scram(talk: Talk) -> None:
    shake(talk, "SCRAM-SHA-256", 0)
    exchange = scram.client_exchange("SCRAM-SHA-256", "bob", "bob-secret")
    first = talk.raw(next(exchange))
    with pytest.raises(StopIteration):
        exchange.send(talk.raw(exchange.send(first or b"")) or b"")
    talk.ask("Metadata", 12, topics=[])


@scene()
def too_large(talk: Talk) -> None:
    talk.socket.sendall((524289).to_bytes(4) + b"x" * 100)
    talk.outcomes.append(CLOSED if talk.raw(b"") is None else "open")


for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
    for user, password in (("bob", "bob-secret"), ("bob", "wrong"), ("stranger", "x"), ("alice", "alice-secret")):

        @scene()
        def scram_of(talk: Talk, mechanism: str = mechanism, user: str = user, password: str = password) -> None:
            shake(talk, mechanism)
            talk.by(scram.client_exchange(mechanism, user, password))
            talk.ask("Metadata", 12, topics=[])

        SCENES[f"{mechanism} of {user} with {password}"] = SCENES.pop("scram_of")

for number, message in enumerate(
    (
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
):

    @scene()
    def scram_first(talk: Talk, message: bytes = message) -> None:
        shake(talk, "SCRAM-SHA-256")
        plain_token(talk, message)

    SCENES[f"scram_first_{number}"] = SCENES.pop("scram_first")


@scene()
def scram_final_that_is_wrong(talk: Talk) -> None:
    shake(talk, "SCRAM-SHA-256")
    plain_token(talk, b"n,,n=bob,r=nonce")
    plain_token(talk, b"c=biws,r=nonce,p=AAAA")


def _bearer(talk: Talk, **claims: object) -> None:
    shake(talk, "OAUTHBEARER")
    token = oauth_bearer.unsecured_token({"sub": "ann", **claims}, int(time.time()), 3600)
    exchange = oauth_bearer.client_exchange(token)
    plain_token(talk, next(exchange))
    if talk.answer_bytes():
        plain_token(talk, exchange.send(talk.answer_bytes()))


@scene()
def bearer(talk: Talk) -> None:
    shake(talk, "OAUTHBEARER")
    token = oauth_bearer.unsecured_token({"sub": "ann"}, int(time.time()), 3600)
    talk.ask("SaslAuthenticate", 0, auth_bytes=next(oauth_bearer.client_exchange(token)))
    talk.ask("Metadata", 12, topics=[])


@scene()
def bearer_expired(talk: Talk) -> None:
    _bearer(talk, exp=int(time.time()) - 10)


@scene()
def bearer_not_yet(talk: Talk) -> None:
    _bearer(talk, iat=int(time.time()) + 1000)


@scene()
def bearer_for_no_one(talk: Talk) -> None:
    _bearer(talk, sub="")


@scene()
def bearer_message(talk: Talk) -> None:
    shake(talk, "OAUTHBEARER")
    plain_token(talk, b"n,,\x01x=y\x01\x01")


@scene(SHORT)
def again_in_time(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk)
    plain_token(talk, ALICE, 1)
    talk.ask("Metadata", 12, topics=[])
    shake(talk)


@scene(SHORT)
def again_as_another_user(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk)
    plain_token(talk, CAROL)


@scene(SHORT)
def again_by_another_mechanism(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk, "SCRAM-SHA-256")
    plain_token(talk, b"n,,n=bob,r=nonce")


@scene(SHORT)
def again_with_a_wrong_password(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk)
    plain_token(talk, b"\0")


@scene(SHORT)
def again_by_a_mechanism_that_is_not_enabled(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk, "GSSAPI")


@scene(SHORT)
def again_with_another_request(talk: Talk) -> None:
    shake(talk)
    plain_token(talk, ALICE)
    shake(talk)
    talk.ask("DescribeCluster", 2)


@scene(SHORT)
def after_the_end(talk: Talk) -> None:
    """The only wait: sessions of Kafka end by its own clock."""
    shake(talk)
    plain_token(talk, ALICE)
    end = time.monotonic() + SESSION_MS / 1000 + 0.2
    while time.monotonic() < end and talk.outcomes[-1] != CLOSED:
        talk.ask("ApiVersions", 0)
    talk.outcomes = [*talk.outcomes[:2], talk.outcomes[-1]]
