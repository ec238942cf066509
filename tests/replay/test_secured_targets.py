"""Replays against a Kafka with TLS, with SASL, or with both, by a file of client properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.replay.recorded.recording import load

USERS = {"alice": "secret"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded with SASL_SSL."""
    path = tmp_path_factory.mktemp("replay") / "session.parquet"
    with KafkaDouble(security="SASL_SSL", users=USERS, capture=path, capture_frames=True) as kafka:
        kafka.create_topic("orders")
        # The recorded cluster had the topic before.
        producer = Producer({**kafka.client_config("alice"), "log_level": 0})
        producer.produce("orders", b"two pears", partition=0)
        assert producer.flush(30) == 0
    return path


@pytest.fixture(scope="module")
def secured() -> Iterator[KafkaDouble]:
    with KafkaDouble(security="SASL_SSL", users=USERS) as kafka:
        yield kafka


def properties(path: Path, settings: Mapping[str, Any]) -> str:
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(path)


@pytest.mark.parametrize(
    ("security", "mechanism"),
    [("SASL_SSL", "SCRAM-SHA-256"), ("SASL_SSL", "PLAIN"), ("SASL_PLAINTEXT", "SCRAM-SHA-512"), ("SSL", None)],
)
def test_a_recording_is_replayed_with_a_login_of_its_own(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], security: Any, mechanism: str | None
) -> None:
    assert ApiKeys.SASL_HANDSHAKE in {exchange.api_key for exchange in load(session).exchanges}
    with KafkaDouble(security=security, users=USERS if mechanism else None) as kafka:
        user = None if mechanism is None else "alice"
        file = properties(tmp_path / "client.properties", kafka.client_config(user, client="java", mechanism=mechanism))
        words = ["--client-config", file, "--create-topics", str(session), kafka.bootstrap_servers]
        assert main(["replay", *words]) == 0, capsys.readouterr()
        assert [record.value for record in kafka.records("orders")] == [b"two pears"]
        principals = {seen.principal for seen in kafka.requests.of("Produce")}
    assert principals == ({"User:alice"} if mechanism else {"User:ANONYMOUS"})
    assert capsys.readouterr().out.startswith("no differences: ")


def test_a_plaintext_target_gets_no_login(session: Path) -> None:
    with KafkaDouble() as kafka:
        assert main(["replay", "--create-topics", str(session), kafka.bootstrap_servers]) == 0
        assert not kafka.requests.of("SaslHandshake")


LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "secret",
}


@pytest.mark.parametrize(
    ("changed", "status", "problem"),
    [
        ({"sasl.password": "other"}, 3, "refuses this user by PLAIN: SASL_AUTHENTICATION_FAILED"),
        ({"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": ""}, 2, "OAUTHBEARER needs a token"),
        ({"sasl.mechanism": "GSSAPI"}, 2, "sasl.mechanism 'GSSAPI' is not supported; use one of PLAIN, "),
        ({"sasl.username": ""}, 2, "sasl.mechanism needs a user"),
        ({"ssl.truststore.location": "nowhere.pem"}, 2, "nowhere.pem"),
        ({"ssl.truststore.location": ""}, 3, "shows a certificate that is not trusted: "),
        ({"security.protocol": "SASL_PLAINTEXT"}, 3, "ends the login: "),
    ],
)
def test_replay_target_with_wrong_settings_is_refused_by_name(
    secured: KafkaDouble,
    session: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: dict[str, str],
    status: int,
    problem: str,
) -> None:
    trusted = secured.client_config("alice", client="java")
    stores = {name: value for name, value in trusted.items() if name.startswith("ssl.truststore")}
    given = {name: value for name, value in {**stores, **LOGIN, **changed}.items() if value}
    if "ssl.truststore.location" not in given:
        given = {name: value for name, value in given.items() if not name.startswith("ssl.")}
    file = properties(tmp_path / "client.properties", given)
    words = ["replay", "--patience", "5", "--client-config", file, str(session), secured.bootstrap_servers]
    try:
        found = main(words)
    except SystemExit as ended:
        found = int(ended.code or 0)
    assert (found, problem in capsys.readouterr().err) == (status, True)


def test_a_target_with_tls_needs_the_option(
    secured: KafkaDouble, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--patience", "5", str(session), secured.bootstrap_servers]) == 3
    assert "is its protocol PLAINTEXT? --client-config has other ones" in capsys.readouterr().err


def test_a_target_without_tls_is_named(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = properties(tmp_path / "client.properties", {"security.protocol": "SSL"})
    with KafkaDouble() as kafka:
        words = ["replay", "--patience", "5", "--client-config", file, str(session), kafka.bootstrap_servers]
        assert main(words) == 3
    assert "127.0.0.1" in capsys.readouterr().err
