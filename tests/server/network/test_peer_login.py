"""The login of a node on a connection to another: by each mechanism, refused, and replaced before
its session ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.client.client_connection import BadPeer
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.peer_connection import PeerConnection
from kafkadouble.server.network.peer_login import login_to
from kafkadouble.server.network.peer_security import PeerSecurity
from kafkadouble.server.raft.voters import VoterEndpoint
from kafkadouble.wire.errors import UsageError

MODULES = "org.apache.kafka.common.security"
NAME = "listener.name.sasl_plaintext"
USERS = {"admin": "secret"}


def settings(mechanism: str, login: str) -> Settings:
    return Settings(
        {
            "sasl.mechanism.inter.broker.protocol": mechanism,
            f"{NAME}.{mechanism.lower()}.sasl.jaas.config": login,
        }
    )


def user(module: str, password: str = "secret") -> str:
    return f'{MODULES}.{module} required username="admin" password="{password}";'


async def asked(port: int, given: Settings) -> tuple[Any, bool]:
    """An answer on a connection after the login, and whether the connection counts as open."""
    security = PeerSecurity(login=login_to(given, "SASL_PLAINTEXT", False))
    connection = await PeerConnection.open(VoterEndpoint("127.0.0.1", port), "1", security=security)
    try:
        return await connection.ask(MetadataRequest(topics=[]), 12), connection.is_open
    finally:
        connection.abort()
        await connection.ended()


PLAIN, SCRAM = "plain.PlainLoginModule", "scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("SCRAM-SHA-512", SCRAM)]
)
def test_a_node_logs_in(mechanism: str, module: str) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka:
        answer, is_open = asyncio.run(asked(kafka.port, settings(mechanism, user(module))))
    assert answer.brokers
    assert is_open


@pytest.mark.parametrize(
    ("mechanism", "login", "problem"),
    [
        ("PLAIN", user(PLAIN, "wrong"), "refuses the login by PLAIN: Authentication failed: Invalid username"),
        ("SCRAM-SHA-256", user(SCRAM, "wrong"), "due to invalid credentials with SASL mechanism SCRAM-SHA-256"),
        ("PLAIN", f"{MODULES}.{PLAIN} required;", "the login by PLAIN fails: sasl.jaas.config has no username"),
        (
            "OAUTHBEARER",
            f'{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="a";',
            "it takes no OAUTHBEARER: UNSUPPORTED_SASL_MECHANISM",
        ),
    ],
)
def test_a_login_that_is_refused(mechanism: str, login: str, problem: str) -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS) as kafka, pytest.raises(BadPeer) as refused:
        asyncio.run(asked(kafka.port, settings(mechanism, login)))
    assert problem in str(refused.value)
    assert "wrong" not in str(refused.value)


def test_a_connection_is_replaced_before_its_session_ends() -> None:
    config = {"connections.max.reauth.ms": 1}
    with KafkaDouble(security="SASL_PLAINTEXT", users=USERS, config=config, stepped=True) as kafka:

        async def is_open_then() -> bool:
            security = PeerSecurity(login=login_to(settings("PLAIN", user(PLAIN)), "SASL_PLAINTEXT", False))
            connection = await PeerConnection.open(VoterEndpoint("127.0.0.1", kafka.port), "1", security=security)
            loop = asyncio.get_running_loop()
            due = asyncio.Event()
            loop.call_later(0.001, due.set)
            await due.wait()
            try:
                return connection.is_open
            finally:
                connection.abort()
                await connection.ended()

        assert not asyncio.run(is_open_then())


def test_a_mechanism_that_is_not_known() -> None:
    with pytest.raises(UsageError, match=r"sasl.mechanism.inter.broker.protocol: GSSAPI needs Kerberos"):
        login_to(Settings(), "SASL_PLAINTEXT", False)
