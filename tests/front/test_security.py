"""`security="SSL"`, `client_config` for each client library, and `serve --security`."""

from __future__ import annotations

import socket
import ssl
import sys
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.access.certificates import KINDS
from kafkadouble.clients.client_config import CLIENTS
from kafkadouble.common.literals import CertificateKind
from tests.support.serving import serving

PATIENCE_S = 30


def sent(config: dict[str, Any]) -> bool:
    producer = confluent_kafka.Producer({**config, "log_level": 0})
    producer.produce("t", b"1")
    return producer.flush(PATIENCE_S) == 0


def test_a_cluster_has_tls_at_every_broker() -> None:
    with KafkaDouble(security="SSL", brokers=3) as kafka:
        kafka.create_topic("t", 3)
        assert sent(kafka.client_config("alice"))
        for id in kafka.brokers:
            config = {**kafka.client_config(), "bootstrap.servers": kafka.brokers[id].bootstrap}
            assert (
                len(confluent_kafka.Consumer({**config, "group.id": "g"}).list_topics(timeout=PATIENCE_S).brokers) == 3
            )
        kafka.reset()
        assert sent(kafka.client_config())


def test_every_listener_has_tls() -> None:
    with KafkaDouble(security="SSL", listeners={"A": 0, "B": 0}) as kafka:
        for name in ("A", "B"):
            assert sent({**kafka.client_config(), "bootstrap.servers": kafka.bootstrap(name)})


@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_is_of_its_kind(kind: CertificateKind) -> None:
    problems = {"expired": "has expired", "self-signed": "self.signed", "wrong-host": "Hostname mismatch"}
    with KafkaDouble(security="SSL", certificate=kind) as kafka:
        context = kafka.client_config(client="aiokafka")["ssl_context"]
        if kind == "valid":
            assert "BEGIN CERTIFICATE" in _fetched(kafka.port, context)
        else:
            with pytest.raises(ssl.SSLCertVerificationError, match=problems[kind]):
                _fetched(kafka.port, context)


def _fetched(port: int, context: ssl.SSLContext) -> str:

    with (
        socket.create_connection(("127.0.0.1", port), PATIENCE_S) as sock,
        context.wrap_socket(sock, server_hostname="localhost") as secured,
    ):
        return ssl.DER_cert_to_PEM_cert(secured.getpeercert(binary_form=True) or b"")


def test_each_client_has_its_form() -> None:
    with KafkaDouble(security="SSL") as kafka:
        found = {client: kafka.client_config("alice", client) for client in CLIENTS}
        at, authority = kafka.bootstrap_servers, found["java"]["ssl.truststore.location"]
        own = found["java"]["ssl.keystore.location"]
    assert found["confluent-kafka"] == {
        "bootstrap.servers": at,
        "security.protocol": "SSL",
        "ssl.ca.location": authority,
        "ssl.certificate.location": own,
        "ssl.key.location": own,
    }
    assert found["java"] == {
        "bootstrap.servers": at,
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": authority,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": own,
    }
    assert found["kafka-python"]["ssl_certfile"] == own
    assert isinstance(found["aiokafka"]["ssl_context"], ssl.SSLContext)
    assert found["franz-go"] == {
        "seed_brokers": [at],
        "tls": {"ca_file": authority, "cert_file": own, "key_file": own},
    }
    assert found["kafkajs"]["ssl"]["ca"] == [Path(authority).read_text()]


def test_each_client_has_contents_in_place_of_files() -> None:
    with KafkaDouble(security="SSL", config={"ssl.client.auth": "required"}) as kafka:
        kafka.create_topic("t")
        found = {
            client: kafka.client_config("alice", client, contents=True) for client in CLIENTS if client not in PATHS
        }
        files = kafka.client_config("alice", "franz-go")["tls"]
        authority, own = Path(files["ca_file"]).read_text(), Path(files["key_file"]).read_text()
        assert sent(found["confluent-kafka"])
        with pytest.raises(UsageError, match="kafka-python takes names of files: leave out contents"):
            kafka.client_config("alice", "kafka-python", contents=True)
    assert not [client for client, config in found.items() if files["ca_file"] in str(config)]
    assert found["franz-go"]["tls"] == {"ca_pem": authority, "cert_pem": own, "key_pem": own}
    assert found["java"]["ssl.truststore.certificates"] == authority
    assert found["java"]["ssl.keystore.key"] + found["java"]["ssl.keystore.certificate.chain"] == own
    assert found["generic"] == {
        "bootstrap_servers": found["java"]["bootstrap.servers"],
        "security_protocol": "SSL",
        "ca_pem": authority,
        "certificate_and_key_pem": own,
        "mechanism": None,
        "user": None,
        "password": None,
        "token": None,
    }


PATHS = ("kafka-python", "aiokafka")
"""The clients that take names of files, or objects of Python."""


def test_client_config_without_security_has_the_address_alone() -> None:
    with KafkaDouble() as kafka:
        for client in CLIENTS:
            assert "ssl" not in repr(kafka.client_config(client=client))
        assert sent(kafka.client_config())
        with pytest.raises(UsageError, match="user 'alice' cannot authenticate: the listeners are PLAINTEXT"):
            kafka.client_config("alice")


def test_a_client_or_a_user_that_cannot_be() -> None:
    with KafkaDouble(security="SSL") as kafka:
        with pytest.raises(UsageError, match="client is 'sarama': there are confluent-kafka"):
            kafka.client_config(client="sarama")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="user is 'a,b': a name has"):
            kafka.client_config("a,b")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UsageError, match=r"pip install 'kafkadouble\[security\]'"):
        KafkaDouble(security="SSL")


def test_serve_names_the_files() -> None:
    with serving("--security", "SSL", "--port", "0") as served:
        files = served.more_lines(2)
        own = files["ssl.keystore.location"]
        config = {
            "bootstrap.servers": served.startup["bootstrap.servers"],
            "security.protocol": "SSL",
            "ssl.ca.location": files["ssl.truststore.location"],
            "ssl.certificate.location": own,
            "ssl.key.location": own,
        }
        assert sent(config)
        assert served.end()[0] == 0
    assert not Path(own).exists()
