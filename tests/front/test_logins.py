"""Rules for one principal or one mechanism, logins that fail on demand, sessions that end, and
certificates that change, with real clients."""

from __future__ import annotations

import asyncio
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.common.literals import CertificateKind
from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest
from kafkadouble.messages.message import Message
from tests.support.garbage import collecting
from tests.support.python_admin import RefusableAdmin

# It reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import KafkaProducer
    from kafka.errors import KafkaError as PythonKafkaError

USERS = {"alice": "secret", "bob": "other"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
LONG_S = 20.0
FAST = {"retry.backoff.ms": 1, "reconnect.backoff.ms": 1, "linger.ms": 0, "log_level": 0}


@pytest.fixture
def collected(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Clients that are refused leave their transports to the collector."""
    yield from collecting(caplog)


@pytest.fixture(params=["SASL_PLAINTEXT", "SASL_SSL"])
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    with KafkaDouble(security=request.param, users=USERS) as made:
        made.create_topic("orders")
        yield made


def confluent(kafka: KafkaDouble, user: str, mechanism: str = "PLAIN") -> str | None:
    """Logs in, and returns the error or None."""
    errors: list[str] = []
    config = {
        **kafka.client_config(user, mechanism=mechanism),
        **FAST,
        "error_cb": lambda each: errors.append(str(each)),
    }
    admin = AdminClient(config)
    try:
        admin.list_topics(timeout=1 if kafka.rules else LONG_S)
    except KafkaException:
        admin.poll(1)
        return " ".join(errors) or "no answer"
    return None


def python(kafka: KafkaDouble, user: str, mechanism: str = "PLAIN") -> str | None:
    config = kafka.client_config(user, "kafka-python", mechanism)
    try:
        admin = RefusableAdmin(**config, bootstrap_timeout_ms=2000)
    except PythonKafkaError as refused:
        return repr(refused)
    admin.close()
    return None


def aio(kafka: KafkaDouble, user: str, mechanism: str = "PLAIN") -> str | None:
    async def log_in() -> str | None:
        producer = AIOKafkaProducer(**kafka.client_config(user, "aiokafka", mechanism))
        try:
            await producer.start()
        except AioKafkaError as refused:
            return repr(refused)
        finally:
            await producer.stop()
        return None

    return asyncio.run(log_in())


CLIENTS = {"confluent-kafka": confluent, "kafka-python": python, "aiokafka": aio}


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_logins_of_one_principal_fail(kafka: KafkaDouble, client: str, mechanism: str) -> None:
    log_in = CLIENTS[client]
    rule = kafka.fail("SaslAuthenticate", "SASL_AUTHENTICATION_FAILED", principal="User:alice", times=None)
    assert log_in(kafka, "bob", mechanism) is None
    assert rule.hits == 0
    said = log_in(kafka, "alice", mechanism)
    assert said is not None
    if client == "confluent-kafka":  # the others write it to their logs
        wrong = f"during authentication due to invalid credentials with SASL mechanism {mechanism}"
        assert ("Invalid username or password" if mechanism == "PLAIN" else wrong) in said
    assert rule.hits > 0
    kafka.requests.assert_seen("SaslAuthenticate", principal="User:alice", error=True)
    kafka.requests.assert_not_seen("SaslAuthenticate", principal="User:bob", error=True)
    rule.remove()
    assert log_in(kafka, "alice", mechanism) is None


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
def test_the_logins_by_one_mechanism_fail_so_often(api: str) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        error = "UNSUPPORTED_SASL_MECHANISM" if api == "SaslHandshake" else "SASL_AUTHENTICATION_FAILED"
        rule = kafka.fail(api, error, message="the directory is away", mechanism="SCRAM-SHA-256", times=2)
        assert confluent(kafka, "alice") is None
        said: list[str] = []
        config = {**kafka.client_config("alice", mechanism="SCRAM-SHA-256"), **FAST}
        producer = Producer({**config, "error_cb": lambda error: said.append(str(error))})
        producer.produce("orders", b"1")
        assert producer.flush(LONG_S) == 0, "the third login succeeds"
        assert rule.spent
        kafka.requests.assert_seen(api, error=error, times=2)
        if api == "SaslAuthenticate":
            assert "the directory is away" in said[0]


def test_the_requests_of_one_principal_fail(kafka: KafkaDouble) -> None:
    def produced(user: str) -> str | None:
        errors: list[Any] = []
        producer = Producer({**kafka.client_config(user), **FAST})
        producer.produce("orders", b"1", on_delivery=lambda error, _: errors.append(error))
        producer.flush(LONG_S)
        return errors[0] and str(errors[0].name())

    kafka.fail("Produce", "TOPIC_AUTHORIZATION_FAILED", principal="User:alice", times=None)
    assert produced("alice") == "TOPIC_AUTHORIZATION_FAILED"
    assert produced("bob") is None
    (seen,) = kafka.requests.of("Produce", principal="User:bob")
    assert "of 'rdkafka' (User:bob) at broker 1" in repr(seen)
    assert seen.to_json()["principal"] == "User:bob"
    with pytest.raises(AssertionError, match="principal is 'User:bob', not User:carol"):
        kafka.requests.assert_seen("Produce", principal="User:carol")


def test_the_requests_of_a_certificate_fail() -> None:
    with KafkaDouble(security="SSL") as kafka:
        kafka.create_topic("orders")
        kafka.fail("Metadata", "TOPIC_AUTHORIZATION_FAILED", principal="User:alice", topic="orders", times=None)
        for user, expected in (("alice", True), ("bob", False), (None, False)):
            topic = AdminClient({**kafka.client_config(user), **FAST}).list_topics(timeout=LONG_S).topics["orders"]
            assert (topic.error is not None) == expected
        kafka.requests.assert_seen("Metadata", principal="User:ANONYMOUS")


def test_the_connections_of_one_principal_are_cut() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        clients = {user: AdminClient({**kafka.client_config(user), **FAST, "socket.timeout.ms": 300}) for user in USERS}
        for client in clients.values():
            client.list_topics(timeout=LONG_S)
        with kafka.half_open(principal="User:alice") as rule:
            assert clients["bob"].list_topics(timeout=LONG_S).brokers
            with pytest.raises(KafkaException):
                clients["alice"].list_topics(timeout=1)
            assert rule.hits > 0
        assert clients["alice"].list_topics(timeout=LONG_S).brokers


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"principal": "alice"}, "principal of a rule is a type and a name, such as User:alice, not 'alice'"),
        ({"principal": "User:"}, "principal of a rule is a type and a name"),
        ({"mechanism": "GSSAPI"}, "there is no mechanism 'GSSAPI': there are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
    ],
)
@pytest.mark.parametrize("brokers", [1, 2])
def test_rules_that_could_never_apply(brokers: int, given: Any, problem: str) -> None:
    with (
        KafkaDouble(security="SASL_PLAINTEXT", users=USERS, brokers=brokers) as kafka,
        pytest.raises(UsageError, match=problem),
    ):
        kafka.ignore("Fetch", **given)


def test_rule_for_a_principal_without_sasl_or_tls_is_refused() -> None:
    with KafkaDouble() as kafka:
        with pytest.raises(UsageError, match="no client is User:alice: on PLAINTEXT listeners each is User:ANONYM"):
            kafka.ignore("Fetch", principal="User:alice")
        with pytest.raises(UsageError, match="there is no mechanism 'PLAIN': there are none"):
            kafka.ignore("Fetch", mechanism="PLAIN")
        kafka.ignore("Fetch", principal="User:ANONYMOUS")
        with pytest.raises(UsageError, match="the listeners have no SASL: give security="):
            kafka.set_user("a", "hidden")
        with pytest.raises(UsageError, match="the listeners have no SASL: give security="):
            kafka.remove_user("a")
        with pytest.raises(UsageError, match="the listeners have no TLS: give security="):
            kafka.set_certificate("expired")
        assert kafka.expire_sasl_sessions() == 0


@pytest.mark.parametrize("brokers", [1, 2])
def test_sessions_end_on_demand(brokers: int) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, brokers=brokers) as kafka:
        producers = {user: Producer({**kafka.client_config(user), **FAST}) for user in USERS}

        def send() -> None:
            for producer in producers.values():
                producer.produce("orders", b"1")
                assert producer.flush(LONG_S) == 0

        send()
        assert kafka.expire_sasl_sessions("User:nobody") == 0
        logins = {user: len(kafka.requests.of("SaslAuthenticate", principal=f"User:{user}")) for user in USERS}
        assert kafka.expire_sasl_sessions("User:alice") >= 1
        send()  # alice connects and logs in again
        assert len(kafka.requests.of("SaslAuthenticate", principal="User:alice")) > logins["alice"]


@pytest.mark.usefixtures("collected")
async def test_aiokafka_survives_the_end_of_its_session(kafka: KafkaDouble) -> None:
    async with AIOKafkaProducer(**kafka.client_config("alice", "aiokafka")) as producer:
        await producer.send_and_wait("orders", b"1")
        assert await asyncio.to_thread(kafka.expire_sasl_sessions, "User:alice") >= 1
        await producer.send_and_wait("orders", b"2")
    assert [record.value for record in kafka.records("orders")] == [b"1", b"2"]


@pytest.mark.usefixtures("collected")
def test_kafka_python_survives_the_end_of_its_session(kafka: KafkaDouble) -> None:
    producer = KafkaProducer(**kafka.client_config("alice", "kafka-python"), retries=5)
    producer.send("orders", b"1").get(LONG_S)
    logins = len(kafka.requests.of("SaslAuthenticate"))
    assert kafka.expire_sasl_sessions("User:alice") >= 1
    producer.send("orders", b"2").get(LONG_S)
    producer.close()
    assert len(kafka.requests.of("SaslAuthenticate")) > logins
    assert [record.value for record in kafka.records("orders")] == [b"1", b"2"]


class Wire:
    """A connection on which a test sends one request after another."""

    def __init__(self, kafka: KafkaDouble) -> None:
        self.sock = socket.create_connection(("127.0.0.1", kafka.port), LONG_S)

    def answer_to(self, body: Message, version: int) -> bytes:
        """The frame of the answer; empty if the connection was closed."""
        self.sock.sendall(b"".join(headers.write_request(body, 1, "x", version)))
        size = self.sock.recv(4, socket.MSG_WAITALL)
        return self.sock.recv(int.from_bytes(size), socket.MSG_WAITALL) if size else b""

    def log_in(self, mechanism: str, message: bytes) -> bytes:
        self.answer_to(SaslHandshakeRequest(mechanism=mechanism), 1)
        return self.answer_to(SaslAuthenticateRequest(auth_bytes=message), 2)

    def ask(self) -> bytes:
        return self.answer_to(MetadataRequest(topics=[]), 12)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *exc: object) -> None:
        self.sock.close()


ALICE = b"\0alice\0secret"


def test_a_second_handshake_is_out_of_place_and_no_rule() -> None:
    """Its answer names no mechanisms, as with Kafka."""
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka, Wire(kafka) as wire:
        first, second = (wire.answer_to(SaslHandshakeRequest(mechanism="PLAIN"), 1) for _ in range(2))
        found: list[Any] = [headers.read_response(each, SaslHandshakeRequest.api_key, 1)[1] for each in (first, second)]
        assert [each.error_code for each in found] == [error_codes.NONE, error_codes.ILLEGAL_SASL_STATE]
        assert [bool(each.mechanisms) for each in found] == [True, False]


def test_a_session_outlives_its_user_until_it_is_expired() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        with Wire(kafka) as wire:
            wire.log_in("PLAIN", ALICE)
            kafka.remove_user("alice")
            assert wire.ask(), "as in Kafka, the session goes on"
            assert kafka.expire_sasl_sessions("User:alice") == 1
            assert wire.ask() == b""
        with pytest.raises(UsageError, match="user is 'alice': there are bob"):
            kafka.client_config("alice")


def test_a_client_whose_session_has_ended_may_log_in_again() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka, Wire(kafka) as wire:
        wire.log_in("PLAIN", ALICE)
        assert kafka.expire_sasl_sessions() == 1
        assert wire.log_in("PLAIN", ALICE)
        assert wire.ask()


@pytest.mark.parametrize(
    ("mechanism", "message"), [("PLAIN", "\0{}\0secret"), ("SCRAM-SHA-256", "n,,n={},r=abc")], ids=["plain", "scram"]
)
def test_a_rule_answers_as_a_wrong_password_does(mechanism: str, message: str) -> None:
    """That answer is compared with Apache Kafka's in interop/differential."""
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        answers = []
        for user in ("carol", "alice"):  # the first one is unknown
            with Wire(kafka) as wire:
                answers.append(wire.log_in(mechanism, message.format(user).encode()))
                assert wire.sock.recv(1) == b"", "the connection ends"
            kafka.fail("SaslAuthenticate", "SASL_AUTHENTICATION_FAILED", principal="User:alice")
        assert answers[0] == answers[1]
        assert b"Authentication failed" in answers[0]


def test_a_capture_has_the_principals(tmp_path: Path) -> None:
    path = tmp_path / "capture.parquet"
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, capture=path) as kafka:
        with Wire(kafka) as wire:
            wire.log_in("PLAIN", ALICE)
            wire.ask()
        with Wire(kafka) as wire:
            wire.log_in("PLAIN", b"\0bob\0wrong")
    rows = [(row["api"], row["principal"], bool(row["errors"])) for row in pq.read_table(path).to_pylist()]
    assert rows == [
        ("SaslHandshake", "User:ANONYMOUS", False),
        ("SaslAuthenticate", "User:alice", False),
        ("Metadata", "User:alice", False),
        ("SaslHandshake", "User:ANONYMOUS", False),
        ("SaslAuthenticate", "User:bob", True),
    ]


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("kind", ["expired", "self-signed", "wrong-host"])
def test_a_certificate_changes_while_brokers_run(kind: CertificateKind, client: str) -> None:
    with KafkaDouble(security="SASL_SSL", users=USERS) as kafka:
        log_in = CLIENTS[client]
        assert log_in(kafka, "alice") is None
        kafka.set_certificate(kind)
        with kafka.delay("DescribeAcls", 0, times=None):  # a rule makes the client impatient
            assert log_in(kafka, "alice") is not None
        kafka.set_certificate("valid")
        assert log_in(kafka, "alice") is None


def test_a_certificate_is_that_of_the_start_again() -> None:
    with KafkaDouble(security="SSL", brokers=2, listeners={"A": 0, "B": 0}) as kafka:
        kafka.set_certificate("expired")
        for id in kafka.brokers:
            for listener in ("A", "B"):
                address = kafka.brokers[id].bootstrap_on(listener)
                refused = AdminClient({**kafka.client_config(), "bootstrap.servers": address, **FAST})
                with pytest.raises(KafkaException):
                    refused.list_topics(timeout=1)
        kafka.reset()
        client = AdminClient({**kafka.client_config(), "bootstrap.servers": kafka.bootstrap("B"), **FAST})
        assert client.list_topics(timeout=LONG_S).brokers
