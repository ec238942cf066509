"""The settings of clients for a double: for each client library, in the form that it takes.

Rules. One table, `CLIENTS`. A client gets the addresses of the brokers, the authority that it is to
trust, and the certificate of a user if one is named. Contents of files are given where the library
takes texts only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import UsageError
from .security import Security

CONFLUENT, JAVA = "confluent-kafka", "java"


class ClientSecurity(NamedTuple):
    """What a client is to use. `key_file` is None without a user."""

    bootstrap: str
    protocol: str = "PLAINTEXT"
    authority_file: str = ""
    key_file: str | None = None

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.protocol != "PLAINTEXT"


def client_config(bootstrap: str, security: Security | None, user: str | None, client: str) -> dict[str, Any]:
    """The settings of one client. UsageError for an unknown client, and for a user without
    security."""
    if client not in CLIENTS:
        raise UsageError(f"client is {client!r}: there are {', '.join(CLIENTS)}")
    if security is None:
        if user is not None:
            raise UsageError(f"user {user!r} cannot authenticate: the listeners are PLAINTEXT; give security=")
        return CLIENTS[client](ClientSecurity(bootstrap))
    certificates = security.certificates
    key_file = None if user is None else str(certificates.of_user(user))
    return CLIENTS[client](ClientSecurity(bootstrap, security.protocol, str(certificates.authority_file), key_file))


def _confluent(given: ClientSecurity) -> dict[str, Any]:
    found = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    if given.has_tls:
        found["ssl.ca.location"] = given.authority_file
    if given.key_file is not None:
        found |= {"ssl.certificate.location": given.key_file, "ssl.key.location": given.key_file}
    return found


def _kafka_python(given: ClientSecurity) -> dict[str, Any]:
    found: dict[str, Any] = {
        "bootstrap_servers": given.bootstrap.split(","),
        "security_protocol": given.protocol,
    }
    if given.has_tls:
        found["ssl_cafile"] = given.authority_file
    if given.key_file is not None:
        found |= {"ssl_certfile": given.key_file, "ssl_keyfile": given.key_file}
    return found


def _aiokafka(given: ClientSecurity) -> dict[str, Any]:
    found: dict[str, Any] = {"bootstrap_servers": given.bootstrap, "security_protocol": given.protocol}
    if given.has_tls:
        import ssl

        found["ssl_context"] = ssl.create_default_context(cafile=given.authority_file)
        if given.key_file is not None:
            found["ssl_context"].load_cert_chain(given.key_file)
    return found


def _java(given: ClientSecurity) -> dict[str, Any]:
    found = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    if given.has_tls:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": given.authority_file}
    if given.key_file is not None:
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": given.key_file}
    return found


def _franz_go(given: ClientSecurity) -> dict[str, Any]:
    """For kgo.SeedBrokers and a tls.Config: names of files."""
    found: dict[str, Any] = {"seed_brokers": given.bootstrap.split(",")}
    if given.has_tls:
        found["tls"] = {"ca_file": given.authority_file}
    if given.key_file is not None:
        found["tls"] |= {"cert_file": given.key_file, "key_file": given.key_file}
    return found


def _kafkajs(given: ClientSecurity) -> dict[str, Any]:
    found: dict[str, Any] = {"brokers": given.bootstrap.split(",")}
    if given.has_tls:
        found["ssl"] = {"ca": [_text(given.authority_file)]}
    if given.key_file is not None:
        found["ssl"] |= {"key": _text(given.key_file), "cert": _text(given.key_file)}
    return found


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


CLIENTS: dict[str, Callable[[ClientSecurity], dict[str, Any]]] = {
    CONFLUENT: _confluent,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    JAVA: _java,
    "franz-go": _franz_go,
    "kafkajs": _kafkajs,
}
"""How each client takes its settings."""
