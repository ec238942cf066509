"""The settings of clients for a double: for each client library, in the form that it takes.

Rules. One table, `CLIENTS`. A client gets the addresses of the brokers, the authority that it is to
trust, and what authenticates a user if one is named: a name and a password with SASL, otherwise a
certificate. Contents of files are given where the library takes texts only, and if a program wants
them for a client on another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import UsageError
from .security import Security
from .users import quoted

CONFLUENT, JAVA = "confluent-kafka", "java"
PLAIN = "PLAIN"
CERTIFICATE = "-----BEGIN CERTIFICATE-----"
LOGIN_MODULES = {
    PLAIN: "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
}
"""Java's classes, by mechanism."""


class SaslLogin(NamedTuple):
    """The login of a user."""

    mechanism: str
    name: str
    password: str

    def __repr__(self) -> str:
        return f"{self.name} by {self.mechanism}"


class ClientSecurity(NamedTuple):
    """What a client is to use. `authority_file` is empty without TLS, `key_file` without the
    certificate of a user. With `contents` a client gets PEM in place of names of files."""

    bootstrap: str
    protocol: str = "PLAINTEXT"
    authority_file: str = ""
    key_file: str = ""
    login: SaslLogin | None = None
    contents: bool = False


def client_config(
    bootstrap: str,
    security: Security | None,
    user: str | None,
    client: str,
    mechanism: str | None = None,
    contents: bool = False,
) -> dict[str, Any]:
    """The settings of one client. UsageError for an unknown client or mechanism, and for a user
    that cannot authenticate."""
    if client not in CLIENTS:
        raise UsageError(f"client is {client!r}: there are {', '.join(CLIENTS)}")
    if security is None and user is not None:
        raise UsageError(f"user {user!r} cannot authenticate: the listeners are PLAINTEXT; give security=")
    if mechanism is not None and (security is None or not security.has_sasl):
        raise UsageError(f"mechanism is {mechanism!r}, and the listeners have no SASL")
    if security is None:
        return CLIENTS[client](ClientSecurity(bootstrap))
    given = ClientSecurity(bootstrap, security.protocol, contents=contents)
    return CLIENTS[client](_of_user(given, security, user, mechanism or PLAIN))


def _of_user(given: ClientSecurity, security: Security, user: str | None, mechanism: str) -> ClientSecurity:
    if security.certificates is not None:
        given = given._replace(authority_file=str(security.certificates.authority_file))
    if security.has_sasl:
        return given._replace(login=_login(security, user, mechanism))
    if user is None or security.certificates is None:
        return given
    return given._replace(key_file=str(security.certificates.of_user(user)))


def _login(security: Security, user: str | None, mechanism: str) -> SaslLogin:
    if user is None or user not in security.users:
        raise UsageError(f"user is {user!r}: there are {', '.join(security.users)}")
    if mechanism not in LOGIN_MODULES:
        raise UsageError(f"mechanism is {mechanism!r}: there are {', '.join(LOGIN_MODULES)}")
    return SaslLogin(mechanism, user, security.users[user])


def _confluent(given: ClientSecurity) -> dict[str, Any]:
    found = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    form, value = ("pem", _text) if given.contents else ("location", str)
    if given.authority_file:
        found[f"ssl.ca.{form}"] = value(given.authority_file)
    if given.key_file:
        own = value(given.key_file)
        found |= {f"ssl.certificate.{form}": own, f"ssl.key.{form}": own}
    if login := given.login:
        found |= {"sasl.mechanism": login.mechanism, "sasl.username": login.name, "sasl.password": login.password}
    return found


def _kafka_python(given: ClientSecurity) -> dict[str, Any]:
    if given.contents and given.authority_file:
        raise UsageError("kafka-python takes names of files: leave out contents")
    found: dict[str, Any] = {
        "bootstrap_servers": given.bootstrap.split(","),
        "security_protocol": given.protocol,
        **_python_login(given),
    }
    if given.authority_file:
        found["ssl_cafile"] = given.authority_file
    if given.key_file:
        found |= {"ssl_certfile": given.key_file, "ssl_keyfile": given.key_file}
    return found


def _aiokafka(given: ClientSecurity) -> dict[str, Any]:
    found: dict[str, Any] = {
        "bootstrap_servers": given.bootstrap,
        "security_protocol": given.protocol,
        **_python_login(given),
    }
    if given.authority_file:
        import ssl

        found["ssl_context"] = ssl.create_default_context(cafile=given.authority_file)
        if given.key_file:
            found["ssl_context"].load_cert_chain(given.key_file)
    return found


def _python_login(given: ClientSecurity) -> dict[str, str]:
    if (login := given.login) is None:
        return {}
    return {
        "sasl_mechanism": login.mechanism,
        "sasl_plain_username": login.name,
        "sasl_plain_password": login.password,
    }


def _java(given: ClientSecurity) -> dict[str, Any]:
    found = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    if given.authority_file:
        found["ssl.truststore.type"] = "PEM"
        name, value = ("certificates", _text) if given.contents else ("location", str)
        found[f"ssl.truststore.{name}"] = value(given.authority_file)
    if given.key_file and given.contents:
        own = _text(given.key_file)
        at = own.index(CERTIFICATE)
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": own[:at]}
        found["ssl.keystore.certificate.chain"] = own[at:]
    elif given.key_file:
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": given.key_file}
    if login := given.login:
        words = f"username={quoted(login.name)} password={quoted(login.password)}"
        module = f"org.apache.kafka.common.security.{LOGIN_MODULES[login.mechanism]}"
        found |= {"sasl.mechanism": login.mechanism, "sasl.jaas.config": f"{module} required {words};"}
    return found


def _franz_go(given: ClientSecurity) -> dict[str, Any]:
    """For kgo.SeedBrokers, a tls.Config with names or contents of files, and a sasl.Mechanism."""
    found: dict[str, Any] = {"seed_brokers": given.bootstrap.split(",")}
    form, value = ("pem", _text) if given.contents else ("file", str)
    if given.authority_file:
        found["tls"] = {f"ca_{form}": value(given.authority_file)}
    if given.key_file:
        own = value(given.key_file)
        found["tls"] |= {f"cert_{form}": own, f"key_{form}": own}
    if login := given.login:
        found["sasl"] = {"mechanism": login.mechanism, "user": login.name, "pass": login.password}
    return found


def _kafkajs(given: ClientSecurity) -> dict[str, Any]:
    found: dict[str, Any] = {"brokers": given.bootstrap.split(",")}
    if given.authority_file:
        found["ssl"] = {"ca": [_text(given.authority_file)]}
    if given.key_file:
        found["ssl"] |= {"key": _text(given.key_file), "cert": _text(given.key_file)}
    if login := given.login:
        found["sasl"] = {"mechanism": login.mechanism.lower(), "username": login.name, "password": login.password}
    return found


def _generic(given: ClientSecurity) -> dict[str, Any]:
    """For any other client: every key is there, and null if it is not needed."""
    login = given.login
    return {
        "bootstrap_servers": given.bootstrap,
        "security_protocol": given.protocol,
        "ca_pem": _text(given.authority_file) if given.authority_file else None,
        "certificate_and_key_pem": _text(given.key_file) if given.key_file else None,
        "mechanism": login and login.mechanism,
        "user": login and login.name,
        "password": login and login.password,
    }


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
    "generic": _generic,
}
"""How each client takes its settings."""
