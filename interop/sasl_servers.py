"""A server with SASL, of each kind: an Apache Kafka, and a kafkadouble with the same
server.properties.

Listeners beside the plain one: SASL has every mechanism that both serve, SHORT has sessions of two
seconds. Users: alice by PLAIN, bob by SCRAM, each with the password NAME-secret; anyone by an
unsecured token. With a URL of keys there is SIGNED, which takes signed tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import NamedTuple

from interop.local import VERSION
from interop.local.cluster import Kafka, quickest
from interop.local.node import Kind, Node
from interop.one_node import KINDS, at_listeners, logins, one_node
from interop.quorum import CLIENTS, CONTROLLER, Address
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.security.scram import MECHANISMS
from tests.support.signed_tokens import settings_of

SASL, SHORT, SIGNED = "SASL", "SHORT", "SIGNED"
PROTOCOLS = {CLIENTS: "PLAINTEXT", CONTROLLER: "PLAINTEXT", SASL: "SASL_PLAINTEXT", SHORT: "SASL_PLAINTEXT"}
"""The listeners, and the security protocol of each."""
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""A property of the JVM: the only URLs that Kafka reads."""

SESSION_MS = 2000
LOGINS = logins('user_alice="alice-secret" user_carol="carol-secret"')

SETTINGS: Mapping[str, object] = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    **at_listeners((SASL, SHORT), LOGINS),
    "listener.name.short.connections.max.reauth.ms": SESSION_MS,
    "delegation.token.secret.key": "key",
}


def scram_users(name: str, password: str) -> list[AlterUserScramCredentialsRequest]:
    """The requests that give a user the keys of both mechanisms of SCRAM."""
    return [
        AlterUserScramCredentialsRequest(
            upsertions=[
                AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
                    name=name,
                    mechanism=mechanism.type,
                    iterations=4096,
                    salt=b"salt",
                    salted_password=pbkdf2_hmac(mechanism.hash, password.encode(), b"salt", 4096),
                )
            ]
        )
        for mechanism in MECHANISMS.values()
    ]


@contextmanager
def sasl_node(kind: str, folder: Path, keys_url: str = "") -> Iterator[Node]:
    """A running node of the kind with this word. Raises Missing."""
    program: Kind = KINDS[kind]
    if keys_url and kind == "local":
        program = Kafka(flags=(*quickest(VERSION), f"-D{ALLOWED_URLS}={keys_url}"))
    protocols = {**PROTOCOLS, SIGNED: "SASL_PLAINTEXT"} if keys_url else PROTOCOLS
    settings = {**SETTINGS, **settings_of(keys_url, SIGNED.lower())} if keys_url else SETTINGS
    with one_node(
        program, folder, protocols, settings, [f"{name}=[name=bob,password=bob-secret]" for name in MECHANISMS]
    ) as node:
        yield node


class Pair(NamedTuple):
    """The addresses of a kafkadouble and of an Apache Kafka, by listener."""

    double: Mapping[str, Address]
    kafka: Mapping[str, Address]


@contextmanager
def sasl_pair(folder: Path, keys_url: str = "") -> Iterator[Pair]:
    """Both running, with the same listeners. Raises Missing."""
    with (
        sasl_node("double", folder / "double", keys_url) as ours,
        sasl_node("local", folder / "kafka", keys_url) as theirs,
    ):
        yield Pair(ours.seat.known, theirs.seat.known)
