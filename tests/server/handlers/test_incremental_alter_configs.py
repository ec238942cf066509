"""IncrementalAlterConfigs: what changes with it, and the levels of loggers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from tests.server.config_requests import DELETE, RequestedResource, incremental
from tests.server.harness import Harness

TOPIC, BROKER, LOGGER = 2, 4, 8


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t")
    return cluster


@pytest.fixture
def loggers() -> Iterator[logging.Logger]:
    """A logger of ours, and the root logger; both get their levels back."""
    top, one = logging.getLogger("kafkadouble"), logging.getLogger("kafkadouble.test_incremental")
    levels = top.level, one.level
    yield one
    top.setLevel(levels[0])
    one.setLevel(levels[1])


def alter(cluster: Harness, *requested: RequestedResource, **fields: Any) -> list[int]:
    """The error of each resource."""
    answer = cluster.submit(incremental(*requested, **fields), 1)
    return [result.error_code for result in answer.responses]


def test_incremental_alter_configs_with_validate_only_changes_nothing(
    cluster: Harness, loggers: logging.Logger
) -> None:
    end, level = cluster.image.end, loggers.level
    requested: list[RequestedResource] = [
        (TOPIC, "t", {"retention.ms": "9"}),
        (LOGGER, "1", {loggers.name: "FATAL"}),
        (BROKER, "", {"log.retention.ms": "9"}),
    ]
    assert alter(cluster, *requested, validate_only=True) == [0, 0, 0]
    assert cluster.image.end == end
    assert loggers.level == level


def test_incremental_alter_configs_deletes_unknown_configs(cluster: Harness) -> None:
    assert alter(cluster, (TOPIC, "t", {"nope": DELETE})) == [0]
    assert alter(cluster, (TOPIC, "t", {})) == [0]


def test_broker_config_overrides_cluster_default(cluster: Harness) -> None:
    alter(cluster, (BROKER, "", {"log.retention.ms": "55"}))
    assert cluster.node.settings.int("log.retention.ms") == 55
    assert cluster.partition("t").log.config.retention_ms == 55
    alter(cluster, (BROKER, "1", {"log.retention.ms": "56"}))
    assert cluster.partition("t").log.config.retention_ms == 56
    alter(cluster, (BROKER, "1", {"log.retention.ms": DELETE}))
    assert cluster.partition("t").log.config.retention_ms == 55


@pytest.mark.parametrize(("kind", "name", "elr_of"), [(TOPIC, "t", "t"), (BROKER, "", "")])
def test_a_change_of_min_insync_replicas_forgets_eligible_leader_replicas(
    cluster: Harness, kind: int, name: str, elr_of: str
) -> None:
    written: list[str] = []
    cluster.node.controller.listeners.append(
        lambda before, after, records: written.extend(
            record.topic_name for record in records if type(record).__name__ == "ClearElrRecord"
        )
    )
    alter(cluster, (kind, name, {"min.insync.replicas": "2"}))
    assert written == [elr_of]
    assert cluster.partition("t").log.config.min_insync_replicas == 2


def test_logger_levels_are_set_and_deleted(cluster: Harness, loggers: logging.Logger) -> None:
    end = cluster.image.end
    assert alter(cluster, (LOGGER, "1", {loggers.name: "DEBUG", "root": "ERROR"})) == [0]
    assert loggers.level == logging.DEBUG
    assert logging.getLogger("kafkadouble").level == logging.ERROR
    alter(cluster, (LOGGER, "1", {loggers.name: DELETE}))
    assert loggers.getEffectiveLevel() == logging.ERROR
    assert cluster.image.end == end, "levels are not written to the log"


def test_logger_levels_change_all_or_none(cluster: Harness, loggers: logging.Logger) -> None:
    level = loggers.level
    assert alter(cluster, (LOGGER, "1", {loggers.name: "DEBUG", "nope": "DEBUG"})) == [error_codes.INVALID_CONFIG]
    assert loggers.level == level
