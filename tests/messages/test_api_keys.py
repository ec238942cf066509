"""The enum of API keys: it has every API under Kafka's name, and each member can be used as its
number."""

from __future__ import annotations

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys

SAMPLE = {
    "PRODUCE": 0,
    "LEADER_AND_ISR": 4,
    "API_VERSIONS": 18,
    "INIT_PRODUCER_ID": 22,
    "OFFSET_FOR_LEADER_EPOCH": 23,
    "ASSIGN_REPLICAS_TO_DIRS": 73,
    "LIST_CONFIG_RESOURCES": 74,
}


@pytest.mark.parametrize(("name", "key"), SAMPLE.items())
def test_the_names_are_those_of_kafka(name: str, key: int) -> None:
    assert ApiKeys[name] == key
    assert ApiKeys(key).name == name


def test_every_api_has_a_member_retired_ones_too() -> None:
    assert [key.value for key in ApiKeys] == [api.key for api in registry.apis()]
    assert {key.name.replace("_", ""): int(key) for key in ApiKeys} == {
        api.name.upper(): api.key for api in registry.apis()
    }


def test_a_member_equals_its_number() -> None:
    assert {18: "found"}[ApiKeys.API_VERSIONS] == "found"
    found: dict[int, str] = {ApiKeys.API_VERSIONS: "found"}
    assert found[18] == "found"
    assert f"{ApiKeys.API_VERSIONS} {ApiKeys.API_VERSIONS:03d}" == "18 018"
