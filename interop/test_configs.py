"""What users rely on when they describe and alter the configs of topics and brokers."""

from __future__ import annotations

from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.support import refused
from tests.support.waiting import eventually

DEFAULTS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
}
"""The configs of a topic on a broker with Kafka's default settings."""


def test_a_topic_has_default_configs(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        configs = admin.configs("topic", topic)
    assert {key: configs.get(key) for key in DEFAULTS} == DEFAULTS


def test_a_topic_has_the_configs_that_it_was_created_with(broker: Broker, client: Client, name: str) -> None:
    given = {"cleanup.policy": "compact", "retention.ms": "1234567"}
    with client.admin(broker.bootstrap) as admin:
        admin.create_topic(name, 1, given)
        eventually(admin.topics, lambda found: name in found)
        found = admin.configs("topic", name)
    assert {key: found[key] for key in given} == given


def test_replacing_configs_takes_back_what_is_not_named(broker: Broker, client: Client, name: str) -> None:
    """kafka-python keeps the others by naming them."""
    with client.admin(broker.bootstrap) as admin:
        admin.create_topic(name, 1, {"retention.ms": "1234567"})
        eventually(admin.topics, lambda found: name in found)
        admin.replace_configs("topic", name, {"max.message.bytes": "2000000"})
        found = eventually(lambda: admin.configs("topic", name), lambda found: found["max.message.bytes"] == "2000000")
    assert found["retention.ms"] == ("1234567" if client.name == "kafka-python" else DEFAULTS["retention.ms"])


CHANGES: list[tuple[str, list[tuple[str, str, str | None]], dict[str, str | None]]] = [
    ("set a value", [("set", "retention.ms", "5000")], {"retention.ms": "5000"}),
    ("append to a list", [("append", "cleanup.policy", "compact")], {"cleanup.policy": "delete,compact"}),
    ("append what is there", [("append", "cleanup.policy", "delete")], {"cleanup.policy": "delete,compact"}),
    ("subtract from a list", [("subtract", "cleanup.policy", "delete")], {"cleanup.policy": "compact"}),
    (
        "delete, and set another",
        [("delete", "retention.ms", None), ("set", "max.message.bytes", "9000")],
        {"retention.ms": "604800000", "max.message.bytes": "9000", "cleanup.policy": "compact"},
    ),
]


def _eventually_has(admin: Any, topic: str, expected: dict[str, str | None]) -> bool:
    def configs() -> dict[str, str | None]:
        found = admin.configs("topic", topic)
        return {key: found[key] for key in expected}

    return eventually(configs, lambda found: found == expected) == expected


@pytest.mark.clients(can="admin.alter_configs")
def test_configs_are_altered_step_by_step(broker: Broker, client: Client, topic: str) -> None:
    with client.admin(broker.bootstrap) as admin:
        for step, changes, expected in CHANGES:
            admin.alter_configs("topic", topic, *changes)
            assert _eventually_has(admin, topic, expected), step


@pytest.mark.clients(can="admin.alter_configs")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        (("set", "retention.ms", "soon"), "INVALID_CONFIG"),
        (("set", "cleanup.policy", "burn"), "INVALID_CONFIG"),
        (("set", "no.such.thing", "1"), "INVALID_CONFIG"),
        (("append", "retention.ms", "1"), "INVALID_CONFIG"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else value,
)
def test_impossible_config_is_refused_and_changes_nothing(
    broker: Broker, client: Client, topic: str, change: tuple[str, str, str], error: str
) -> None:
    with client.admin(broker.bootstrap) as admin:
        before = admin.configs("topic", topic)
        with refused(error):
            admin.alter_configs("topic", topic, ("set", "max.message.bytes", "5000"), change)
        assert admin.configs("topic", topic) == before


@pytest.mark.clients(names=("aiokafka", "confluent-kafka"))  # kafka-python does not read the error
def test_configs_of_no_topic_are_refused(broker: Broker, client: Client, name: str) -> None:
    with client.admin(broker.bootstrap) as admin, refused("UNKNOWN_TOPIC_OR_PARTITION"):
        admin.configs("topic", name)


def test_a_broker_describes_its_settings(broker: Broker, client: Client) -> None:
    with CREATOR.admin(broker.bootstrap) as admin:
        node = str(admin.cluster()[1])
    with client.admin(broker.bootstrap) as admin:
        configs = admin.configs("broker", node)
    assert configs["node.id"] == node
    assert {"log.retention.hours", "message.max.bytes", "auto.create.topics.enable"} <= set(configs)


@pytest.mark.clients(can="admin.alter_configs")
@pytest.mark.needs("own")
def test_a_setting_of_the_broker_is_changed_while_it_runs(broker: Broker, client: Client) -> None:
    with client.admin(broker.bootstrap) as admin:
        node = str(admin.cluster()[1])
        before = admin.configs("broker", node)["log.cleaner.threads"]
        admin.alter_configs("broker", node, ("set", "log.cleaner.threads", "2"))
        eventually(lambda: admin.configs("broker", node)["log.cleaner.threads"], lambda found: found == "2")
        admin.alter_configs("broker", node, ("delete", "log.cleaner.threads", None))
        eventually(lambda: admin.configs("broker", node)["log.cleaner.threads"], lambda found: found == before)
