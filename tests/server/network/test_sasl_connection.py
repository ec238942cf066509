"""Connections of a listener with SASL: bare messages, delegation tokens, frames that are too large
or no requests, and what many clients cost that never authenticate."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.messages.generated.describe_delegation_token import DescribeDelegationTokenRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.connection_protocol import connection_of
from kafkadouble.server.network.connection_state import CLOSED, CLOSING
from kafkadouble.server.network.line import Buffers
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.security.sasl import scram
from kafkadouble.server.security.sasl.exchange import ClientExchange
from tests.support.listeners import listeners_of

NOW = 1_700_000_000_000
MODULES = "org.apache.kafka.common.security"
SETTINGS = {
    "listeners": "SASL://127.0.0.1:9092",
    "listener.security.protocol.map": "SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "SASL",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.sasl.plain.sasl.jaas.config": f'{MODULES}.plain.PlainLoginModule required user_ann="secret";',
    "listener.name.sasl.scram-sha-256.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
    "delegation.token.secret.key": "key",
    "delegation.token.expiry.time.ms": "60000",
}
ANN, WRONG = b"\0ann\0secret", b"\0ann\0guess"


class Client:
    """The client of one connection; it keeps the frames that it gets."""

    def __init__(self, node: Node, number: int = 1) -> None:
        self.node, self.frames, self.is_closed = node, list[bytes](), False
        self.connection = connection_of(node, Peer(number, "203.0.113.9", 1, node.listeners[0]), self, 1 << 20)

    def write(self, buffers: Buffers) -> None:
        self.frames.append(b"".join(map(bytes, buffers))[4:])

    def close(self) -> None:
        self.is_closed = True

    def read_on(self, reads_on: bool, /) -> None:
        """It has no socket."""

    def others_first(self) -> None:
        """It sends one frame at a time."""

    def turn_is_over(self, ahead: bool) -> bool:
        return False

    def send(self, frame: bytes) -> None:
        self.connection.receive(len(frame).to_bytes(4) + frame, self.node.now)

    def ask(self, body: Message, version: int) -> Any:
        """The answer, after the delay of a failure; None without one."""
        self.send(b"".join(headers.write_request(body, 1, "test", version))[4:])
        if not self.frames:
            self.node.tick(self.node.now + 100)
        if not self.frames:
            return None
        return headers.read_response(self.frames.pop(), body.api_key or 0, version)[1]

    def by(self, exchange: ClientExchange, mechanism: str) -> Any:
        """The last answer of an exchange."""
        self.ask(SaslHandshakeRequest(mechanism=mechanism), 1)
        message = next(exchange)
        while True:
            answer = self.ask(SaslAuthenticateRequest(auth_bytes=message), 2)
            if answer is None or answer.error_code:
                return answer
            try:
                message = exchange.send(bytes(answer.auth_bytes))
            except StopIteration:
                return answer

    def plain(self, token: bytes = ANN) -> Any:
        self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        return self.ask(SaslAuthenticateRequest(auth_bytes=token), 2)


def node_with(more: Mapping[str, str] | None = None) -> Node:
    settings = Settings({**SETTINGS, **(more or {})})
    return Node(settings, listeners=listeners_of(settings, ("127.0.0.1", 9092)), now=NOW, seed=1)


@pytest.fixture
def node() -> Node:
    return node_with()


def test_bare_messages_after_version_0(node: Node) -> None:
    client = Client(node)
    assert client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0).error_code == 0
    client.send(ANN)
    assert client.frames.pop() == b""
    assert client.ask(MetadataRequest(topics=[]), 12).brokers
    assert client.connection.peer.principal == "User:ann"


def test_a_wrong_bare_message_ends_the_connection_after_the_delay(node: Node) -> None:
    client = Client(node)
    client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    client.send(WRONG)
    client.send(ANN)
    node.tick(NOW + 99)
    assert (client.frames, client.is_closed) == ([], False)
    node.tick(NOW + 100)
    assert (client.frames, client.is_closed) == ([], True)
    assert client.connection.peer.principal == "User:ANONYMOUS"


def token_of(client: Client) -> Any:
    created = client.ask(CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 3)
    assert created.error_code == 0
    return created


def test_a_delegation_token_is_a_user_until_it_expires(node: Node) -> None:
    owner = Client(node)
    owner.plain()
    token = token_of(owner)
    password = base64.b64encode(bytes(token.hmac)).decode()
    holder = Client(node, 2)
    exchange = scram.client_exchange("SCRAM-SHA-256", token.token_id, password, by_token=True)
    answer = holder.by(exchange, "SCRAM-SHA-256")
    assert (answer.error_code, answer.session_lifetime_ms) == (0, 60_000)
    assert holder.connection.peer.principal == "User:ann"
    refused = holder.ask(CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1), 3)
    assert refused.error_code == error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    described = holder.ask(DescribeDelegationTokenRequest(owners=None), 3)
    assert described.error_code == error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    node.tick(NOW + 60_001)
    assert holder.ask(MetadataRequest(topics=[]), 12) is None
    assert holder.is_closed


def test_the_owner_sees_its_tokens(node: Node) -> None:
    owner = Client(node)
    owner.plain()
    token = token_of(owner)
    [described] = owner.ask(DescribeDelegationTokenRequest(owners=None), 3).tokens
    assert (described.token_id, bytes(described.hmac)) == (token.token_id, bytes(token.hmac))
    assert (described.principal_name, described.token_requester_principal_name) == ("ann", "ann")
    assert owner.ask(DescribeDelegationTokenRequest(owners=[]), 3).tokens == []
    other = DescribeDelegationTokenRequest.DescribeDelegationTokenOwner(principal_type="User", principal_name="bob")
    assert owner.ask(DescribeDelegationTokenRequest(owners=[other]), 3).tokens == []


def test_without_a_secret_key_there_are_no_tokens() -> None:
    client = Client(node_with({"delegation.token.secret.key": ""}))
    client.plain()
    described = client.ask(DescribeDelegationTokenRequest(owners=None), 3)
    assert described.error_code == error_codes.DELEGATION_TOKEN_AUTH_DISABLED


@pytest.mark.parametrize(("token_id", "password"), [("id", "x"), ("", "x")])
def test_a_wrong_token(node: Node, token_id: str, password: str) -> None:
    owner = Client(node)
    owner.plain()
    known = token_of(owner).token_id
    exchange = scram.client_exchange("SCRAM-SHA-256", token_id or known, password, by_token=True)
    answer = Client(node, 2).by(exchange, "SCRAM-SHA-256")
    assert answer.error_code == error_codes.SASL_AUTHENTICATION_FAILED


def test_the_size_of_a_frame_is_limited_until_the_client_is_authenticated() -> None:
    node = node_with({"sasl.server.max.receive.size": "1000"})
    client = Client(node)
    client.plain()
    client.connection.receive((2000).to_bytes(4), NOW)
    assert not client.is_closed
    other = Client(node, 2)
    other.connection.receive((1001).to_bytes(4), NOW)
    assert other.is_closed


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00",
        b"\0ann\0secret-password",
        b"\x60\x82\x01",
        b"\x00\x11\x00\x01" + b"\xff" * 20,
        b"\x00\x24" + b"s" * 30,
    ],
)
def test_bytes_that_are_no_request_are_not_logged(node: Node, frame: bytes, caplog: pytest.LogCaptureFixture) -> None:
    client = Client(node)
    client.send(frame)
    assert client.is_closed
    assert (client.frames, len(caplog.records)) == ([], 1)
    assert "secret" not in caplog.text
    assert "sss" not in caplog.text


def test_a_client_without_sasl_gets_a_hint(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    Client(node).ask(MetadataRequest(topics=[]), 12)
    assert caplog.messages == [
        "203.0.113.9:1 sent a request Metadata, and has sent nothing "
        "(security.protocol=SASL_PLAINTEXT or SASL_SSL in the client?): closing"
    ]


def test_each_failed_login_is_logged_in_one_line(node: Node, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Client(node).plain(WRONG)
    assert caplog.messages == [
        "203.0.113.9:1 cannot be authenticated by PLAIN: Authentication failed: Invalid username or password: closing"
    ]


@pytest.mark.parametrize("leaves", [True, False])
def test_a_thousand_clients_that_never_authenticate_leave_nothing(node: Node, leaves: bool) -> None:
    clients = [Client(node, number) for number in range(1000)]
    for client in clients:
        client.ask(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        client.send(b"".join(headers.write_request(SaslAuthenticateRequest(auth_bytes=b"x"), 1, "t", 2))[4:])
        if leaves:
            client.connection.lost()
    while (due := node.next_deadline()) is not None and due <= NOW + 100:
        node.tick(NOW + 100)
    assert {client.connection.state for client in clients} == {CLOSED if leaves else CLOSING}
    assert sum(len(client.frames) for client in clients) == (0 if leaves else 1000)
    assert node.intake.total == 0
    known = Client(node, 2000)
    assert known.plain().error_code == 0


def test_a_client_that_leaves_while_its_failure_is_delayed(node: Node) -> None:
    client = Client(node)
    client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    client.send(WRONG)
    client.connection.lost()
    node.tick(NOW + 100)
    assert client.connection.state is CLOSED


def test_every_api_can_refuse_in_place_of_sasl_authenticate(node: Node) -> None:
    """Kafka answers with the API's own error; here that is the handler's."""
    for served in node.listeners[0].apis.values():
        if served.name in ("SaslAuthenticate", "Produce"):
            continue
        client = Client(node)
        client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
        client.ask(registry.api_named(served.name).request(), served.highest)
        assert client.is_closed, served.name
