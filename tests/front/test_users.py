"""Users of a double with SASL: one line in a program or on a command line, and no password anywhere
else."""

from __future__ import annotations

import logging
import socket
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import headers
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest
from tests.support.serving import run, serving

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
USERS = {"alice": 'se;c"r\\et', "bob=,x": "hidden"}
LONG_S = 20.0


def admin(bootstrap: str, mechanism: str, name: str, password: str) -> AdminClient:
    return AdminClient(
        {
            "bootstrap.servers": bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": mechanism,
            "sasl.username": name,
            "sasl.password": password,
            "log_level": 0,
        }
    )


def brokers(bootstrap: str, mechanism: str, name: str, password: str, seconds: float = LONG_S) -> set[int]:
    return {*admin(bootstrap, mechanism, name, password).list_topics(timeout=seconds).brokers}


@pytest.mark.parametrize("count", [1, 2])
def test_every_user_by_every_mechanism_also_after_a_reset(count: int) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, brokers=count) as kafka:
        for _ in range(2):
            for mechanism in MECHANISMS:
                for name, password in USERS.items():
                    found = brokers(kafka.bootstrap_servers, mechanism, name, password)
                    assert found == set(range(1, count + 1)), (mechanism, name)
            kafka.reset()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_refused_and_others_go_on(mechanism: str) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        known = admin(kafka.bootstrap_servers, mechanism, "alice", USERS["alice"])
        known.list_topics(timeout=LONG_S)
        with pytest.raises(KafkaException):
            brokers(kafka.bootstrap_servers, mechanism, "alice", "wrong", 1)
        assert known.list_topics(timeout=LONG_S).brokers


@pytest.mark.parametrize(
    ("user", "mechanism", "problem"),
    [
        (None, None, "user is None: there are alice, bob"),
        ("carol", None, "user is 'carol': there are alice, bob"),
        ("alice", "GSSAPI", "mechanism is 'GSSAPI': there are PLAIN"),
    ],
)
def test_client_config_of_unknown_user_or_mechanism_is_refused(
    user: str | None, mechanism: str | None, problem: str
) -> None:
    kafka = KafkaDouble(security="SASL_PLAINTEXT", users=USERS)
    with kafka, pytest.raises(UsageError, match=problem):
        kafka.client_config(user, mechanism=mechanism)


def test_user_logs_in_at_each_of_several_listeners() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, listeners={"IN": 0, "OUT": 0}) as kafka:
        for listener in ("IN", "OUT"):
            assert brokers(kafka.bootstrap(listener), "PLAIN", "bob=,x", "hidden") == {1}


SASL = {"listeners": "SASL_PLAINTEXT://:0", "security.inter.broker.protocol": "SASL_PLAINTEXT"}
PLAIN = "listener.name.sasl_plaintext.plain.sasl.jaas.config"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "sasl.enabled.mechanisms: GSSAPI needs Kerberos, which is not served; give of PLAIN, SCRAM-SHA-256"),
        ({"sasl.enabled.mechanisms": "DIGEST"}, "sasl.enabled.mechanisms: DIGEST is not known"),
        ({"sasl.enabled.mechanisms": ""}, "needs one mechanism at least"),
        ({"sasl.enabled.mechanisms": "PLAIN"}, f"{PLAIN} is missing: PLAIN needs it on listener SASL_PLAINTEXT"),
        (
            {"sasl.enabled.mechanisms": "PLAIN", PLAIN: "x.PlainLoginModule required;"},
            "sasl.mechanism.inter.broker.protocol: GSSAPI must be included in sasl.enabled.mechanisms",
        ),
        (
            {
                "sasl.enabled.mechanisms": "PLAIN",
                PLAIN: "x.PlainLoginModule required;",
                "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
            },
            "sasl.mechanism.inter.broker.protocol: SCRAM-SHA-256 must be included in sasl.enabled.mechanisms",
        ),
        ({"sasl.enabled.mechanisms": "PLAIN", PLAIN: "x.PlainLoginModule hidden"}, "is not of the form"),
        ({"sasl.enabled.mechanisms": "PLAIN", PLAIN: "x.Other required a=hidden;"}, "PLAIN needs PlainLoginModule"),
    ],
)
def test_invalid_sasl_settings_are_refused_at_the_start(settings: dict[str, str], problem: str) -> None:
    words = [word for name, text in {**SASL, **settings}.items() for word in ("-c", f"{name}={text}")]
    ended = run(
        "serve", *words, "-c", "listener.security.protocol.map=SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
    )
    assert ended.returncode == 2
    assert problem in ended.stderr
    assert "hidden" not in ended.stderr


def test_a_login_in_a_file_of_jaas_is_refused_with_the_setting_that_has_it_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAFKA_OPTS", "-Xmx1g -Djava.security.auth.login.config=/etc/kafka/jaas.conf -Dx=y")
    given = {**SASL, "sasl.enabled.mechanisms": "PLAIN"}
    ended = run("serve", *[word for name, text in given.items() for word in ("-c", f"{name}={text}")])
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{PLAIN} is missing" in ended.stderr
    assert "KAFKA_OPTS names /etc/kafka/jaas.conf, which is not read here" in ended.stderr


def test_serve_with_users_from_words_a_file_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "users"
    file.write_text("# users of a test\nfile:of:colons\n\n")
    monkeypatch.setenv("KAFKADOUBLE_PASSWORD", "of the environment")
    words = ("--security", "SASL_PLAINTEXT", "--user", "word:a", "--user", "env", "--users-file", str(file))
    with serving(*words) as served:
        for name, password in (("word", "a"), ("file", "of:colons"), ("env", "of the environment")):
            for mechanism in MECHANISMS:
                assert brokers("{}:{}".format(*served.address), mechanism, name, password) == {1}


def test_no_output_shows_a_password_that_was_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    planted = "PLANTED-of-carol"
    caplog.set_level(logging.DEBUG)
    scenario = tmp_path / "x.yaml"
    scenario.write_text(
        f"security: SASL_PLAINTEXT\nusers: {{alice: {planted}}}\nsteps:\n"
        f"- {{at: 0, verb: set_user, user: carol, password: {planted}}}\n"
        f"- {{at: 0, verb: set_user, user: '', password: {planted}}}\n"
    )
    with KafkaDouble(
        scenario=scenario, capture=tmp_path / "c.parquet", capture_bodies=True, capture_frames=True
    ) as kafka:
        assert [step.state for step in kafka.scenario_steps] == ["done", "failed"]
        client = AdminClient(kafka.client_config("carol"))
        resource = ConfigResource(ConfigResource.Type.BROKER, "1")
        (found,) = client.describe_configs([resource], request_timeout=LONG_S).values()
        shown = [str({name: entry.value for name, entry in found.result().items()})]
        shown += [
            repr(kafka),
            repr(kafka._double_host.scenario),
            repr(kafka._double_host.security),
            str(kafka.scenario_steps),
        ]
        shown += [str(request.to_json()) for request in kafka.requests]
        shown += [repr(kafka._double_host.serving().broker.node.settings)]
    shown += [caplog.text, str(pq.read_table(tmp_path / "c.parquet").to_pylist())]
    assert [text[max(0, text.find("PLANTED") - 80) :][:200] for text in shown if "PLANTED" in text] == []
    assert "the step set_user at 0 s failed" in caplog.text


def test_connections_that_never_authenticate_leave_no_descriptor() -> None:
    """Half of them fail, a quarter announces a frame and never sends it, the others stop after the
    handshake; all of them leave."""
    handshake = b"".join(headers.write_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, "x", 1))
    wrong = b"".join(headers.write_request(SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 1, "x", 2))
    rest = (b"", wrong, (500_000).to_bytes(4) + b"z" * 1000, wrong)
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        listener: Any = kafka._double_host.serving().broker.controlling.listener
        socks = [socket.create_connection(("127.0.0.1", kafka.port), LONG_S) for _ in range(200)]
        for number, sock in enumerate(socks):
            sock.sendall(handshake + rest[number % 4])
        for sock in socks[1::2]:
            while sock.recv(4096):
                pass
        for sock in socks:
            sock.close()
        while kafka._double_host.call(len, listener.connections):
            pass
        assert kafka._double_host.call(lambda: listener.node.intake.total) == 0
        assert brokers(kafka.bootstrap_servers, "PLAIN", "alice", USERS["alice"]) == {1}
