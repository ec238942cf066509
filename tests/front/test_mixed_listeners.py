"""Listeners with different protocols: each client gets the settings of the listener that it is for,
whether a file, a program or a scenario gives the users."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.access.certificates import Certificates
from kafkadouble.common.literals import ClientLibrary, ListenerProtocol
from kafkadouble.control.client import ControlClient
from tests.support import signed_tokens
from tests.support.serving import serving
from tests.support.signed_tokens import jwk_set

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import KafkaAdminClient

PATIENCE_S = 20
USERS = {"alice": "secret", "bob": "other"}
LISTENERS = {"INTERNAL": 0, "EXTERNAL": 0}
MIXED: dict[str, ListenerProtocol] = {"EXTERNAL": "SASL_SSL"}
MAP = "listener.security.protocol.map"
FILE = """\
listeners=INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0
listener.security.protocol.map=INTERNAL:PLAINTEXT,EXTERNAL:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
"""


def brokers(config: dict[str, Any]) -> set[int]:
    return {*AdminClient({**config, "log_level": 0}).list_topics(timeout=PATIENCE_S).brokers}


def test_each_client_gets_the_protocol_and_the_address_of_its_listener() -> None:
    with KafkaDouble(listeners=LISTENERS, security=MIXED, users=USERS) as kafka:
        internal, external = kafka.client_config(), kafka.client_config("alice")
        assert internal == {"bootstrap.servers": kafka.bootstrap("INTERNAL"), "security.protocol": "PLAINTEXT"}
        assert (external["bootstrap.servers"], external["security.protocol"]) == (
            kafka.bootstrap("EXTERNAL"),
            "SASL_SSL",
        )
        assert kafka.client_config("alice", listener="external") == external
        assert brokers(internal) == brokers(external) == {1}
        assert brokers(kafka.client_config("bob", mechanism="SCRAM-SHA-512")) == {1}
        with pytest.raises(UsageError, match="there is no listener 'OTHER'; there are INTERNAL, EXTERNAL"):
            kafka.client_config(listener="OTHER")
        with pytest.raises(UsageError, match="user 'alice' cannot authenticate: the listeners are PLAINTEXT"):
            kafka.client_config("alice", listener="INTERNAL")
        with pytest.raises(UsageError, match="user is None: there are alice, bob"):
            kafka.client_config(listener="EXTERNAL")


def test_protocols_may_be_given_by_the_settings_too() -> None:
    protocols = {MAP: "INTERNAL:PLAINTEXT,EXTERNAL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"}
    with KafkaDouble(listeners=LISTENERS, config=protocols, users=USERS) as kafka:
        assert brokers(kafka.client_config("alice")) == brokers(kafka.client_config()) == {1}
        kafka.set_user("carol", "new")
        assert brokers(kafka.client_config("carol")) == {1}
        kafka.reset()
        assert brokers(kafka.client_config("bob")) == {1}


def test_only_listeners_with_tls_show_a_certificate_and_another_one_later() -> None:
    with KafkaDouble(listeners=LISTENERS, security={"EXTERNAL": "SSL"}, brokers=2) as kafka:
        assert brokers(kafka.client_config()) == brokers(kafka.client_config("alice")) == {1, 2}
        kafka.set_certificate("expired")
        with pytest.raises(Exception, match="Failed to get metadata"):
            AdminClient({**kafka.client_config("alice"), "log_level": 0}).list_topics(timeout=1)
        assert brokers(kafka.client_config()) == {1, 2}


@pytest.mark.parametrize("by", ["--users-file", "--user", "KAFKADOUBLE_USERS", "scenario"])
def test_a_file_with_mixed_listeners_takes_users(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, given = tmp_path / "server.properties", tmp_path / "given"
    config.write_text(FILE)
    lines = "".join(f"{name}:{password}\n" for name, password in USERS.items())
    words: tuple[str, ...] = (by, str(given))
    given.write_text(lines)
    if by == "--user":
        words = tuple(word for line in lines.split() for word in (by, line))
    elif by == "KAFKADOUBLE_USERS":
        monkeypatch.setenv(by, lines)
        words = ()
    elif by == "scenario":
        given = given.with_suffix(".yaml")
        given.write_text(json.dumps({"users": USERS}))
        words = ("--scenario", str(given))
    with serving("--config", str(config), *words, "--control-port", "0") as served:
        lines_after = served.more_lines(4)
        client = ControlClient(lines_after["control.url"]).call("client_config", {"user": "alice"})
        assert client["bootstrap.servers"] == lines_after["listener.name.external.bootstrap.servers"]
        assert (client["security.protocol"], brokers(client)) == ("SASL_SSL", {1})


def test_a_listener_with_a_key_store_of_its_own_shows_it_and_its_clients_get_no_authority(tmp_path: Path) -> None:
    certificates = Certificates("valid", ["127.0.0.1"])
    pair = certificates.of_brokers()
    store = tmp_path / "broker.pem"
    store.write_text(pair.key + pair.certificate)
    own = {"listener.name.external.ssl.keystore.type": "PEM", "listener.name.external.ssl.keystore.location": store}
    trusted = {"ssl.ca.location": str(certificates.authority_file)}
    protocols: dict[str, ListenerProtocol] = {"EXTERNAL": "SASL_SSL", "PARTNERS": "SSL"}
    config = {name: str(value) for name, value in own.items()}
    with KafkaDouble(listeners={**LISTENERS, "PARTNERS": 0}, security=protocols, users=USERS, config=config) as kafka:
        client = kafka.client_config("alice", listener="EXTERNAL")
        assert "ssl.ca.location" not in client
        assert brokers({**client, **trusted}) == {1}
        assert brokers(kafka.client_config("alice", listener="PARTNERS")) == {1}
    certificates.close()


def test_users_of_the_settings_alone_are_known() -> None:
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required user_dora='\"';"
    config = {
        MAP: "INTERNAL:PLAINTEXT,EXTERNAL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "listener.name.external.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.external.plain.sasl.jaas.config": login,
    }
    with KafkaDouble(listeners=LISTENERS, config=config) as kafka:
        assert brokers(kafka.client_config("dora")) == {1}
        with pytest.raises(UsageError, match="user is 'alice': there are dora"):
            kafka.client_config("alice")


def of_kafka_python(config: dict[str, Any]) -> int:
    client = KafkaAdminClient(**config)
    try:
        return len(client.describe_cluster()["brokers"])
    finally:
        client.close()


def of_aiokafka(config: dict[str, Any]) -> int:
    async def described() -> int:
        client = AIOKafkaAdminClient(**config)
        await client.start()
        try:
            return len((await client.describe_cluster())["brokers"])
        finally:
            await client.close()

    return asyncio.run(described())


BEARER: dict[str, object] = {"sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER"}
CLIENTS: dict[str, Callable[[dict[str, Any]], int]] = {
    "confluent-kafka": lambda config: len(brokers(config)),
    "kafka-python": of_kafka_python,
    "aiokafka": of_aiokafka,
}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_logs_in_by_oauthbearer_with_a_token_that_is_made_for_it(client: ClientLibrary) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, config=BEARER) as kafka:
        assert CLIENTS[client](kafka.client_config("carol", client, "OAUTHBEARER")) == 1
        kafka.requests.assert_seen("Metadata", principal="User:carol")


def test_other_clients_get_what_makes_the_token_or_the_token() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, config=BEARER) as kafka:
        found = {name: kafka.client_config("carol", name, "OAUTHBEARER") for name in ("java", "franz-go", "kafkajs")}
        generic = kafka.client_config("carol", "generic", "OAUTHBEARER")
        login = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
        assert found["java"]["sasl.jaas.config"] == f'{login} unsecuredLoginStringClaim_sub="carol";'
        for name in ("franz-go", "kafkajs"):
            assert found[name]["sasl"]["token"].count(".") == 2
        assert (generic["user"], generic["password"], generic["token"].count(".")) == ("carol", None, 2)
        with pytest.raises(UsageError, match="with OAUTHBEARER give the name of the principal"):
            kafka.client_config(mechanism="OAUTHBEARER")


def test_a_listener_with_signed_tokens_says_that_the_double_makes_none(tmp_path: Path) -> None:
    config = signed_tokens.settings_of(jwk_set(tmp_path / "keys.json"), "external")
    with (
        KafkaDouble(listeners=LISTENERS, security={"EXTERNAL": "SASL_PLAINTEXT"}, users=USERS, config=config) as kafka,
        pytest.raises(UsageError, match="listener EXTERNAL takes signed tokens only"),
    ):
        kafka.client_config("alice", mechanism="OAUTHBEARER")
