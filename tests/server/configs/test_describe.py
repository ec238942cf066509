"""The entries of DescribeConfigs and of CreateTopics' answer."""

from kafkadouble.server.configs.definition import ConfigType
from kafkadouble.server.configs.describe import (
    ConfigEntry,
    ConfigSource,
    answered,
    describe_all_brokers,
    describe_broker,
    describe_client_metrics,
    describe_group,
    describe_new_topic,
    describe_topic,
)
from kafkadouble.server.configs.layers import Layers


def by_name(entries: list[ConfigEntry]) -> dict[str, ConfigEntry]:
    return {entry.name: entry for entry in entries}


def test_retention_of_a_new_cluster_has_no_synonyms() -> None:
    entry = by_name(describe_topic({}, Layers({})))["retention.ms"]
    assert (entry.value, entry.source, entry.synonyms, entry.is_default) == (
        "604800000",
        ConfigSource.DEFAULT,
        (),
        True,
    )


def test_retention_given_in_hours_still_counts_as_a_default() -> None:
    entry = by_name(describe_topic({}, Layers({"log.retention.hours": "24"})))["retention.ms"]
    assert (entry.value, entry.source, entry.synonyms) == ("86400000", ConfigSource.DEFAULT, ())


def test_every_source_of_a_value_is_listed_the_one_in_force_first() -> None:
    layers = Layers(
        {"log.cleanup.policy": "compact"}, {"log.cleanup.policy": "delete"}, {"log.cleanup.policy": " compact "}
    )
    entry = by_name(describe_topic({"cleanup.policy": " delete ,compact"}, layers))["cleanup.policy"]
    assert entry.value == "delete,compact"
    assert entry.type is ConfigType.LIST
    assert [tuple(synonym) for synonym in entry.synonyms] == [
        ("cleanup.policy", "delete,compact", ConfigSource.TOPIC),
        ("log.cleanup.policy", " compact ", ConfigSource.DYNAMIC_BROKER),
        ("log.cleanup.policy", "delete", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("log.cleanup.policy", "compact", ConfigSource.STATIC_BROKER),
        ("log.cleanup.policy", "delete", ConfigSource.DEFAULT),
    ]


def test_an_internal_configuration_shows_when_it_is_set() -> None:
    assert "internal.segment.bytes" not in by_name(describe_topic({}, Layers({})))
    entry = by_name(describe_topic({"internal.segment.bytes": "9"}, Layers({})))["internal.segment.bytes"]
    assert (entry.value, entry.source) == ("9", ConfigSource.TOPIC)
    assert "unstable.api.versions.enable" in by_name(describe_broker(Layers({"unstable.api.versions.enable": "true"})))


def test_a_broker_hides_secrets_and_what_it_does_not_know() -> None:
    layers = Layers(
        {"ssl.key.password": "s", "of.a.plugin": "s", "listener.name.a.ssl.key.password": "s", "node.id": "1"}
    )
    entries = by_name(describe_broker(layers))
    for name in ("ssl.key.password", "of.a.plugin", "listener.name.a.ssl.key.password"):
        entry = entries[name]
        assert (entry.value, entry.sensitive, entry.source) == (None, True, ConfigSource.STATIC_BROKER)
        assert all(synonym.value is None for synonym in entry.synonyms)
    assert entries["of.a.plugin"].type is ConfigType.UNKNOWN
    assert (entries["node.id"].read_only, entries["ssl.key.password"].read_only) == (True, False)
    assert "leader.replication.throttled.rate" not in entries


def test_all_brokers_have_only_what_is_set_for_all() -> None:
    layers = Layers({}, {"max.connections": " 9 "}, {"max.connections": "8", "min.insync.replicas": "2"})
    [entry] = describe_all_brokers(layers)
    assert (entry.name, entry.value, entry.source) == ("max.connections", " 9 ", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    assert len(entry.synonyms) == 1


def test_a_group_and_a_subscription() -> None:
    entries = by_name(describe_group({"share.isolation.level": "read_committed"}, Layers({})))
    assert entries["share.isolation.level"].source is ConfigSource.GROUP
    assert [synonym.name for synonym in entries["consumer.session.timeout.ms"].synonyms] == [
        "group.consumer.session.timeout.ms"
    ]
    assert "consumer.assignor.offload.enable" not in entries
    assert by_name(describe_client_metrics({"interval.ms": "100"}))["interval.ms"].source is ConfigSource.CLIENT_METRICS
    assert by_name(describe_client_metrics({}))["match"].value == ""


def test_a_new_topic_has_the_source_of_a_converted_value() -> None:
    entries = describe_new_topic(
        {"segment.bytes": " 2000000"}, Layers({"log.retention.hours": "24"}, {"min.insync.replicas": "1"})
    )
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    assert len(entries) == 37
    found = by_name(entries)
    assert found["retention.ms"][1:3] == ("86400000", ConfigSource.STATIC_BROKER)
    assert found["min.insync.replicas"][1:3] == ("1", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    assert found["segment.bytes"][1:3] == (" 2000000", ConfigSource.TOPIC)
    assert found["flush.ms"][1:3] == ("9223372036854775807", ConfigSource.DEFAULT)


def test_describe_configs_response_has_the_requested_names() -> None:
    entries = describe_topic({"retention.ms": "1"}, Layers({}))
    assert len(answered(entries, [])) == len(answered(entries, None)) == len(entries)
    [entry] = answered(entries, ["retention.ms", "nothing"])
    assert (entry.synonyms, entry.documentation) == ((), None)
    [entry] = answered(entries, ["retention.ms"], synonyms=True, documentation=True)
    assert len(entry.synonyms) == 1
    assert entry.documentation == "Age at which a closed segment is deleted (ms); -1 for never."
