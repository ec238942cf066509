"""The options of kafka-wire: what is taken, what is refused, and in which words."""

from __future__ import annotations

import logging

import pytest

from kafkadouble.pipeline.client import TopicPartition, others
from kafkadouble.pipeline.wire import options
from kafkadouble.pipeline.wire.options import BATCH, SINK, SOURCE, STREAM, QueryOptions
from kafkadouble.pipeline.wire.table import TABLE, Use
from kafkadouble.wire.errors import UsageError

HERE = {"kafka.bootstrap.servers": "localhost:9092"}
LEAST = HERE | {"subscribe": "t"}


def refused(given: dict[str, str], use: Use = BATCH) -> str:
    with pytest.raises(UsageError) as caught:
        options.read(given, use)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_missing_option_has_the_default_of_spark_connector() -> None:
    settings = options.read(LEAST, STREAM)
    assert settings["failOnDataLoss"] is True
    assert settings["kafkaConsumer.pollTimeoutMs"] == 120_000
    assert settings["fetchOffset.numRetries"] == 3
    assert settings["fetchOffset.retryIntervalMs"] == 10
    assert settings["maxTriggerDelay"] == 900_000
    assert settings["includeHeaders"] is False
    assert settings["maxOffsetsPerTrigger"] is None


def test_keys_are_compared_without_regard_to_case() -> None:
    given = {"KAFKA.Bootstrap.Servers": "a:1", "SUBSCRIBE": "t, u,", "MinPartitions": "7"}
    settings = options.read(given, BATCH)
    assert settings["subscribe"] == ("t", "u")
    assert settings["minPartitions"] == 7
    assert settings.client == {"bootstrap.servers": "a:1"}


def test_every_row_reads_its_own_default() -> None:
    for row in TABLE:
        if row.default is not None:
            row.parse(row.default)


@pytest.mark.parametrize(
    ("option", "value", "becomes"),
    [
        ("assign", '{"t":[1,0]}', (TopicPartition("t", 1), TopicPartition("t", 0))),
        ("startingOffsets", "EARLIEST", "earliest"),
        ("startingOffsets", '{"t":{"0":23,"1":-2}}', {TopicPartition("t", 0): 23, TopicPartition("t", 1): -2}),
        ("startingTimestamp", "1700000000000", 1_700_000_000_000),
        ("failOnDataLoss", "False", False),
        ("maxTriggerDelay", "90s", 90_000),
        ("maxTriggerDelay", "250", 250),
        ("startingOffsetsByTimestampStrategy", "LATEST", "latest"),
    ],
)
def test_values_are_read(option: str, value: str, becomes: object) -> None:
    given = HERE | ({} if option == "assign" else {"subscribe": "t"}) | {option: value}
    assert options.read(given, STREAM)[option] == becomes


@pytest.mark.parametrize(
    ("option", "value", "because"),
    [
        ("failOnDataLoss", "yes", "neither true nor false"),
        ("minPartitions", "0", "must be positive"),
        ("maxRecordsPerPartition", "-1", "must be positive"),
        ("minPartitions", "some", "not a whole number"),
        ("startingOffsets", "newest", 'not of the form {"topicA":{"0":23'),
        ("startingOffsets", '{"t":{"0":"x"}}', "not of the form"),
        ("startingOffsets", '{"t":5}', "not of the form"),
        ("startingOffsetsByTimestamp", '{"t":{"zero":1}}', "not of the form"),
        ("startingTimestamp", "today", "not a whole number"),
        ("startingOffsetsByTimestampStrategy", "guess", "none of error, latest"),
        ("maxTriggerDelay", "15 parsecs", "no duration"),
        ("kafkaConsumer.pollTimeoutMs", "0", "must be positive"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_option(option: str, value: str, because: str) -> None:
    said = refused(LEAST | {option: value}, STREAM)
    assert option in said
    assert because in said
    assert value in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"subscribe": "t"}, "kafka.bootstrap.servers must be given"),
        (HERE, "none is given"),
        (LEAST | {"assign": '{"t":[0]}'}, "assign and subscribe are given"),
        (HERE | {"subscribe": " , "}, "the option subscribe names no topic"),
        (HERE | {"subscribePattern": " "}, "the option subscribePattern is empty"),
        (HERE | {"assign": "t"}, "the option assign is not of the form"),
        (HERE | {"assign": "{}"}, "the option assign names no partition"),
        (LEAST | {"startingOffset": "earliest"}, "kafka-wire has no option startingoffset"),
        (LEAST | {"path": "/data"}, "kafka-wire has no path"),
        (LEAST | {"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, "minOffsetsPerTrigger (9) is higher"),
    ],
)
def test_rules_between_options(given: dict[str, str], words: str) -> None:
    assert words in refused(given, STREAM)


@pytest.mark.parametrize("option", ["endingOffsets", "endingOffsetsByTimestamp", "endingTimestamp"])
def test_a_stream_has_no_end(option: str) -> None:
    value = {"endingOffsets": "latest", "endingTimestamp": "1"}.get(option, '{"t":{"0":1}}')
    assert f"{option} is not for a streaming query" in refused(LEAST | {option: value}, STREAM)
    options.read(LEAST | {option: value}, SOURCE)
    options.read(LEAST | {option: value}, BATCH)


def test_an_option_of_another_kind_of_query_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert options.read(LEAST | {"maxOffsetsPerTrigger": "5"}, BATCH)["maxOffsetsPerTrigger"] is None
    assert "maxOffsetsPerTrigger has no effect in a batch query" in caplog.text


@pytest.mark.parametrize("use", [BATCH, STREAM])
@pytest.mark.parametrize(
    "name",
    ["auto.offset.reset", "key.deserializer", "value.deserializer", "enable.auto.commit", "interceptor.classes"],
)
def test_properties_that_a_source_refuses(name: str, use: Use) -> None:
    assert f"kafka.{name} is not supported: " in refused(LEAST | {f"kafka.{name}": "x"}, use)


@pytest.mark.parametrize("name", ["key.serializer", "value.serializer", "transactional.id", "interceptor.classes"])
def test_properties_that_a_sink_refuses(name: str) -> None:
    assert f"kafka.{name} is not supported: " in refused(HERE | {"topic": "t", f"kafka.{name}": "x"}, SINK)


def test_a_sink_takes_what_spark_leaves_there_and_needs_no_topics() -> None:
    given = HERE | {"topic": " t ", "checkpointLocation": "/c", "queryName": "q", "kafka.compression.type": "zstd"}
    settings: QueryOptions = options.read(given, SINK)
    assert settings["topic"] == "t"
    assert settings.client == {"bootstrap.servers": "localhost:9092", "compression.type": "zstd"}


@pytest.mark.parametrize(
    ("use", "name", "words"),
    [
        (
            BATCH,
            "partitioner.class",
            "the property kafka.partitioner.class has no effect in a source: it is for producers",
        ),
        (SINK, "max.poll.records", "the property kafka.max.poll.records has no effect in a sink: it is for consumers"),
        (STREAM, "max.poll.records", "the setting max.poll.records has no effect: Records come batch by batch."),
    ],
)
def test_a_property_without_effect_is_a_warning(
    use: Use, name: str, words: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(others, "_logged", set())
    given = (HERE | {"topic": "t"} if use == SINK else LEAST) | {f"kafka.{name}": "5"}
    with caplog.at_level(logging.WARNING):
        settings = [options.read(given, use) for _ in range(2)]
    assert caplog.messages == [words]
    assert (name in settings[0].client) == (use == STREAM)


def test_a_group_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        settings = options.read(LEAST | {"kafka.group.id": "g"}, STREAM)
    assert "group.id" not in settings.client
    assert "kafka.group.id has no effect" in caplog.text


def test_a_password_is_not_in_what_is_printed_of_settings() -> None:
    settings = options.read(LEAST | {"kafka.sasl.password": "hidden"}, BATCH)
    assert settings.client["sasl.password"] == "hidden"
    assert "hidden" not in repr(settings)
