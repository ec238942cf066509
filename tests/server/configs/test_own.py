"""The configurations that only this broker has: they work as any other, and show nowhere unless they are set."""

import pytest

from kafkadouble.server.configs.definition import InvalidConfig
from kafkadouble.server.configs.describe import Source, describe_new_topic, describe_topic
from kafkadouble.server.configs.effective import effective_topic_config
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.own import TOPIC_HERE
from kafkadouble.server.configs.topic import TOPIC
from kafkadouble.server.configs.topic_rules import validate_topic

OURS = {config.name for config in TOPIC_HERE} - {config.name for config in TOPIC}
NAME = "produce.expected.offset"
LAYERS = Layers({})


def test_which_they_are() -> None:
    assert {NAME} == OURS
    assert {config.name for config in TOPIC} <= {config.name for config in TOPIC_HERE}


@pytest.mark.parametrize("name", sorted(OURS))
def test_they_show_when_they_are_set(name: str) -> None:
    for described in (describe_topic, describe_new_topic):
        assert name not in {entry.name for entry in described({"retention.ms": "1"}, LAYERS)}
        [entry] = [entry for entry in described({name: "required"}, LAYERS) if entry.name == name]
        assert (entry.value, entry.source, entry.read_only, entry.sensitive) == ("required", Source.TOPIC, False, False)


@pytest.mark.parametrize("value", ["off", "optional", "required"])
def test_what_it_may_be(value: str) -> None:
    validate_topic({NAME: value}, LAYERS)
    assert effective_topic_config({NAME: value}, LAYERS)[NAME] == value


@pytest.mark.parametrize("value", ["", "on", "OFF", "optional,required"])
def test_what_it_may_not_be(value: str) -> None:
    with pytest.raises(InvalidConfig, match="String must be one of: off, optional, required"):
        validate_topic({NAME: value}, LAYERS)


def test_it_is_off_unless_set() -> None:
    assert effective_topic_config({}, LAYERS)[NAME] == "off"
