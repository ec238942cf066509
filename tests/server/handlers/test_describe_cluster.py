"""DescribeCluster at every version."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kafkadouble.messages.generated.fence_broker_record import FenceBrokerRecord
from tests.server.harness import Harness, versions

NOT_ASKED = -2147483648


@pytest.fixture
def cluster() -> Harness:
    return Harness({"broker.rack": "r1", "node.id": 5}, advertised=("example.org", 1234))


def ask(cluster: Harness, version: int = 2, **fields: Any) -> DescribeClusterResponse:
    response = cluster.submit(DescribeClusterRequest(**fields), version)
    assert isinstance(response, DescribeClusterResponse)
    return response


@pytest.mark.parametrize("version", versions("DescribeCluster"))
def test_describe_cluster_at_every_version(cluster: Harness, version: int) -> None:
    response = ask(cluster, version)
    assert (response.error_code, response.error_message) == (0, None)
    assert (response.cluster_id, response.controller_id) == (str(cluster.node.cluster_id), 5)
    assert response.endpoint_type == 1
    [broker] = response.brokers
    assert (broker.broker_id, broker.host, broker.port, broker.rack) == (5, "example.org", 1234, "r1")
    assert not broker.is_fenced
    assert response.cluster_authorized_operations == NOT_ASKED


def test_describe_cluster_shows_fenced_brokers_on_request(cluster: Harness) -> None:
    epoch = cluster.image.brokers[5].epoch
    cluster.node.controller.commit([FenceBrokerRecord(id=5, epoch=epoch)])
    assert list(ask(cluster).brokers) == []
    [broker] = ask(cluster, include_fenced_brokers=True).brokers
    assert (broker.broker_id, broker.is_fenced) == (5, True)
