"""The rows of the tables: they are read as written, and their values are consistent."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies

from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.checks import NAMED
from kafkadouble.server.configs.client_metrics import CLIENT_METRICS
from kafkadouble.server.configs.definition import ConfigKey, ConfigRefused, ConfigType, format_value
from kafkadouble.server.configs.group import GROUP
from kafkadouble.server.configs.table import ConfigDef
from kafkadouble.server.configs.topic import TOPIC

TABLES = {"broker": BROKER, "topic": TOPIC, "group": GROUP, "client metrics": CLIENT_METRICS}
ALL = [config for table in TABLES.values() for config in table]


def test_setting_tables_have_as_many_rows_as_kafka() -> None:
    assert {name: len(list(table)) for name, table in TABLES.items()} == {
        # Three are not settings of a broker at its start, but may be set at run time.
        "broker": 379 + 3,
        "topic": 38,
        "group": 27,
        "client metrics": 3,
    }


def test_golden_rows() -> None:
    timeout = BROKER["broker.session.timeout.ms"]
    assert (timeout.type, timeout.default, timeout.importance, timeout.mode) == (
        ConfigType.INT,
        "9000",
        "medium",
        "read-only",
    )
    size = TOPIC["segment.bytes"]
    assert (size.type, size.default, size.checks) == (ConfigType.INT, "1073741824", [">=1048576"])
    assert TOPIC["retention.ms"].synonyms == [
        ("log.retention.ms", 1),
        ("log.retention.minutes", 60_000),
        ("log.retention.hours", 3_600_000),
    ]
    assert TOPIC["internal.segment.bytes"].internal
    assert GROUP["streams.assignor.name"].synonyms == [("group.streams.assignors", 1)]
    assert BROKER["log.cleanup.policy"].default_value() == ("delete",)
    assert BROKER["config.providers"].default_value() == ()
    assert BROKER["log.retention.ms"].default_value() is None
    assert BROKER["ssl.keystore.password"].sensitive
    assert BROKER["ssl.keystore.password"].mode == "per-listener"
    # A row that is too long for its line.
    assert BROKER["listener.security.protocol.map"].mode == "per-broker"


@pytest.mark.parametrize("table", TABLES)
def test_every_row_holds_together(table: str) -> None:
    for config in TABLES[table]:
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", config.name)
        assert config.importance in ("high", "medium", "low"), config
        assert re.fullmatch(r"[A-Z].{8,}\.", config.doc), f"a meaning is a sentence: {config}"
        words = [word for word in config.checks if word.partition(":")[0] not in NAMED]
        assert all(re.fullmatch(r">=-?\d+|-?[\d.]+\.\.[\d.]+", word) for word in words), config
        if config.default is not None:
            assert config.parse(config.default, strict=True) == config.default_value(), config
            assert format_value(config.default_value()) == config.default, config
        assert all(synonym in BROKER for synonym, _ in config.synonyms), config


@given(config=strategies.sampled_from(ALL), text=strategies.text() | strategies.from_regex(r"[-+0-9a-z:,.@*/ ]*"))
def test_any_text_is_a_value_or_is_refused(config: ConfigKey, text: str) -> None:
    try:
        value = config.parse(text)
    except ConfigRefused:
        return
    assert config.parse(format_value(value) or "") == value or config.type is ConfigType.DOUBLE


def test_a_row_is_the_same_found_by_name_or_met_on_the_way() -> None:
    def load() -> Iterator[str]:
        yield "\na.b  int  1  low  >=1  <c.d:hours  internal\n    One.\nc  string  null  high\n    Two.\n"

    table = ConfigDef(load)
    found = table["a.b"]
    assert [config.name for config in table] == ["a.b", "c"]
    assert next(iter(table)) is found
    assert (found.synonyms, found.internal, found.doc) == ([("c.d", 3_600_000)], True, "One.")
    assert table["c"].doc == "Two."
    assert "a" not in table
    assert 7 not in table
    with pytest.raises(KeyError):
        table["b"]


def test_setting_table_loads_only_the_rows_looked_up() -> None:
    loaded = []

    def load() -> Iterator[str]:
        for name in ("first", "second", "third"):
            loaded.append(name)
            yield f"\n{name}  int  1  low\n    One.\n"

    table = ConfigDef(load)
    assert table["second"].default == "1"
    assert loaded == ["first", "second"]
    assert table.get("fourth") is None
    assert table.get("first") is not None
    assert loaded == ["first", "second", "third"]
