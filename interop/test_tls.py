"""Clients by TLS: on a double, and on an Apache Kafka with the same settings (`--broker local`).

Listeners: TLS, without certificates of clients, and MUTUAL, where they are required. The principal
of a connection is seen as the owner of a delegation token.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiokafka
import confluent_kafka
import pytest
from kafka import KafkaConsumer, KafkaProducer

from interop import quorum
from interop.local.cluster import Kafka
from interop.local.node import Node, finished
from interop.quorum import CLIENTS, CONTROLLER, Seat
from interop.support import local_kafka
from interop.tools.resident import resident
from kafkadouble import KafkaDouble
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.wire.frame import Frames
from tests.support.client import MOST
from tests.support.ports import HOST, free_ports
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("collected")

ck: Any = confluent_kafka
RULES = r"RULE:^CN=(.*?)(,.*)?$/$1/L,DEFAULT"
LISTENERS = {CLIENTS: "PLAINTEXT", "TLS": "SSL", "MUTUAL": "SSL"}
COUNT = 20


class Secured(NamedTuple):
    """A broker, its addresses by listener, and the certificates."""

    addresses: Mapping[str, str]
    certificates: Certificates

    def confluent(self, listener: str, user: str | None = None) -> dict[str, Any]:
        found = {
            "bootstrap.servers": self.addresses[listener],
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.certificates.authority_file),
            "log_level": 0,
        }
        if user is not None:
            file = str(self.certificates.of_user(user))
            found |= {"ssl.certificate.location": file, "ssl.key.location": file}
        return found

    def java(self, listener: str, user: str | None = None) -> str:
        lines = {
            "bootstrap.servers": self.addresses[listener],
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.certificates.authority_file,
            "default.api.timeout.ms": 15_000,
            "request.timeout.ms": 10_000,
        }
        if user is not None:
            lines |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": self.certificates.of_user(user)}
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    def context(self, user: str | None = None) -> ssl.SSLContext:
        made = ssl.create_default_context(cafile=self.certificates.authority_file)
        if user is not None:
            made.load_cert_chain(self.certificates.of_user(user))
        return made


def settings(certificates: Certificates) -> dict[str, object]:
    pair = certificates.of_brokers()
    own = certificates.directory / "broker.pem"
    own.write_text(pair.key + pair.certificate)
    return {
        "listener.security.protocol.map": ",".join(
            f"{name}:{protocol}" for name, protocol in {**LISTENERS, CONTROLLER: "PLAINTEXT"}.items()
        ),
        "listener.name.tls.ssl.keystore.type": "PEM",
        "listener.name.tls.ssl.keystore.location": own,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": own,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": certificates.authority_file,
        "listener.name.mutual.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": RULES,
        "delegation.token.secret.key": "a key of the test",
    }


@contextmanager
def double(certificates: Certificates) -> Iterator[Mapping[str, str]]:
    config = {name: str(value) for name, value in settings(certificates).items()}
    with KafkaDouble(listeners=dict.fromkeys(LISTENERS, 0), config=config) as kafka:
        yield {name: kafka.bootstrap(name) for name in LISTENERS}


@contextmanager
def local(certificates: Certificates, folder: Path) -> Iterator[Mapping[str, str]]:
    """Raises Missing."""
    names = [*LISTENERS, CONTROLLER]
    addresses = {name: (HOST, port) for name, port in zip(names, free_ports(len(names)), strict=True)}
    seat = Seat(1, ("broker", "controller"), addresses, addresses)
    config = quorum.settings(seat, [seat], str(folder / "data"))
    config |= {name: str(value) for name, value in settings(certificates).items()}
    node = Node(seat, Kafka(), quorum.cluster_id(), folder, config)
    try:
        finished([node.formatting([])])
        node.start()
        yield {name: f"{host}:{port}" for name, (host, port) in addresses.items()}
    finally:
        node.kill()


@pytest.fixture(scope="module", params=["double", "local"])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    certificates = Certificates("valid", ["localhost", HOST])
    try:
        if request.param == "double":
            with double(certificates) as addresses:
                yield Secured(addresses, certificates)
        else:
            with local_kafka(request), local(certificates, tmp_path_factory.mktemp("tls")) as addresses:
                yield Secured(addresses, certificates)
    finally:
        certificates.close()


@pytest.mark.parametrize(("listener", "user"), [("TLS", None), ("MUTUAL", "Alice")])
def test_confluent_kafka(secured: Secured, name: str, listener: str, user: str | None) -> None:
    config = secured.confluent(listener, user)
    producer = ck.Producer(config)
    for number in range(COUNT):
        producer.produce(name, b"%d" % number)
    assert producer.flush(PATIENCE) == 0
    consumer = ck.Consumer({**config, "group.id": name, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([name])
        found: list[bytes] = []
        while len(found) < COUNT:
            got = consumer.consume(COUNT - len(found), PATIENCE)
            assert got, f"only {len(found)} of {COUNT} records"
            found += [each.value() for each in got if each.error() is None]
    finally:
        consumer.close()
    assert sorted(found, key=int) == [b"%d" % number for number in range(COUNT)]


@pytest.mark.parametrize(("listener", "user"), [("TLS", None), ("MUTUAL", "Alice")])
def test_kafka_python(secured: Secured, name: str, listener: str, user: str | None) -> None:
    config: dict[str, Any] = {
        "bootstrap_servers": secured.addresses[listener],
        "security_protocol": "SSL",
        "ssl_context": secured.context(user),
    }
    producer = KafkaProducer(**config)
    producer.send(name, b"1").get(PATIENCE)
    producer.close()
    consumer = KafkaConsumer(name, auto_offset_reset="earliest", consumer_timeout_ms=int(PATIENCE) * 1000, **config)
    try:
        assert next(iter(consumer)).value == b"1"
    finally:
        consumer.close()


@pytest.mark.parametrize(("listener", "user"), [("TLS", None), ("MUTUAL", "Alice")])
def test_aiokafka(secured: Secured, name: str, listener: str, user: str | None) -> None:
    config: dict[str, Any] = {
        "bootstrap_servers": secured.addresses[listener],
        "security_protocol": "SSL",
        "ssl_context": secured.context(user),
    }

    async def test() -> None:
        async with aiokafka.AIOKafkaProducer(**config) as producer:
            await producer.send_and_wait(name, b"1")
        async with aiokafka.AIOKafkaConsumer(name, auto_offset_reset="earliest", **config) as consumer:
            assert (await consumer.getone()).value == b"1"

    asyncio.run(asyncio.wait_for(test(), PATIENCE * 2))


def test_javas_console_tools(request: pytest.FixtureRequest, secured: Secured, name: str) -> None:
    with local_kafka(request), resident() as tools:
        for listener, user in (("TLS", None), ("MUTUAL", "Alice")):
            (tools.folder / "c.properties").write_text(secured.java(listener, user))
            topic, at = f"{name}-{listener}", ("--bootstrap-server", secured.addresses[listener])
            config = ("--command-config", "c.properties")
            made = tools.call("org.apache.kafka.tools.TopicCommand", ["--create", "--topic", topic, *at, *config])
            assert made.code == 0, made.err
            sent = tools.call(
                "org.apache.kafka.tools.ConsoleProducer",
                ["--topic", topic, *at, *config],
                "one\ntwo\n",
            )
            assert sent.code == 0, sent.err
            read = tools.call(
                "org.apache.kafka.tools.consumer.ConsoleConsumer",
                ["--topic", topic, *at, *config, "--from-beginning", "--max-messages", "2"],
            )
            assert (read.code, read.out.split()) == (0, ["one", "two"]), read.err


def owner_of_token(secured: Secured, listener: str, user: str | None) -> tuple[str, str]:
    """The error, and the principal that a delegation token is given to."""
    host, _, port = secured.addresses[listener].rpartition(":")
    body = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    frames: list[bytes] = []
    reader = Frames()
    with (
        socket.create_connection((host, int(port)), PATIENCE) as plain,
        secured.context(user).wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        sock.sendall(b"".join(headers.write_request(body, 1, "interop", 3)))
        while not frames:
            data = sock.recv(MOST)
            assert data, "the broker closed the connection"
            frames = reader.feed(data)
    answer: Any = headers.read_response(bytes(frames[0]), body.api_key or 0, 3)[1]
    return error_codes.name(answer.error_code), f"{answer.principal_type}:{answer.principal_name}"


def test_the_principal_follows_the_mapping_rules(secured: Secured) -> None:
    assert owner_of_token(secured, "MUTUAL", "Alice") == ("NONE", "User:alice")
    assert owner_of_token(secured, "TLS", None)[0] == "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"


def connection(secured: Secured, listener: str) -> socket.socket:
    host, _, port = secured.addresses[listener].rpartition(":")
    return socket.create_connection((host, int(port)), PATIENCE)


def is_refused(secured: Secured, listener: str, context: ssl.SSLContext) -> bool:
    """Whether the broker ends the handshake, or the connection after it, as TLS 1.3 does."""
    try:
        with context.wrap_socket(connection(secured, listener), server_hostname="localhost") as sock:
            return not sock.recv(1)
    except (ssl.SSLError, ConnectionError) as error:
        return not isinstance(error, TimeoutError)


def test_clients_that_are_refused(secured: Secured) -> None:
    stranger = Certificates("valid", ["localhost"])
    unknown = secured.context()
    unknown.load_cert_chain(stranger.of_user("alice"))
    stranger.close()
    assert is_refused(secured, "MUTUAL", secured.context())
    assert is_refused(secured, "MUTUAL", unknown)
    assert is_refused(secured, CLIENTS, secured.context())
    with connection(secured, "TLS") as plain:
        plain.sendall(b"".join(headers.write_request(CreateDelegationTokenRequest(), 1, "interop", 3)))
        answer = b""
        try:
            while data := plain.recv(100):
                answer += data
        except ConnectionError:
            pass
        # An alert of TLS at most, which is a record of the type 21.
        assert answer[:1] in (b"", b"\x15")
    assert owner_of_token(secured, "MUTUAL", "Alice")[0] == "NONE"
