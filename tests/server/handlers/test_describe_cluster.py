"""DescribeCluster of a cluster with a fenced broker."""

from __future__ import annotations

from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.fence_broker_record import FenceBrokerRecord
from tests.server.harness import Harness


def test_describe_cluster_shows_fenced_brokers_on_request() -> None:
    cluster = Harness()
    cluster.node.controller.commit([FenceBrokerRecord(id=1, epoch=cluster.image.brokers[1].epoch)])
    assert list(cluster.submit(DescribeClusterRequest(), 2).brokers) == []
    [broker] = cluster.submit(DescribeClusterRequest(include_fenced_brokers=True), 2).brokers
    assert (broker.broker_id, broker.is_fenced) == (1, True)
