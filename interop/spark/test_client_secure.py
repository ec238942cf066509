"""The pipeline's client with an Apache Kafka that requires authentication: Kafka's own TLS and
SASL."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from interop.support import unique
from kafkadouble.pipeline.client import (
    EARLIEST,
    LATEST,
    Client,
    NotAuthenticated,
    NotAuthorized,
    NotReachable,
    OffsetAndEpoch,
    TimedOut,
    TopicPartition,
)
from tests.support.pipeline_client import batch, read

from .secure_node import KEYS, TOKEN, WAYS


@pytest.mark.parametrize("way", WAYS)
def test_pipeline_client_reads_and_writes_over_secured_listeners(secured: Mapping[str, str], way: str) -> None:
    listener, settings = WAYS[way]
    t0 = TopicPartition(unique("secure"), 0)
    with Client({"bootstrap.servers": secured[listener], **settings}) as client:
        assert client.partitions(t0.topic, create=True) == [0]
        producer = client.producer()
        assert producer.send({t0: [batch(b"a", b"b"), batch(b"c")]}) == {t0: 0}
        assert producer.send({t0: [batch(b"d", compression=4)]}) == {t0: 3}
        assert client.offsets({t0: EARLIEST}) == {t0: OffsetAndEpoch(0, 0)}
        assert client.offsets({t0: LATEST}, "read_committed") == {t0: OffsetAndEpoch(4, 0)}
        assert client.offsets({t0: 1001}) == {t0: OffsetAndEpoch(1, 0)}
        assert client.ends_of_epochs({t0: 0}) == {t0: OffsetAndEpoch(4, 0)}
        assert read(client, t0, 0, 4, leader_epoch=-1, max_bytes=1) == [b"a", b"b", b"c", b"d"]
        assert read(client, t0, 2, 4, isolation="read_committed") == [b"c", b"d"]
        client.commit(t0.topic, {t0: OffsetAndEpoch(4, 0)})
        assert client.committed(t0.topic, [t0]) == {t0: OffsetAndEpoch(4, 0)}
        assert t0.topic in client.topics()
        assert "__consumer_offsets" not in client.topics()


def test_a_session_that_ends_is_followed_by_another(secured: Mapping[str, str]) -> None:
    """KIP-368: this listener requires a new authentication every two seconds, and closes
    connections without it."""
    listener, settings = WAYS["SASL PLAIN"]
    t0 = TopicPartition(unique("sessions"), 0)
    with Client({"bootstrap.servers": secured[listener], **settings, "default.api.timeout.ms": 2500}) as client:
        client.partitions(t0.topic, create=True)
        client.producer().send({t0: [batch(b"a")]})
        assert read(client, t0, 0, 1) == [b"a"]
        with pytest.raises(TimedOut, match="offset 1 of 2 was not written"):
            read(client, t0, 0, 2)  # longer than a session lasts
        assert read(client, t0, 0, 1) == [b"a"]


def topics(bootstrap: str, **settings: object) -> list[str]:
    """The topics that a client with these settings sees; settings have underscores for dots."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    with Client({"bootstrap.servers": bootstrap, **given}) as client:
        return client.topics()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("name", ["bob", "unknown"])
def test_a_wrong_password(secured: Mapping[str, str], mechanism: str, name: str) -> None:
    user = {"sasl_mechanism": mechanism, "sasl_username": name, "sasl_password": "wrong"}
    with pytest.raises(NotAuthenticated, match=f"refuses this user by {mechanism}: SASL_AUTHENTICATION_FAILED"):
        topics(secured["SASL"], security_protocol="SASL_PLAINTEXT", **user)


def test_a_mechanism_that_is_not_offered(secured: Mapping[str, str]) -> None:
    message = r"takes no OAUTHBEARER .*: set sasl.mechanism to one that it offers, of .*PLAIN"
    user = {"sasl_mechanism": "OAUTHBEARER", "sasl_jaas_config": TOKEN}
    with pytest.raises(NotAuthenticated, match=message):
        topics(secured["SASL"], security_protocol="SASL_PLAINTEXT", **user)


def test_a_user_without_rights(secured: Mapping[str, str]) -> None:
    t0 = TopicPartition(unique("forbidden"), 0)
    with Client({"bootstrap.servers": secured["PLAINTEXT"]}) as anyone:
        anyone.partitions(t0.topic, create=True)
    alice = {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "alice-secret"}
    with Client({"bootstrap.servers": secured["SASL"], "security.protocol": "SASL_PLAINTEXT", **alice}) as client:
        for ask in (
            lambda: client.partitions(t0.topic),
            lambda: client.offsets({t0: LATEST}),
            lambda: read(client, t0, 0, 1),
            lambda: client.producer().send({t0: [batch(b"v")]}),
            lambda: client.commit("forbidden", {t0: OffsetAndEpoch(1, 0)}),
        ):
            with pytest.raises(NotAuthorized, match="AUTHORIZATION_FAILED"):
                ask()


def test_certificates_that_are_not_trusted(secured: Mapping[str, str]) -> None:
    with pytest.raises(NotAuthenticated, match="shows a certificate that is not trusted"):
        topics(secured["TLS"], security_protocol="SSL", ssl_truststore_location=KEYS / "stranger.pem")
    own = {"ssl_truststore_location": KEYS / "server.pem", "ssl_keystore_location": KEYS / "stranger.pem"}
    with pytest.raises((NotAuthenticated, NotReachable), match=secured["MUTUAL"]):
        topics(secured["MUTUAL"], security_protocol="SSL", **own, default_api_timeout_ms=500)


@pytest.mark.parametrize(("listener", "protocol"), [("TLS", "PLAINTEXT"), ("SASL", "PLAINTEXT"), ("PLAINTEXT", "SSL")])
def test_the_wrong_protocol_is_reported(secured: Mapping[str, str], listener: str, protocol: str) -> None:
    with pytest.raises((NotAuthenticated, NotReachable), match=r"security\.protocol|TLS"):
        topics(secured[listener], security_protocol=protocol, default_api_timeout_ms=500)
