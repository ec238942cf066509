"""A server with SASL, of each kind: an Apache Kafka, and a kafkadouble with the same
server.properties.

Listeners beside the plain one: SASL has every mechanism that both serve, SHORT has sessions of two
seconds. Users: alice by PLAIN, bob by SCRAM, each with the password NAME-secret; anyone by an
unsecured token. With a URL of keys there is SIGNED, which takes signed tokens.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import pbkdf2_hmac
from pathlib import Path

from interop import quorum
from interop.local import VERSION
from interop.local.cluster import Kafka, quickest
from interop.local.node import Node, finished
from interop.quorum import CLIENTS, CONTROLLER, Address, Seat
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.security.scram import MECHANISMS
from tests.support.ports import HOST, free_ports
from tests.support.signed_tokens import settings_of

SASL, SHORT, SIGNED = "SASL", "SHORT", "SIGNED"
PROTOCOLS = {CLIENTS: "PLAINTEXT", CONTROLLER: "PLAINTEXT", SASL: "SASL_PLAINTEXT", SHORT: "SASL_PLAINTEXT"}
"""The listeners, and the security protocol of each."""
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""A property of the JVM: the only URLs that Kafka reads."""

SESSION_MS = 2000
MODULES = "org.apache.kafka.common.security"
LOGINS = {
    "plain": f'{MODULES}.plain.PlainLoginModule required user_alice="alice-secret" user_carol="carol-secret";',
    "scram-sha-256": f"{MODULES}.scram.ScramLoginModule required;",
    "scram-sha-512": f"{MODULES}.scram.ScramLoginModule required;",
    "oauthbearer": f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";',
}

SETTINGS: Mapping[str, object] = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    **{
        f"listener.name.{name.lower()}.{mechanism}.sasl.jaas.config": login
        for name in (SASL, SHORT)
        for mechanism, login in LOGINS.items()
    },
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


def _seat(keys_url: str) -> Seat:
    names = [*PROTOCOLS, SIGNED] if keys_url else [*PROTOCOLS]
    addresses = {name: (HOST, port) for name, port in zip(names, free_ports(len(names)), strict=True)}
    return Seat(1, ("broker", "controller"), addresses, addresses)


def _settings(seat: Seat, folder: Path, keys_url: str) -> dict[str, str]:
    protocols = {**PROTOCOLS, SIGNED: "SASL_PLAINTEXT"}
    found = quorum.settings(seat, [seat], str(folder / "data"))
    found |= {name: str(value) for name, value in SETTINGS.items()}
    found["listener.security.protocol.map"] = ",".join(f"{name}:{protocols[name]}" for name in seat.known)
    return found | (settings_of(keys_url, SIGNED.lower()) if keys_url else {})


def _users() -> list[str]:
    return [word for name in MECHANISMS for word in ("--add-scram", f"{name}=[name=bob,password=bob-secret]")]


@contextmanager
def sasl_kafka(folder: Path, keys_url: str = "") -> Iterator[Mapping[str, Address]]:
    """The addresses of a running Apache Kafka, by listener. Raises Missing."""
    with sasl_node(folder, keys_url) as node:
        yield node.seat.known


@contextmanager
def sasl_node(folder: Path, keys_url: str = "") -> Iterator[Node]:
    """A running Apache Kafka. Raises Missing."""
    seat = _seat(keys_url)
    kafka = Kafka(flags=(*quickest(VERSION), f"-D{ALLOWED_URLS}={keys_url}"))
    node = Node(seat, kafka, quorum.cluster_id(), folder, _settings(seat, folder, keys_url))
    try:
        finished([node.formatting(_users())])
        node.start()
        yield node
    finally:
        node.kill()


@contextmanager
def sasl_double(folder: Path, keys_url: str = "") -> Iterator[Mapping[str, Address]]:
    """The addresses of a running kafkadouble, by listener."""
    seat = _seat(keys_url)
    config = folder / "double.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in _settings(seat, folder, keys_url).items()))
    kafkadouble = [sys.executable, "-m", "kafkadouble"]
    subprocess.run(
        [*kafkadouble, "format", "-t", quorum.cluster_id(), "-c", str(config), *_users()],
        check=True,
        capture_output=True,
    )
    command = [*kafkadouble, "serve", "--quiet", "--config", str(config)]
    with (
        (folder / "double.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith("bootstrap.servers="), (folder / "double.log").read_text()
            yield seat.known
        finally:
            process.terminate()
