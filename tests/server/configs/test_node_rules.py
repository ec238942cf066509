"""The settings of a whole node: what Apache Kafka refuses to start with is refused here."""

from __future__ import annotations

import pytest

from kafkadouble.server.configs.node_rules import check_node
from kafkadouble.server.configs.settings import Settings
from kafkadouble.wire.errors import UsageError

COMBINED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "log.dirs": "/a,/b",
    "listeners": "PLAINTEXT://h:9092,CONTROLLER://h:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@h:9093,3@h:9094",
}
BROKER = COMBINED | {"process.roles": "broker", "node.id": "2", "listeners": "PLAINTEXT://h:9092"}
CONTROLLER = COMBINED | {"process.roles": "controller", "listeners": "CONTROLLER://h:9093"}
DYNAMIC = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "h:9093"}
MAP, NAMES = "listener.security.protocol.map", "controller.listener.names"
SASL = {
    "listeners": "SASL_PLAINTEXT://h:9092",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    MAP: "SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
}


def checked(config: dict[str, str]) -> None:
    settings = Settings(sources=[(f"file line {name}", name, text) for name, text in config.items()])
    check_node(settings)


@pytest.mark.parametrize(
    "config",
    [
        COMBINED,
        BROKER,
        CONTROLLER,
        BROKER | DYNAMIC,
        CONTROLLER | DYNAMIC | {"controller.quorum.auto.join.enable": "true"},
        {name: text for name, text in COMBINED.items() if name != "node.id"} | {"broker.id": "1"},
        COMBINED | {MAP: "CONTROLLER:plaintext,PLAINTEXT:Plaintext"},
        COMBINED | {"listeners": "plaintext://h:9092,controller://h:9093"},
        BROKER | {NAMES: "controller", MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"},
        COMBINED | {"early.start.listeners": "PLAINTEXT"},
        COMBINED | {"cordoned.log.dirs": "/b"},
        COMBINED | {"cordoned.log.dirs": "*"},
        CONTROLLER | {"cordoned.log.dirs": "/nope"},
        COMBINED | {"log.dirs": "/a,/a"},
        COMBINED | {"offsets.topic.compression.codec": "4"},
        COMBINED | {"group.coordinator.rebalance.protocols": "classic"},
        COMBINED | {"group.consumer.assignors": "range,com.example.Own"},
        BROKER | SASL | {"sasl.mechanism.inter.broker.protocol": "PLAIN", "sasl.enabled.mechanisms": "PLAIN"},
    ],
)
def test_settings_that_kafka_takes_are_taken(config: dict[str, str]) -> None:
    checked(config)


@pytest.mark.parametrize(
    ("config", "setting", "problem"),
    [
        # The kinds of mistake that were found in use.
        (BROKER | {"node.id": "1"}, "controller.quorum.voters", "node 1 is only a broker, and .* has it among 1,3"),
        (BROKER | {"listeners": COMBINED["listeners"]}, "listeners", "only a broker has no listener of controller"),
        (CONTROLLER | {"listeners": COMBINED["listeners"]}, "listeners", "only a controller has PLAINTEXT,CONTROLLER"),
        (CONTROLLER | {"node.id": "2"}, "controller.quorum.voters", "node 2 is a controller, and .* has only 1,3"),
        (COMBINED | {NAMES: "NOPE"}, "listeners", "No security protocol defined for listener CONTROLLER"),
        (
            COMBINED | {NAMES: "NOPE", MAP: "NOPE:SSL,CONTROLLER:SSL,PLAINTEXT:SSL"},
            NAMES,
            "NOPE, and a controller opens",
        ),
        (BROKER | {NAMES: "NOPE", MAP: "PLAINTEXT:PLAINTEXT"}, NAMES, "no protocol for the controllers' listener NOPE"),
        (COMBINED | {"controller.quorum.voters": ""}, "controller.quorum.voters", "are both empty"),
        (
            BROKER | DYNAMIC | {"controller.quorum.auto.join.enable": "true"},
            "controller.quorum.auto.join.enable",
            "role",
        ),
        (
            COMBINED | {"group.coordinator.rebalance.protocols": "consumer"},
            "group.coordinator.rebalance.protocols",
            "is consumer: classic must be among them",
        ),
        (
            COMBINED | {"offsets.topic.compression.codec": "9"},
            "offsets.topic.compression.codec",
            r"is 9: there are 0 \(none\), .*, 4 \(zstd\)",
        ),
        (COMBINED | {"early.start.listeners": "NOPE"}, "early.start.listeners", "has NOPE: .*PLAINTEXT,CONTROLLER"),
        (COMBINED | {"cordoned.log.dirs": "/nope"}, "cordoned.log.dirs", "has /nope: .*/a,/b, or \\* alone"),
        # Their neighbours.
        ({**COMBINED, NAMES: "controller", MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"}, NAMES, "in capitals"),
        (COMBINED | {NAMES: "controller"}, "listeners", "No security protocol defined for listener CONTROLLER"),
        (BROKER | {NAMES: "controller"}, NAMES, "no protocol for the controllers' listener controller"),
        (COMBINED | {"broker.id": "-1"}, "broker.id", "must be set to the same value"),
        (COMBINED | {"early.start.listeners": "plaintext"}, "early.start.listeners", "in capitals"),
        (COMBINED | {"cordoned.log.dirs": "*,/nope"}, "cordoned.log.dirs", "has /nope"),
        (COMBINED | {NAMES: "CONTROLLER,OTHER", MAP: "CONTROLLER:SSL,OTHER:SSL,PLAINTEXT:SSL"}, NAMES, "opens each"),
        (COMBINED | {"share.coordinator.state.topic.compression.codec": "-1"}, "share.coordinator.state.topic", "-1"),
        (COMBINED | {"group.consumer.assignors": "nope"}, "group.consumer.assignors", "there are uniform, range"),
        (COMBINED | {"max.connections.per.ip.overrides": "a b:3"}, "max.connections.per.ip.overrides", "HOST:COUNT"),
        (COMBINED | {"listeners": "PLAINTEXT://h:1,CONTROLLER://[::1]:1"}, "listeners", "different port"),
        (CONTROLLER | {"inter.broker.listener.name": "CONTROLLER"}, "inter.broker.listener.name", "a controller needs"),
        (CONTROLLER | {"inter.broker.listener.name": "NOPE"}, "inter.broker.listener.name", "not found in listener"),
        (
            BROKER | SASL | {"sasl.mechanism.inter.broker.protocol": "PLAIN"},
            "sasl.mechanism.inter.broker.protocol",
            "PLAIN must be included in sasl.enabled.mechanisms",
        ),
        ({name: text for name, text in COMBINED.items() if name != "node.id"}, "process.roles", "node.id is not set"),
        ({name: text for name, text in BROKER.items() if name != NAMES}, "process.roles", "names is not set"),
    ],
)
def test_settings_that_kafka_refuses_are_refused_with_their_place(
    config: dict[str, str], setting: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=f"file line {setting}.*: .*{problem}"):
        checked(config)


def test_a_node_without_roles_needs_no_quorum() -> None:
    checked({"listeners": "PLAINTEXT://h:1", "node.id": "4"})
    checked({})
