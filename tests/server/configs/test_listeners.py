"""What the settings of listeners say."""

import pytest

from kafkadouble.server.configs.broker_rules import broken
from kafkadouble.server.configs.definition import InvalidConfig
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.listeners import ListenerEndpoint, endpoints, security_protocols


def test_listeners_are_read() -> None:
    layers = Layers({"listeners": "plaintext://:0, INTERNAL://[::1]:9092,EXTERNAL://host-1:65535"})
    assert endpoints(layers) == [
        ListenerEndpoint("PLAINTEXT", "", 0),
        ListenerEndpoint("INTERNAL", "::1", 9092),
        ListenerEndpoint("EXTERNAL", "host-1", 65535),
    ]
    assert endpoints(layers, "advertised.listeners") == []
    with pytest.raises(InvalidConfig, match="Unable to parse nowhere"):
        endpoints(Layers({"listeners": "nowhere"}))


@pytest.mark.parametrize(
    ("static", "protocols"),
    [
        ({"controller.listener.names": "CONTROLLER"}, {"CONTROLLER": "PLAINTEXT"}),
        ({"controller.listener.names": "CONTROLLER", "listeners": "SSL://:1"}, {}),
        ({"controller.listener.names": "SSL"}, {}),
        ({"listener.security.protocol.map": "a:SSL, B:PLAINTEXT"}, None),
    ],
)
def test_security_protocols(static: dict[str, str], protocols: dict[str, str] | None) -> None:
    usual = {name: name for name in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")}
    assert security_protocols(Layers(static)) == (
        {"A": "SSL", "B": "PLAINTEXT"} if protocols is None else usual | protocols
    )


@pytest.mark.parametrize(
    ("static", "problem"),
    [
        ({"listener.security.protocol.map": "A:TLS"}, "Invalid security protocol `TLS`"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "meta-address"),
        ({"advertised.listeners": "OTHER://h:1"}, "No security protocol defined for listener OTHER"),
        ({"listeners": "PLAINTEXT://a:1,plaintext://b:2"}, "different name"),
        ({"listeners": "PLAINTEXT://a:1,SSL://b:1"}, "different port"),
        ({"listeners": "PLAINTEXT://127.0.0.1:1,SSL://[::1]:1"}, ""),
        ({"listeners": "PLAINTEXT://a:0,SSL://b:0"}, ""),
        ({"listeners": "SSL://:1"}, "inter.broker.listener.name must be a listener name defined in advertised"),
        ({"listeners": "SSL://:1", "security.inter.broker.protocol": "SSL"}, ""),
        ({"listeners": "SSL://:1", "inter.broker.listener.name": "ssl"}, ""),
        (
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
            "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set",
        ),
        ({"inter.broker.listener.name": "A"}, "Listener with name A defined in inter.broker.listener.name not found"),
        (
            {"advertised.listeners": "SSL://h:1,PLAINTEXT://h:2"},
            "Found SSL,PLAINTEXT. The valid options based on the current configuration are PLAINTEXT",
        ),
        (
            {"listeners": "C://:1", "controller.listener.names": "C"},
            "There must be at least one broker advertised listener. Perhaps all listeners appear in controller",
        ),
        ({"listeners": "C://:1", "controller.listener.names": "C", "process.roles": "controller"}, ""),
        ({"log.roll.ms": "0"}, "log.roll.ms must be greater"),
        ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms must be greater"),
        ({"log.cleaner.threads": "200"}, "1MB per cleaner thread"),
        ({"queued.max.request.bytes": "5"}, "queued.max.request.bytes must be larger"),
        ({"connections.max.idle.ms": "50"}, "connection.failed.authentication.delay.ms should always be less"),
        ({"max.connections.per.ip": "0"}, "can be set to zero only if"),
        ({"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "h:1"}, ""),
        ({"group.share.assignors": "a,b"}, "exactly one assignor"),
        (
            {"group.share.max.size": "201", "group.share.max.share.sessions": "200"},
            "must be greater than or equal to group.share.max.size",
        ),
        ({"replica.fetch.wait.max.ms": "30001"}, "must be less than or equal to replica.socket.timeout.ms"),
        ({"node.id": "1", "broker.id": "2"}, "must be set to the same value"),
        ({}, ""),
    ],
)
def test_rules_of_a_broker(static: dict[str, str], problem: str) -> None:
    found = [text for _, text in broken(Layers(static))]
    assert found == [] if not problem else problem in found[0]
