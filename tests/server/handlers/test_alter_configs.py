"""AlterConfigs: what it writes, and how much it may write."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.metadata.image import BROKER, TOPIC
from kafkadouble.server.metadata.metadata_log import decode_batches
from tests.server.config_requests import RequestedResource, whole
from tests.server.harness import Harness


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t", configs={"cleanup.policy": "compact", "retention.ms": "7"})
    return cluster


def alter(cluster: Harness, *requested: RequestedResource) -> list[tuple[int, str | None]]:
    response = cluster.submit(whole(*requested), 2)
    return [(result.error_code, result.error_message) for result in response.responses]


def test_alter_configs_writes_only_changed_configs(cluster: Harness) -> None:
    end = cluster.image.end
    alter(cluster, (TOPIC, "t", {"cleanup.policy": "compact", "retention.ms": "7"}))
    assert cluster.image.end == end
    alter(cluster, (TOPIC, "t", {"cleanup.policy": "compact", "min.insync.replicas": "2"}))
    [batch] = cluster.node.controller.log.batches(end.offset)
    [found] = decode_batches(batch)
    assert [type(record).__name__ for record in found.records] == ["ConfigRecord", "ConfigRecord", "ClearElrRecord"]


def test_alter_configs_of_too_many_configs_is_refused(cluster: Harness) -> None:
    many = {f"some.plugin.{number}": "x" for number in range(10_001)}
    text = "Unable to perform excessively large batch operation."
    assert alter(cluster, (BROKER, "1", many), (TOPIC, "t", {})) == [(error_codes.POLICY_VIOLATION, text)] * 2
    assert cluster.image.config_overrides(TOPIC, "t")["retention.ms"] == "7"
