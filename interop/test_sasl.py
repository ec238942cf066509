"""What users rely on: real clients authenticate by each mechanism that they offer, and a wrong
password is refused, as on Apache Kafka."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import confluent_kafka.admin
import pytest
from aiokafka import AIOKafkaClient
from aiokafka import errors as of_aiokafka
from kafka import errors as of_kafka_python
from kafka.net.sasl.oauth import AbstractTokenProvider

from interop.local.cluster import Kafka
from interop.one_node import addresses_of
from interop.sasl_servers import SASL, sasl_node
from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import Client as OwnClient
from kafkadouble.pipeline.client import NotAuthenticated
from kafkadouble.server.security.sasl import oauth_bearer
from tests.support.python_admin import RefusableAdmin

PATIENCE_S = 20.0
REFUSED = 3
pytestmark = pytest.mark.usefixtures("collected")

USER_OF = {"PLAIN": "alice", "SCRAM-SHA-256": "bob", "SCRAM-SHA-512": "bob"}


@pytest.fixture(scope="module")
def address(node_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of the listener with SASL."""
    with sasl_node(node_kind, tmp_path_factory.mktemp(node_kind)) as node:
        yield addresses_of(node)[SASL]


def bearer_token(seconds: int) -> str:
    return oauth_bearer.unsecured_token({"sub": "ann"}, int(time.time()) + min(seconds, 0) * 2, abs(seconds))


class Provider(AbstractTokenProvider):  # type: ignore[misc]
    """A token for kafka-python."""

    def __init__(self, text: str) -> None:
        self._text = text

    def token(self) -> str:
        return self._text


def of_confluent(address: str, mechanism: str, password: str) -> bool:
    """Whether confluent-kafka is let in; librdkafka tries again, so only the first error counts."""
    problems: list[int] = []
    given: dict[str, Any] = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "error_cb": lambda error: problems.append(error.code()),
        "log_level": 0,
    }
    if mechanism == "OAUTHBEARER":
        text = bearer_token(3600 if password != "wrong" else -3600)
        given["oauth_cb"] = lambda config: (text, time.time() + 3600)
    else:
        given |= {"sasl.username": USER_OF[mechanism], "sasl.password": password}
    admin = confluent_kafka.admin.AdminClient(given)
    refused = confluent_kafka.KafkaError._AUTHENTICATION
    found = admin.list_topics(timeout=PATIENCE_S) if password != "wrong" else None
    end = time.monotonic() + PATIENCE_S
    while found is None and refused not in problems:
        assert time.monotonic() < end, "librdkafka reports no failed authentication"
        admin.poll(0.1)
    return found is not None


def of_python(address: str, mechanism: str, password: str) -> bool:
    arguments: dict[str, Any] = (
        {"sasl_oauth_token_provider": Provider(bearer_token(3600 if password != "wrong" else -3600))}
        if mechanism == "OAUTHBEARER"
        else {"sasl_plain_username": USER_OF[mechanism], "sasl_plain_password": password}
    )
    try:
        # It tries again until then, also after a refusal.
        arguments["bootstrap_timeout_ms"] = 3000 if password == "wrong" else 30_000
        admin = RefusableAdmin(
            bootstrap_servers=address, security_protocol="SASL_PLAINTEXT", sasl_mechanism=mechanism, **arguments
        )
    except of_kafka_python.KafkaError:
        assert password == "wrong"
        return False
    try:
        return bool(admin.describe_cluster())
    finally:
        admin.close()


def of_aio(address: str, mechanism: str, password: str) -> bool:
    return asyncio.run(_of_aio(address, mechanism, password))


async def _of_aio(address: str, mechanism: str, password: str) -> bool:
    client = AIOKafkaClient(
        bootstrap_servers=address,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_plain_username=USER_OF[mechanism],
        sasl_plain_password=password,
    )
    try:
        await client.bootstrap()
        return bool(client.cluster.brokers())
    except (of_aiokafka.KafkaConnectionError, of_aiokafka.AuthenticationFailedError):
        return False
    finally:
        await client.close()


def of_own(address: str, mechanism: str, password: str) -> bool:
    """The client of the data sources."""
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    given: dict[str, object] = (
        {"sasl.jaas.config": f'{module} unsecuredLoginStringClaim_sub="ann" unsecuredLoginStringClaim_scope="x";'}
        if mechanism == "OAUTHBEARER"
        else {"sasl.username": USER_OF[mechanism], "sasl.password": password}
    )
    settings = {"bootstrap.servers": address, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism}
    try:
        with OwnClient({**settings, **given}) as client:
            client.topics()
            return True
    except NotAuthenticated:
        return False


MODULES = "org.apache.kafka.common.security"
LOGINS = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
}


def of_java(address: str, mechanism: str, password: str, folder: Path) -> bool:
    """Java's admin client."""
    login = f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="ann";'
    if mechanism in LOGINS:
        login = f'{MODULES}.{LOGINS[mechanism]} required username="{USER_OF[mechanism]}" password="{password}";'
    config = folder / "client.properties"
    settings = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": login,
    }
    return _java_is_let_in(settings, config)


def _java_is_let_in(settings: Mapping[str, str], config: Path, options: str = "") -> bool:
    config.write_text("".join(f"{name}={text}\n" for name, text in settings.items()))
    command = Kafka().java(str(Path(__file__).with_name("SaslAdmin.java")), str(config))
    environment = {**os.environ, "JAVA_TOOL_OPTIONS": options}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode in (0, REFUSED), done.stderr
    return done.returncode == 0


CLIENTS: Mapping[str, tuple[Callable[[str, str, str], bool], tuple[str, ...]]] = {
    "confluent-kafka": (of_confluent, (*USER_OF, "OAUTHBEARER")),
    "kafka-python": (of_python, (*USER_OF, "OAUTHBEARER")),
    "aiokafka": (of_aio, tuple(USER_OF)),
    "kafkadouble": (of_own, (*USER_OF, "OAUTHBEARER")),
}
CASES = [(name, mechanism) for name, (_, mechanisms) in CLIENTS.items() for mechanism in mechanisms]


@pytest.mark.parametrize(("name", "mechanism"), CASES)
def test_the_right_password(address: str, name: str, mechanism: str) -> None:
    assert CLIENTS[name][0](address, mechanism, f"{USER_OF.get(mechanism)}-secret")


@pytest.mark.parametrize(("name", "mechanism"), [case for case in CASES if case != ("kafkadouble", "OAUTHBEARER")])
def test_a_wrong_password(address: str, name: str, mechanism: str) -> None:
    assert not CLIENTS[name][0](address, mechanism, "wrong")


@pytest.mark.parametrize("mechanism", [*USER_OF, "OAUTHBEARER"])
@pytest.mark.usefixtures("local_jars")
def test_javas_client(address: str, mechanism: str, tmp_path: Path) -> None:
    assert of_java(address, mechanism, f"{USER_OF.get(mechanism)}-secret", tmp_path)
    assert mechanism == "OAUTHBEARER" or not of_java(address, mechanism, "wrong", tmp_path)


@pytest.mark.usefixtures("local_jars")
def test_javas_client_gets_signed_tokens_at_the_token_endpoint(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    users = {"alice": "secret"}
    with KafkaDouble(security="SASL_PLAINTEXT", users=users, oauthbearer="signed", brokers=3) as kafka:
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={kafka.token_endpoint}"
        settings = kafka.client_config("alice", "java", "OAUTHBEARER")
        assert _java_is_let_in(settings, config, allowed)
        assert "User:alice" in {request.principal for request in kafka.requests}
        wrong = {**settings, "sasl.jaas.config": settings["sasl.jaas.config"].replace("secret", "wrong")}
        with pytest.raises(AssertionError, match="invalid_client"):
            _java_is_let_in(wrong, config, allowed)
