"""Which value counts: layers, units, listeners, and what topics and groups inherit from their
broker."""

import pytest

from kafkadouble.server.configs.effective import effective_group_config, effective_topic_config
from kafkadouble.server.configs.layers import Layers, may_be_dynamic, names_of_one, usable
from kafkadouble.server.configs.settings import Settings, properties

DAY = 86_400_000


@pytest.mark.parametrize(
    ("static", "cluster", "own", "value"),
    [
        ({}, {}, {}, 1),
        ({"min.insync.replicas": "2"}, {}, {}, 2),
        ({"min.insync.replicas": "2"}, {"min.insync.replicas": "3"}, {}, 3),
        ({"min.insync.replicas": "2"}, {"min.insync.replicas": "3"}, {"min.insync.replicas": "4"}, 4),
        ({"min.insync.replicas": "2"}, {}, {"min.insync.replicas": "none"}, 2),
    ],
)
def test_config_value_is_that_of_the_nearest_layer(
    static: dict[str, str], cluster: dict[str, str], own: dict[str, str], value: int
) -> None:
    assert Layers(static, cluster, own).value("min.insync.replicas") == value


@pytest.mark.parametrize("text", ["5", "-1", "many"])
def test_the_file_of_a_node_does_not_set_what_is_only_dynamic(text: str) -> None:
    rate = "leader.replication.throttled.rate"
    settings = Settings(sources=properties(f"{rate}={text}"))
    assert settings.int(rate) == 2**63 - 1
    assert settings.without_effect() == [rate]
    assert settings.altered({rate: "7"}, {}).int(rate) == 7
    assert settings.altered({}, {rate: "7"}).int(rate) == 7


@pytest.mark.parametrize(
    ("static", "cluster", "own", "retention"),
    [
        ({}, {}, {}, 7 * DAY),
        ({"log.retention.hours": "24"}, {}, {}, DAY),
        ({"log.retention.hours": "24", "log.retention.minutes": "2"}, {}, {}, 120_000),
        ({"log.retention.hours": "24", "log.retention.ms": "3"}, {}, {}, 3),
        ({"log.retention.hours": "-5"}, {}, {}, -1),
        ({"log.retention.hours": "24"}, {"log.retention.ms": "9"}, {}, 9),
        ({"log.retention.ms": "3"}, {"log.retention.ms": "9"}, {"log.retention.ms": "10"}, 10),
    ],
)
def test_retention_of_a_topic_is_the_brokers_in_whatever_unit(
    static: dict[str, str], cluster: dict[str, str], own: dict[str, str], retention: int
) -> None:
    assert effective_topic_config({}, Layers(static, cluster, own))["retention.ms"] == retention


def test_a_topic_has_every_configuration() -> None:
    values = effective_topic_config({"cleanup.policy": "compact", "segment.ms": "5"}, Layers({"log.roll.hours": "2"}))
    assert len(values) == 38 + 1  # includes ours
    assert values["cleanup.policy"] == ("compact",)
    assert values["segment.ms"] == 5
    assert values["internal.segment.bytes"] is None
    assert values["max.message.bytes"] == 1_048_588
    assert values["flush.ms"] == 9_223_372_036_854_775_807
    assert effective_topic_config({}, Layers({"log.roll.hours": "2"}))["segment.ms"] == 7_200_000


def test_a_group_has_its_own_or_the_brokers_within_bounds() -> None:
    layers = Layers({"group.consumer.session.timeout.ms": "50000", "group.streams.assignors": "sticky,other.Class"})
    values = effective_group_config({"consumer.heartbeat.interval.ms": "1", "share.delivery.count.limit": "99"}, layers)
    assert len(values) == 27
    assert values["consumer.session.timeout.ms"] == 50_000
    assert values["consumer.heartbeat.interval.ms"] == 5_000
    assert values["share.delivery.count.limit"] == 10
    assert values["streams.assignor.name"] == "sticky"
    assert values["share.auto.offset.reset"] == "latest"
    assert values["consumer.assignor.offload.enable"] is True


def test_dynamic_value_of_a_static_setting_has_no_effect() -> None:
    stored = {
        "num.partitions": "4",
        "ssl.keystore.location": "x",
        "log.retention.ms": "never",
        "compression.type": "zstd",
        "of.a.plugin": "1",
        "listeners": "PLAINTEXT://:1",
        "listener.name.a.ssl.keystore.location": "x",
        "listener.name.a.max.connections": "5",
    }
    for_all = {"compression.type": "zstd", "of.a.plugin": "1", "listener.name.a.max.connections": "5"}
    assert usable(stored, per_broker=False) == for_all
    for_one = {"listeners": "PLAINTEXT://:1", "listener.name.a.ssl.keystore.location": "x"}
    assert usable(stored, per_broker=True) == for_all | for_one
    assert not may_be_dynamic("broker.rack", per_broker=True)


def test_config_with_synonyms_has_several_names() -> None:
    assert names_of_one("log.retention.hours") == ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    assert names_of_one("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert names_of_one("listener.name.a.plain.sasl.jaas.config")[1] == "sasl.jaas.config"
    assert names_of_one("num.partitions") == ("num.partitions",)


def test_unknown_config_has_no_default() -> None:
    assert Layers({"of.a.plugin": "1"}).value("of.a.plugin") == "1"
    with pytest.raises(KeyError):
        Layers({}).value("of.a.plugin")
