"""Altering configurations through a broker that does not lead: the broker does its part of the
work, and the controller the rest (KIP-226, KIP-590)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.server.config_requests import incremental, whole
from tests.server.controllers import Controllers

BROKER, OTHER = 11, 12
OF_TOPIC, OF_BROKER, OF_LOGGERS = 2, 4, 8


@pytest.fixture
def cluster() -> Controllers:
    controllers = Controllers(1)
    controllers.add_brokers((BROKER, OTHER))
    controllers.create("t")
    return controllers


def results(cluster: Controllers, body: Any) -> dict[tuple[int, str], tuple[str, str | None]]:
    """The answer that a client of the broker gets for each resource."""
    version = 1 if isinstance(body, IncrementalAlterConfigsRequest) else 2
    response = cluster.ask(cluster.nodes[BROKER], body, version)
    return {
        (each.resource_type, each.resource_name): (error_codes.name(each.error_code), each.error_message)
        for each in response.responses
    }


@pytest.mark.parametrize("ask", [incremental, whole])
def test_broker_and_controller_each_alter_their_configs(cluster: Controllers, ask: Any) -> None:
    answers = results(
        cluster,
        ask(
            (OF_BROKER, str(BROKER), {"node.id": "7"}),
            (OF_BROKER, str(OTHER), {"num.io.threads": "9"}),
            (OF_BROKER, "", {"message.max.bytes": "12345"}),
            (OF_TOPIC, "t", {"retention.ms": "5"}),
            (OF_TOPIC, "nowhere", {"retention.ms": "5"}),
            (77, "x", {}),
        ),
    )
    assert answers == {
        (OF_BROKER, str(BROKER)): ("INVALID_REQUEST", "Cannot update these configs dynamically: [node.id]"),
        (OF_BROKER, str(OTHER)): ("INVALID_REQUEST", "Unexpected broker id, expected 11, but received 12"),
        (OF_BROKER, ""): ("NONE", None) if ask is incremental else answers[OF_BROKER, ""],
        (OF_TOPIC, "t"): ("NONE", None),
        (OF_TOPIC, "nowhere"): ("UNKNOWN_TOPIC_OR_PARTITION", "The topic 'nowhere' does not exist."),
        (77, "x"): ("INVALID_REQUEST", "Unknown resource type 77"),
    }
    image = cluster.leader.controller.image
    assert dict(image.config_overrides(OF_TOPIC, "t")) == {"retention.ms": "5"}
    assert not image.config_overrides(OF_BROKER, str(BROKER))
    assert not image.config_overrides(OF_BROKER, str(OTHER))


def test_a_brokers_own_settings_are_altered_by_way_of_it(cluster: Controllers) -> None:
    requested = incremental((OF_BROKER, str(BROKER), {"message.max.bytes": "12345"}))
    assert results(cluster, requested) == {(OF_BROKER, str(BROKER)): ("NONE", None)}
    cluster.until(lambda: cluster.nodes[BROKER].settings.int("message.max.bytes") == 12345)
    assert cluster.nodes[OTHER].settings.int("message.max.bytes") != 12345


def test_duplicates_and_nulls_are_refused_without_a_request_to_the_controller(cluster: Controllers) -> None:
    cluster.cut = {cluster.leader.id}
    twice = (OF_TOPIC, "t", {"retention.ms": "5"})
    assert results(cluster, incremental(twice, twice)) == {
        (OF_TOPIC, "t"): ("INVALID_REQUEST", "Each resource must appear at most once.")
    }
    assert results(cluster, incremental((OF_TOPIC, "t", {"retention.ms": None}))) == {
        (OF_TOPIC, "t"): ("INVALID_REQUEST", "Null value not supported for : retention.ms")
    }


def test_loggers_are_the_brokers_and_the_rest_the_controllers(cluster: Controllers) -> None:
    loggers = (OF_LOGGERS, str(BROKER), {"kafkadouble.nothing": "INFO"})
    assert results(cluster, incremental(loggers, (OF_TOPIC, "t", {"retention.ms": "6"}))) == {
        (OF_LOGGERS, str(BROKER)): ("INVALID_CONFIG", "Logger kafkadouble.nothing does not exist!"),
        (OF_TOPIC, "t"): ("NONE", None),
    }
    assert cluster.leader.controller.image.config_overrides(OF_TOPIC, "t")["retention.ms"] == "6"


def test_loggers_alone_need_no_request_to_the_controller(cluster: Controllers) -> None:
    cluster.cut = {cluster.leader.id}
    loggers = (OF_LOGGERS, str(BROKER), {"kafkadouble.nothing": "INFO"})
    resource = (OF_LOGGERS, str(BROKER))
    assert results(cluster, incremental(loggers)) == {
        resource: ("INVALID_CONFIG", "Logger kafkadouble.nothing does not exist!")
    }
    assert results(cluster, whole(loggers)) == {resource: ("INVALID_REQUEST", "Unknown resource type 8")}


def test_broker_configs_are_only_validated(cluster: Controllers) -> None:
    before = cluster.leader.controller.image.configs
    requested = incremental((OF_TOPIC, "t", {"retention.ms": "5"}), validate_only=True)
    assert results(cluster, requested) == {(OF_TOPIC, "t"): ("NONE", None)}
    assert cluster.leader.controller.image.configs is before
