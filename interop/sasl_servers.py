"""A server with SASL, of each kind: an Apache Kafka, and a kafkadouble with the same
server.properties.

Listeners beside the plain one: SASL has every mechanism that both serve, SHORT has sessions of two
seconds. Users: alice by PLAIN, bob by SCRAM, each with the password NAME-secret; anyone by an
unsecured token.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import pbkdf2_hmac
from pathlib import Path

from interop import quorum
from interop.local.cluster import Kafka
from interop.local.node import Node, finished
from interop.local.ports import HOST, free_ports
from interop.quorum import CLIENTS, CONTROLLER, Seat
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.security.scram import MECHANISMS

SASL, SHORT = "SASL", "SHORT"
PROTOCOLS = {CLIENTS: "PLAINTEXT", CONTROLLER: "PLAINTEXT", SASL: "SASL_PLAINTEXT", SHORT: "SASL_PLAINTEXT"}
"""The listeners, and the security protocol of each."""

SESSION_MS = 2000
MODULES = "org.apache.kafka.common.security"
LOGINS = {
    "plain": f'{MODULES}.plain.PlainLoginModule required user_alice="alice-secret" user_carol="carol-secret";',
    "scram-sha-256": f"{MODULES}.scram.ScramLoginModule required;",
    "scram-sha-512": f"{MODULES}.scram.ScramLoginModule required;",
    "oauthbearer": f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="node";',
}

SETTINGS: Mapping[str, object] = {
    "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items()),
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


@contextmanager
def sasl_kafka(folder: Path) -> Iterator[Mapping[str, tuple[str, int]]]:
    """The addresses of a running Apache Kafka, by listener. Raises Missing."""
    addresses = {name: (HOST, port) for name, port in zip(PROTOCOLS, free_ports(len(PROTOCOLS)), strict=True)}
    seat = Seat(1, ("broker", "controller"), addresses, addresses)
    settings = quorum.settings(seat, [seat], str(folder / "data"))
    settings |= {name: str(value) for name, value in SETTINGS.items()}
    users = [word for name in MECHANISMS for word in ("--add-scram", f"{name}=[name=bob,password=bob-secret]")]
    node = Node(seat, Kafka(), quorum.cluster_id(), folder, settings)
    try:
        finished([node.formatting(users)])
        node.start()
        yield addresses
    finally:
        node.kill()


@contextmanager
def sasl_double(folder: Path) -> Iterator[Mapping[str, tuple[str, int]]]:
    """The addresses of a running kafkadouble, by listener."""
    addresses = {name: (HOST, port) for name, port in zip(PROTOCOLS, free_ports(len(PROTOCOLS)), strict=True)}
    seat = Seat(1, ("broker", "controller"), addresses, addresses)
    settings = quorum.settings(seat, [seat], str(folder / "data"))
    settings |= {name: str(value) for name, value in SETTINGS.items()}
    config = folder / "double.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    words = [word for name in MECHANISMS for word in ("--add-scram", f"{name}=[name=bob,password=bob-secret]")]
    kafkadouble = [sys.executable, "-m", "kafkadouble"]
    subprocess.run(
        [*kafkadouble, "format", "-t", quorum.cluster_id(), "-c", str(config), *words], check=True, capture_output=True
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
            yield addresses
        finally:
            process.terminate()
