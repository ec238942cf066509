"""Clients by TLS: on a double, and on an Apache Kafka with the same settings (`--broker local`).

Listeners: TLS, without certificates of clients, and MUTUAL, where they are required. The principal
of a connection is seen as the owner of a delegation token.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.one_node import KINDS, addresses_of, one_node, pem_stores
from interop.quorum import CLIENTS, CONTROLLER
from interop.support import local_kafka
from interop.tools.resident import resident
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages import error_codes, headers
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.wire.frame import Frames
from tests.support.client import MOST
from tests.support.ports import HOST
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("collected")

RULES = r"RULE:^CN=(.*?)(,.*)?$/$1/L,DEFAULT"
LISTENERS = {CLIENTS: "PLAINTEXT", "TLS": "SSL", "MUTUAL": "SSL", CONTROLLER: "PLAINTEXT"}
COUNT = 20


class Secured(NamedTuple):
    """A broker, its addresses by listener, and the certificates."""

    addresses: Mapping[str, str]
    certificates: Certificates

    def options(self, client: Client, user: str | None = None) -> dict[str, Any]:
        if client.name != "confluent-kafka":
            return {"security_protocol": "SSL", "ssl_context": self.context(user)}
        own = str(self.certificates.of_user(user)) if user else None
        files = {"ssl_certificate_location": own, "ssl_key_location": own} if own else {}
        return {"security_protocol": "SSL", "ssl_ca_location": str(self.certificates.authority_file), **files}

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
    stores = pem_stores(certificates)
    return {
        **{f"listener.name.tls.{name}": value for name, value in stores.items() if "keystore" in name},
        **stores,
        "listener.name.mutual.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": RULES,
        "delegation.token.secret.key": "a key of the test",
    }


@pytest.fixture(scope="module")
def secured(node_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("tls")
    with (
        closing(Certificates("valid", ["localhost", HOST])) as certificates,
        one_node(KINDS[node_kind], folder, LISTENERS, settings(certificates)) as node,
    ):
        yield Secured(addresses_of(node), certificates)


CONNECTIONS = [("TLS", None), ("MUTUAL", "Alice")]
"""A listener, and the name in the client's certificate."""


@pytest.mark.parametrize(("listener", "user"), CONNECTIONS)
def test_records_by_tls_are_read_by_tls(
    secured: Secured, client: Client, name: str, listener: str, user: str | None
) -> None:
    address, options = secured.addresses[listener], secured.options(client, user)
    values = [b"%d" % number for number in range(COUNT)]
    with client.producer(address, **options) as producer:
        producer.send(name, [Record(value) for value in values])
    with client.consumer(address, partitions=[Partition(name, 0)], **options) as consumer:
        assert [seen.value for seen in consumer.read(COUNT)] == values


def test_javas_console_tools(request: pytest.FixtureRequest, secured: Secured, name: str) -> None:
    with local_kafka(request), resident() as tools:
        for listener, user in CONNECTIONS:
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
    body = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    frames: list[bytes] = []
    reader = Frames()
    with (
        connection(secured, listener) as plain,
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
