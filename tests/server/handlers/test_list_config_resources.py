"""ListConfigResources at both versions."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.list_config_resources import ListConfigResourcesRequest
from tests.server.harness import Harness

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("b", "a")
    configs = [(GROUP, "g", "share.heartbeat.interval.ms"), (METRICS, "s2", "match"), (METRICS, "s1", "match")]
    cluster.node.controller.commit(
        [ConfigRecord(resource_type=kind, resource_name=name, name=config, value="x") for kind, name, config in configs]
    )
    return cluster


def ask(cluster: Harness, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    response = cluster.submit(ListConfigResourcesRequest(resource_types=list(kinds)), version)
    return response.error_code, [(found.resource_type, found.resource_name) for found in response.config_resources]


def test_version_0_lists_only_subscriptions(cluster: Harness) -> None:
    response = cluster.submit(ListConfigResourcesRequest(), 0)
    assert [found.resource_name for found in response.config_resources] == ["s1", "s2"]


def test_no_types_mean_all(cluster: Harness) -> None:
    code, found = ask(cluster)
    assert code == 0
    assert set(found) == {
        (TOPIC, "a"),
        (TOPIC, "b"),
        (BROKER, "1"),
        (LOGGER, "1"),
        (METRICS, "s1"),
        (METRICS, "s2"),
        (GROUP, "g"),
    }


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((METRICS,), [(METRICS, "s1"), (METRICS, "s2")]),
        ((GROUP,), [(GROUP, "g")]),
        ((LOGGER, BROKER), [(BROKER, "1"), (LOGGER, "1")]),
        ((BROKER, BROKER), [(BROKER, "1")]),
    ],
)
def test_types(cluster: Harness, kinds: tuple[int, ...], expected: list[tuple[int, str]]) -> None:
    assert ask(cluster, *kinds) == (0, expected)


@pytest.mark.parametrize("kinds", [(99,), (0,), (TOPIC, 99)])
def test_an_unknown_type(cluster: Harness, kinds: tuple[int, ...]) -> None:
    assert ask(cluster, *kinds) == (error_codes.UNSUPPORTED_VERSION, [])
