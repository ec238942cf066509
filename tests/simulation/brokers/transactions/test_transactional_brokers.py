"""Clusters with transactions at each level of transaction.version."""

from __future__ import annotations

from random import Random

import pytest

from tests.simulation.brokers.shape import Shape
from tests.simulation.brokers.transactions.cluster import TransactionalCluster
from tests.simulation.brokers.transactions.scenarios import of_transactions
from tests.simulation.world import World


def test_clusters_of_every_level_of_the_feature_are_played() -> None:
    """transaction.version is 0, 1 or 2 at the beginning, and some clusters are upgraded."""
    shapes = [of_transactions(Random(seed)) for seed in range(40)]
    assert {(shape.transaction_version, shape.is_upgraded) for shape in shapes} == {
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (2, False),
    }


@pytest.mark.parametrize("level", [0, 1])
def test_producers_have_version_2_after_an_upgrade_only(level: int) -> None:
    shape = Shape(partitions=2, producers=0, transactional=2, transaction_version=level, transactions_versions=(2,))
    cluster = TransactionalCluster(World(1), shape)
    cluster.begin()
    cluster.world.run_for(1500)
    assert cluster.count["transactions committed"]
    cluster.raise_level()
    cluster.require(lambda: cluster.transactions_versions == (2,), "the level is not raised")
    newest = [*cluster.newest.values()]
    for producer in newest:
        assert producer.version == 1
        producer.die()
        cluster.replace(producer)
    cluster.require(
        lambda: all(each.version == 2 and each not in newest for each in cluster.newest.values()), "no producer begins"
    )
    cluster.world.run_for(1500)
    cluster.recover()
    assert cluster.ledger.is_whole
