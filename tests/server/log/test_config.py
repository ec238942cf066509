from kafkadouble.server.configs.own import TOPIC_HERE
from kafkadouble.server.log.config import CONFIGS, LogConfig


def test_defaults_are_kafkas() -> None:
    config = LogConfig()
    assert (config.segment_bytes, config.retention_ms, config.max_message_bytes) == (1 << 30, 604_800_000, 1_048_588)
    assert (config.deletes, config.compacts, config.target_codec, config.timestamp_type) == (True, False, None, 0)
    assert (config.message_timestamp_after_max_ms, config.message_timestamp_before_max_ms) == (3_600_000, 2**63 - 1)


def test_values_come_typed_and_other_names_are_passed_over() -> None:
    config = LogConfig.of({"segment.bytes": 1024, "message.timestamp.type": "LogAppendTime", "follower.something": "x"})
    assert (config.segment_bytes, config.timestamp_type) == (1024, 1)


def test_cleanup_policy_as_text_or_as_a_list() -> None:
    both: tuple[str | list[str] | tuple[str, ...], ...] = (
        "compact,delete",
        ["compact", "delete"],
        ("Delete", " compact"),
    )
    for policy in both:
        config = LogConfig.of({"cleanup.policy": policy})
        assert config.compacts
        assert config.deletes
    nothing: tuple[str | list[str], ...] = ("", [])
    for policy in nothing:
        config = LogConfig.of({"cleanup.policy": policy})
        assert not config.compacts
        assert not config.deletes


def test_the_codec_and_its_level() -> None:
    assert LogConfig.of({"compression.type": "uncompressed"}).target_codec == 0
    zstd = LogConfig.of({"compression.type": "zstd", "compression.zstd.level": 7})
    assert (zstd.target_codec, zstd.target_level) == (4, 7)
    snappy = LogConfig.of({"compression.type": "snappy"})
    assert (snappy.target_codec, snappy.target_level) == (2, None)


def test_a_compacted_topic_rolls_no_later_than_it_must_compact() -> None:
    assert LogConfig.of({"cleanup.policy": "compact", "max.compaction.lag.ms": 5000}).max_segment_ms == 5000
    assert LogConfig.of({"max.compaction.lag.ms": 5000}).max_segment_ms == 604_800_000


def test_log_config_prints_values_that_differ_from_defaults() -> None:
    assert repr(LogConfig()) == "LogConfig(delete)"
    assert repr(LogConfig.of({"retention.ms": 5, "cleanup.policy": ""})) == "LogConfig(kept for ever, retention.ms=5)"


def test_every_config_is_an_attribute_with_a_type() -> None:
    config = LogConfig()
    assert set(CONFIGS.values()) <= LogConfig.__annotations__.keys()
    assert all(hasattr(config, attribute) for attribute in CONFIGS.values())


def test_every_default_is_that_of_the_table_of_configs() -> None:
    config = LogConfig()
    defaults = {name: TOPIC_HERE[name].default_value() for name in CONFIGS}
    assert {name: getattr(config, attribute) for name, attribute in CONFIGS.items()} == defaults


def test_the_internal_segment_size_goes_before_the_public_one() -> None:
    """`segment.bytes` has a lower bound of 1 MiB; this one has none, for tests."""
    settings = {"segment.bytes": 1 << 20, "internal.segment.bytes": 2000}
    assert LogConfig(settings).segment_bytes == 2000
    assert LogConfig({**settings, "internal.segment.bytes": None}).segment_bytes == 1 << 20
