"""Alterations of the settings of SASL while a broker runs: a kafkadouble and an Apache Kafka answer
them alike. What they then do differs, as docs/divergence.md says: an altered login counts here at
once, and in Kafka never, not after a restart either."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.controllers.admin import BROKER, alter_configs
from interop.quorum import CLIENTS
from interop.sasl_servers import LOGINS, SASL, Pair, sasl_node
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from tests.support.client import ask
from tests.support.sasl_talk import Address, Talk, plain_token, shake
from tests.support.waiting import eventually

pytestmark = pytest.mark.usefixtures("kafka_jars")


"""The addresses of the kafkadouble and of the Apache Kafka, by listener."""

OF_LISTENER = "listener.name.sasl."
JAAS, ALTERED_LOGIN = f"{OF_LISTENER}plain.sasl.jaas.config", LOGINS["plain"].replace("alice-secret", "altered")
MARK = "log.cleaner.backoff.ms"

ALTERED = {
    f"{name} = {value[:20]}": (name, value)
    for name, value in (
        *((f"{prefix}sasl.enabled.mechanisms", "PLAIN") for prefix in ("", OF_LISTENER, "listener.name.nowhere.")),
        *((f"{OF_LISTENER}sasl.enabled.mechanisms", value) for value in ("SCRAM-SHA-256,GSSAPI", "", "NOPE")),
        (JAAS, ALTERED_LOGIN),
        (f"{OF_LISTENER}plain.sasl.jaas.config", "nonsense"),
        ("sasl.jaas.config", LOGINS["plain"]),
        (f"{OF_LISTENER}oauthbearer.sasl.oauthbearer.jwks.endpoint.url", "http://127.0.0.1:1/keys"),
        (f"{OF_LISTENER}sasl.oauthbearer.jwks.endpoint.url", "http://127.0.0.1:1/keys"),
        ("sasl.oauthbearer.jwks.endpoint.url", "http://127.0.0.1:1/keys"),
        *((f"{prefix}connections.max.reauth.ms", "1000") for prefix in ("", OF_LISTENER, f"{OF_LISTENER}plain.")),
        *((f"{prefix}sasl.mechanism.inter.broker.protocol", "PLAIN") for prefix in ("", OF_LISTENER)),
        (f"{OF_LISTENER}connection.failed.authentication.delay.ms", "1"),
        (f"{OF_LISTENER}sasl.server.max.receive.size", "1"),
        (f"{OF_LISTENER}max.connections", "1000"),
        (f"{OF_LISTENER}anything", "x"),
    )
}


def alter(side: Address, name: str, value: str | None, broker: str = "1") -> tuple[int, str | None]:
    """Sets a configuration, or deletes it; the error code and the message."""
    answer = alter_configs(side, BROKER, broker, {name: value})
    return answer.error_code, answer.error_message


@pytest.mark.parametrize("altered", ["1", ""])
@pytest.mark.parametrize("case", ALTERED)
def test_altered_sasl_config_is_answered_as_by_kafka(pair: Pair, case: str, altered: str) -> None:
    """The configuration of broker 1, and that of all brokers."""
    name, value = ALTERED[case]
    ours, theirs = (alter(side[CLIENTS], name, value, altered) for side in pair)
    for side in pair:
        alter(side[CLIENTS], name, None, altered)
    assert ours == theirs


def test_an_altered_login_counts_here_at_once_and_in_kafka_not(pair: Pair) -> None:
    found = []
    for side in pair:
        assert alter(side[CLIENTS], JAAS, ALTERED_LOGIN) == (0, None)
        _wait_for_earlier_alterations(side[CLIENTS])
        found.append([password for password in ("alice-secret", "altered") if _logs_in(side[SASL], password)])
        alter(side[CLIENTS], JAAS, None)
    assert found == [["altered"], ["alice-secret"]]


def test_an_altered_login_does_not_count_in_kafka_after_a_restart(tmp_path: Path) -> None:
    with sasl_node("local", tmp_path) as node:
        addresses = node.seat.known
        assert alter(addresses[CLIENTS], JAAS, ALTERED_LOGIN) == (0, None)
        _wait_for_earlier_alterations(addresses[CLIENTS])
        node.stop()
        node.start()
        assert _logs_in(addresses[SASL], "alice-secret")
        assert not _logs_in(addresses[SASL], "altered")


def _wait_for_earlier_alterations(side: Address) -> None:
    """A broker applies alterations in their order."""
    assert alter(side, MARK, "15001") == (0, None)
    shown = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name="1", configuration_keys=[MARK]
    )
    eventually(
        lambda: ask("{}:{}".format(*side), DescribeConfigsRequest(resources=[shown]), 4).results[0].configs[0].value,
        lambda value: value == "15001",
    )


def _logs_in(address: Address, password: str) -> bool:
    talk = Talk(address)
    with talk.socket:
        shake(talk)
        plain_token(talk, f"\0alice\0{password}".encode())
    return bool(talk.last["errorCode"] == "NONE")
