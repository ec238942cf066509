"""The configurations that only this broker has: they work like any other, and are listed only when
they are set."""

import pytest

from kafkadouble.server.configs import own
from kafkadouble.server.configs.broker import OWN
from kafkadouble.server.configs.definition import ConfigKey, ConfigType, InvalidConfig
from kafkadouble.server.configs.describe import ConfigSource, describe_new_topic, describe_topic
from kafkadouble.server.configs.effective import effective_topic_config
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.own import TOPIC_HERE
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.configs.table import ConfigDef
from kafkadouble.server.configs.topic import TOPIC
from kafkadouble.server.configs.topic_rules import validate_topic
from kafkadouble.wire.errors import UsageError

OURS = {config.name for config in TOPIC_HERE} - {config.name for config in TOPIC}
NAME = "produce.expected.offset"
LAYERS = Layers({})


def test_own_topic_configs_are_listed() -> None:
    assert {NAME} == OURS
    assert {config.name for config in TOPIC} <= {config.name for config in TOPIC_HERE}


@pytest.mark.parametrize("name", sorted(OURS))
def test_own_settings_are_described_when_they_are_set(name: str) -> None:
    for described in (describe_topic, describe_new_topic):
        assert name not in {entry.name for entry in described({"retention.ms": "1"}, LAYERS)}
        [entry] = [entry for entry in described({name: "required"}, LAYERS) if entry.name == name]
        assert (entry.value, entry.source, entry.read_only, entry.sensitive) == (
            "required",
            ConfigSource.TOPIC,
            False,
            False,
        )


@pytest.mark.parametrize("value", ["off", "optional", "required"])
def test_own_setting_accepts_valid_values(value: str) -> None:
    validate_topic({NAME: value}, LAYERS)
    assert effective_topic_config({NAME: value}, LAYERS)[NAME] == value


@pytest.mark.parametrize("value", ["", "on", "OFF", "optional,required"])
def test_own_setting_refuses_invalid_values(value: str) -> None:
    with pytest.raises(InvalidConfig, match="String must be one of: off, optional, required"):
        validate_topic({NAME: value}, LAYERS)


def test_own_setting_is_off_by_default() -> None:
    assert effective_topic_config({}, LAYERS)[NAME] == "off"


RATIO = "metadata.snapshot.min.changed_records.ratio"
LAG = "metadata.start.offset.lag.time.max.ms"
EVERY = [*ConfigDef(lambda: iter((own.ROWS,))), *OWN]


@pytest.mark.parametrize("config", EVERY, ids=lambda config: config.name)
def test_every_private_setting_has_bounds(config: ConfigKey) -> None:
    assert config.checks, "Kafka does not check it, so a row without bounds takes anything of its type"
    if config.type is ConfigType.DOUBLE:
        assert "number" in config.checks


def test_own_node_configs_are_listed() -> None:
    assert {config.name for config in OWN} == {RATIO, LAG}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [(RATIO, "0", 0.0), (RATIO, "0.5", 0.5), (RATIO, "1", 1.0), (LAG, "0", 0), (LAG, "604800000", 604_800_000)],
)
def test_a_node_takes_what_is_in_bounds(name: str, text: str, value: float) -> None:
    assert Settings({name: text})[name] == value
    assert Settings()[name] is None


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (RATIO, "1.5", "Value must be no more than 1"),
        (RATIO, "-0.1", "Value must be at least 0"),
        (RATIO, "NaN", "Value must be a number"),
        (RATIO, "Infinity", "Value must be no more than 1"),
        (RATIO, "half", "Not a number of type DOUBLE"),
        (RATIO, "", "Not a number of type DOUBLE"),
        (LAG, "-1", "Value must be at least 0"),
        (LAG, "1.5", "Not a number of type LONG"),
        (LAG, "9223372036854775808", "Not a number of type LONG"),
    ],
)
def test_a_node_refuses_what_is_out_of_bounds(name: str, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"Invalid value {text} for configuration {name}: {why}"):
        Settings({name: text})


def test_misspelled_own_config_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=f"did you mean '{RATIO}'"):
        Settings({"metadata.snapshot.min.changed.records.ratio": "0.5"})
