"""The settings of clients for a double, in the form of each client library.

Rules. The table `CLIENTS` has a function for each library. A client gets the addresses of the
brokers and the authority to trust. If a user is named, the client also gets a name and a password
(with SASL) or a certificate. Contents of files replace paths if the library accepts only texts, or
if the client runs on another machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kafkadouble.access.users import quoted
from kafkadouble.common.errors import UsageError
from kafkadouble.common.literals import ClientLibrary
from kafkadouble.server.security.sasl.bearer_validators import PACKAGE as OAUTHBEARER_PACKAGE
from kafkadouble.server.security.sasl.mechanisms import OAUTHBEARER, UNSECURED

from .client_security import ClientSecurity, SaslLogin
from .token_providers import aiokafka_provider, kafka_python_provider

CONFLUENT: Final = "confluent-kafka"
JAVA: Final = "java"
CERTIFICATE = "-----BEGIN CERTIFICATE-----"
LOGIN_MODULES = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    OAUTHBEARER: "oauthbearer.OAuthBearerLoginModule",
}
"""SASL mechanism -> Java's login module."""


def client_config(given: ClientSecurity, client: ClientLibrary) -> dict[str, Any]:
    """The settings of one client. UsageError for an unknown client, and for an option that the
    client does not support."""
    if client not in CLIENTS:
        raise UsageError(f"client is {client!r}: there are {', '.join(CLIENTS)}")
    return CLIENTS[client](given)


def _confluent(given: ClientSecurity) -> dict[str, Any]:
    config = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    form, value = ("pem", _text) if given.contents else ("location", str)
    if given.authority_file:
        config[f"ssl.ca.{form}"] = value(given.authority_file)
    if given.key_file:
        own = value(given.key_file)
        config |= {f"ssl.certificate.{form}": own, f"ssl.key.{form}": own}
    if login := given.login:
        config["sasl.mechanism"] = login.mechanism
        if login.is_signed:
            return config | (
                {
                    "sasl.oauthbearer.method": "oidc",
                    "sasl.oauthbearer.token.endpoint.url": given.token_endpoint,
                    "sasl.oauthbearer.client.id": login.name,
                    "sasl.oauthbearer.client.secret": login.secret,
                }
            )
        if login.mechanism == OAUTHBEARER:  # librdkafka makes the token
            return config | {
                "enable.sasl.oauthbearer.unsecure.jwt": "true",
                "sasl.oauthbearer.config": f"principal={login.name}",
            }
        config |= {"sasl.username": login.name, "sasl.password": login.password}
    return config


def _kafka_python(given: ClientSecurity) -> dict[str, Any]:
    if given.contents and given.authority_file:
        raise UsageError("kafka-python takes names of files: leave out contents")
    config: dict[str, Any] = {
        "bootstrap_servers": given.bootstrap.split(","),
        "security_protocol": given.protocol,
        **_python_login(given, kafka_python_provider),
    }
    if given.authority_file:
        config["ssl_cafile"] = given.authority_file
    if given.key_file:
        config |= {"ssl_certfile": given.key_file, "ssl_keyfile": given.key_file}
    return config


def _aiokafka(given: ClientSecurity) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap_servers": given.bootstrap,
        "security_protocol": given.protocol,
        **_python_login(given, aiokafka_provider),
    }
    if given.authority_file:
        import ssl  # only for a client with TLS

        config["ssl_context"] = ssl.create_default_context(cafile=given.authority_file)
        if given.key_file:
            config["ssl_context"].load_cert_chain(given.key_file)
    return config


def _python_login(given: ClientSecurity, provider: Callable[[str], object]) -> dict[str, Any]:
    if (login := given.login) is None:
        return {}
    if login.mechanism == OAUTHBEARER:
        return {"sasl_mechanism": login.mechanism, "sasl_oauth_token_provider": provider(login.password)}
    return {
        "sasl_mechanism": login.mechanism,
        "sasl_plain_username": login.name,
        "sasl_plain_password": login.password,
    }


def _java(given: ClientSecurity) -> dict[str, Any]:
    config = {"bootstrap.servers": given.bootstrap, "security.protocol": given.protocol}
    if given.authority_file:
        config["ssl.truststore.type"] = "PEM"
        name, value = ("certificates", _text) if given.contents else ("location", str)
        config[f"ssl.truststore.{name}"] = value(given.authority_file)
    if given.key_file and given.contents:
        own = _text(given.key_file)
        at = own.index(CERTIFICATE)
        config |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": own[:at]}
        config["ssl.keystore.certificate.chain"] = own[at:]
    elif given.key_file:
        config |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": given.key_file}
    if login := given.login:
        words = f"username={quoted(login.name)} password={quoted(login.password)}"
        if login.is_signed:
            words = f"clientId={quoted(login.name)} clientSecret={quoted(login.secret)}"
            config["sasl.login.callback.handler.class"] = f"{OAUTHBEARER_PACKAGE}.OAuthBearerLoginCallbackHandler"
            config["sasl.oauthbearer.token.endpoint.url"] = given.token_endpoint
        elif login.mechanism == OAUTHBEARER:  # Kafka's login module makes the token
            words = f"{UNSECURED}sub={quoted(login.name)}"
        module = f"org.apache.kafka.common.security.{LOGIN_MODULES[login.mechanism]}"
        config |= {"sasl.mechanism": login.mechanism, "sasl.jaas.config": f"{module} required {words};"}
    return config


def _franz_go(given: ClientSecurity) -> dict[str, Any]:
    """The values for kgo.SeedBrokers, a tls.Config with names or contents of files, and a
    sasl.Mechanism."""
    config: dict[str, Any] = {"seed_brokers": given.bootstrap.split(",")}
    form, value = ("pem", _text) if given.contents else ("file", str)
    if given.authority_file:
        config["tls"] = {f"ca_{form}": value(given.authority_file)}
    if given.key_file:
        own = value(given.key_file)
        config["tls"] |= {f"cert_{form}": own, f"key_{form}": own}
    if login := given.login:
        config["sasl"] = {"mechanism": login.mechanism, **_secret(login, "user", "pass")}
    return config


def _kafkajs(given: ClientSecurity) -> dict[str, Any]:
    config: dict[str, Any] = {"brokers": given.bootstrap.split(",")}
    if given.authority_file:
        config["ssl"] = {"ca": [_text(given.authority_file)]}
    if given.key_file:
        config["ssl"] |= {"key": _text(given.key_file), "cert": _text(given.key_file)}
    if login := given.login:
        config["sasl"] = {"mechanism": login.mechanism.lower(), **_secret(login, "username", "password")}
    return config


def _secret(login: SaslLogin, name: str, password: str) -> dict[str, str]:
    """The user and the password under these keys, or the token."""
    if login.mechanism == OAUTHBEARER:
        return {"token": login.password}
    return {name: login.name, password: login.password}


def _generic(given: ClientSecurity) -> dict[str, Any]:
    """The values for any other client: every key exists, and its value is None if it is not
    needed."""
    login = given.login
    return {
        "bootstrap_servers": given.bootstrap,
        "security_protocol": given.protocol,
        "ca_pem": _text(given.authority_file) if given.authority_file else None,
        "certificate_and_key_pem": _text(given.key_file) if given.key_file else None,
        "mechanism": login and login.mechanism,
        "user": login and login.name,
        "password": login.password if login and login.mechanism != OAUTHBEARER else None,
        "token": login.password if login and login.mechanism == OAUTHBEARER else None,
    }


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


CLIENTS: dict[ClientLibrary, Callable[[ClientSecurity], dict[str, Any]]] = {
    CONFLUENT: _confluent,
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    JAVA: _java,
    "franz-go": _franz_go,
    "kafkajs": _kafkajs,
    "generic": _generic,
}
"""Client library -> the function that builds its settings."""
