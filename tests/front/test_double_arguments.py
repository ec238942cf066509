"""Arguments with which no double is made: each is refused at once, and no text has a password."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble import KafkaDouble, SteppedClock, UsageError

TWO = {"INTERNAL": 0, "EXTERNAL": 0}
MIXED = {"EXTERNAL": "SASL_SSL"}
USERS = {"alice": "hidden", "bob": "hidden"}
SASL = "SASL_PLAINTEXT"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"brokers": 0}, "brokers is 0: there is one at least"),
        ({"brokers": 2**40}, "and 1000 at most"),
        ({"stepped": True, "clock": SteppedClock()}, "give one of them"),
        ({"config": {"num.partitons": 3}}, "did you mean 'num.partitions'?"),
        ({"config": {"num.partitions": "many"}}, "num.partitions"),
        ({"config": {"listeners": "PLAINTEXT://:1"}}, "give host and port"),
        ({"brokers": "3"}, "brokers is '3': there is one at least"),
        ({"brokers": 2.5}, "brokers is 2.5"),
        ({"brokers": None}, "brokers is None"),
        ({"brokers": True}, "brokers is True"),
        ({"brokers": -1}, "brokers is -1"),
        ({"brokers": 2, "config": {"node.id": 5}}, "node.id is that of one node"),
        ({"brokers": 2, "config": {"process.roles": "broker"}}, "process.roles is that of one node"),
        ({"brokers": 3, "port": 65534}, "port 65534 leaves no 3 ports"),
        ({"port": 70000}, "port is 70000: there are ports 1 to 65535, and 0 for any free one"),
        ({"port": "9092"}, "port is '9092'"),
        ({"security": "TLS"}, "security is 'TLS': there are SSL, SASL_PLAINTEXT, SASL_SSL"),
        ({"security": "SSL", "certificate": "old"}, "certificate is 'old': there are valid, expired"),
        ({"controller_port": -1}, "controller_port is -1"),
        ({"brokers": 2, "controller_port": 70000}, "controller_port is 70000"),
        ({"listeners": {}}, "it has a port for each name"),
        ({"listeners": ["EXTERNAL"]}, "it has a port for each name"),
        ({"listeners": {"OUT SIDE": 0}}, "'OUT SIDE' is no name of a listener"),
        ({"listeners": {"EXTERNAL": 70000}}, "the port of EXTERNAL is 70000"),
        ({"listeners": {"EXTERNAL": "9092"}}, "the port of EXTERNAL is '9092'"),
        ({"listeners": {"A": 0, "a": 0}}, "Each listener must have a different name"),
        ({"listeners": {"A": 9092, "B": 9092}}, "Each listener must have a different port"),
        ({"listeners": {"CONTROLLER": 0}}, "There must be at least one broker advertised listener"),
        ({"listeners": TWO, "port": 9092}, "leave it out"),
        ({"listeners": TWO, "config": {"inter.broker.listener.name": "OTHER"}}, "not found in listener.security"),
        (
            {"listeners": TWO, "config": {"advertised.listeners": "EXTERNAL://h:1"}},
            "inter.broker.listener.name must be",
        ),
        (
            {"listeners": {"A": 0}, "config": {"listener.security.protocol.map": "A:SASL_SSL"}},
            "ssl.keystore.location (listener A) is not set",
        ),
        (
            {"listeners": TWO, "users": USERS, "security": {"OTHER": "SSL"}},
            "there is no listener 'OTHER'; there are INTERNAL, EXTERNAL",
        ),
        (
            {"listeners": TWO, "users": USERS, "security": {"EXTERNAL": "TLS"}},
            "security of EXTERNAL is 'TLS': there are PLAINTEXT, SSL",
        ),
        ({"security": MIXED, "users": USERS}, "it has the protocols of listeners, so give listeners"),
        ({"listeners": TWO, "security": MIXED}, "users has a password for each name"),
        ({"listeners": TWO, "users": USERS}, "users need security='SASL_PLAINTEXT' or 'SASL_SSL', not 'PLAINTEXT'"),
        ({"listeners": TWO, "users": USERS, "security": MIXED, "certificate": "bad"}, "certificate"),
        ({"oauthbearer": "any"}, "oauthbearer needs security='SASL_PLAINTEXT' or 'SASL_SSL'"),
        ({"oauthbearer": "all", "security": SASL}, "oauthbearer is 'all': there are unsecured, signed, any"),
        ({"oauthbearer": 5, "security": SASL}, "oauthbearer is 5: there are unsecured"),
        ({"users": USERS}, "users need security='SASL_PLAINTEXT'"),
        ({"security": "SASL_PLAINTEXT"}, "users has a password for each name"),
        ({"security": "SASL_PLAINTEXT", "users": {}}, "users has a password for each name"),
        ({"security": "SASL_PLAINTEXT", "users": {"": "hidden"}}, "'' is no name of a user"),
        ({"security": "SASL_PLAINTEXT", "users": {"\u00e4": "hidden"}}, "is no name of a user"),
        ({"security": "SASL_PLAINTEXT", "users": {"alice": ""}}, "the password of alice is no text"),
        ({"security": "SASL_PLAINTEXT", "users": {"alice": b"hidden"}}, "the password of alice is no text"),
    ],
)
def test_invalid_argument_of_the_double_is_refused_at_once(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        KafkaDouble(**arguments)
    assert problem in str(refused.value)
    assert "hidden" not in str(refused.value)
