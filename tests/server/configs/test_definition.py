"""Text into values and back, as ConfigDef does it."""

import pytest

from kafkadouble.server.configs.broker import BROKER, base_name, broker_config
from kafkadouble.server.configs.definition import ConfigType, InvalidConfig, format_value, parse_type, shown
from kafkadouble.server.configs.group import GROUP
from kafkadouble.server.configs.topic import TOPIC


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.INT, "+7", 7),
        (ConfigType.INT, " -2147483648\t", -2147483648),
        (ConfigType.SHORT, "32767", 32767),
        (ConfigType.LONG, "9223372036854775807", 9223372036854775807),
        (ConfigType.DOUBLE, "1.5d", 1.5),
        (ConfigType.DOUBLE, "-Infinity", float("-inf")),
        (ConfigType.LIST, " a ,b,, c", ("a", "b", "", "c")),
        (ConfigType.LIST, "  ", ()),
        (ConfigType.STRING, "\n text ", "text"),
        (ConfigType.CLASS, "a.b.C", "a.b.C"),
    ],
)
def test_a_text_becomes_a_value(type_: ConfigType, text: str, value: object) -> None:
    assert parse_type("x", text, type_) == value


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (ConfigType.BOOLEAN, "yes"),
        (ConfigType.INT, "2147483648"),
        (ConfigType.INT, "1_000"),
        (ConfigType.INT, ""),
        (ConfigType.INT, "9" * 5000),
        (ConfigType.SHORT, "32768"),
        (ConfigType.LONG, "1.0"),
        (ConfigType.DOUBLE, "f"),
        (ConfigType.DOUBLE, "1_0"),
        (ConfigType.DOUBLE, "nan"),
    ],
)
def test_config_value_of_a_wrong_type_is_refused(type_: ConfigType, text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"Invalid value .* for configuration x: "):
        parse_type("x", text, type_)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (12, "12"),
        (("a", "b"), "a,b"),
        ((), ""),
        (None, None),
        (0.5, "0.5"),
        (1e7, "1.0E7"),
        (1e-4, "1.0E-4"),
        (-123456789.25, "-1.2345678925E8"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
    ],
)
def test_a_value_is_shown_as_java_shows_it(value: object, text: str | None) -> None:
    assert format_value(value) == text  # type: ignore[arg-type]  # a table of values of all types


def test_a_list_is_shown_in_brackets_in_an_error() -> None:
    assert shown(("a", "b")) == "[a, b]"


def test_a_refusal_names_the_setting_the_value_and_the_reason() -> None:
    with pytest.raises(InvalidConfig) as refused:
        TOPIC["segment.bytes"].parse("1048575")
    assert str(refused.value) == "Invalid value 1048575 for configuration segment.bytes: Value must be at least 1048576"
    assert (refused.value.name, refused.value.error) == ("segment.bytes", "INVALID_CONFIG")


def test_a_list_loses_its_duplicates_unless_one_is_strict() -> None:
    policy = TOPIC["cleanup.policy"]
    assert policy.parse("delete, compact,delete") == ("delete", "compact")
    with pytest.raises(InvalidConfig, match="must not be duplicated"):
        policy.parse("delete,delete", strict=True)


def test_a_share_group_begins_at_a_duration() -> None:
    reset = GROUP["share.auto.offset.reset"]
    assert reset.parse("by_duration:P1DT2H") == "by_duration:P1DT2H"
    for wrong in ("by_duration:P", "by_duration:PT", "by_duration:-P1D", "by_duration", "Latest", "none"):
        with pytest.raises(InvalidConfig):
            reset.parse(wrong)


def test_names_with_the_prefix_of_a_listener() -> None:
    assert base_name("listener.name.internal.ssl.keystore.type") == "ssl.keystore.type"
    assert base_name("listener.name.internal.scram-sha-256.sasl.jaas.config") == "sasl.jaas.config"
    assert base_name("ssl.keystore.type") is None
    assert base_name("listener.name.internal") is None
    assert broker_config("listener.name.x.max.connections") is BROKER["max.connections"]
    assert broker_config("listener.name.x.nothing") is None


def test_a_config_speaks() -> None:
    assert repr(BROKER["num.partitions"]) == "num.partitions (INT, default '1')"
