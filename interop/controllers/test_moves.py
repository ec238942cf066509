"""Replicas move from a broker of ours to one of Apache Kafka's and back while clients write and
read; the old broker deletes its replica.

    pytest interop/controllers/test_moves.py --broker local
"""

from __future__ import annotations

import pytest

from interop.support import unique
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .mixed import Mixed
from .one_of_each import one_of_each
from .traffic import Traffic

pytestmark = pytest.mark.timeout(900)

PARTITIONS = 2


cluster = one_of_each("ours", {})


def test_partitions_move_to_the_other_and_back(cluster: Mixed) -> None:
    """The partitions have different leaders at first, so the move goes both ways at once."""
    topic = unique("moves")
    placed.create(cluster.bootstrap, topic, [[1], [2]])
    with Traffic(cluster.bootstrap, topic, PARTITIONS) as traffic:
        for first, second in (([2], [1]), ([1], [2])):
            assert admin.reassign(cluster.bootstrap, topic, [first, second]) == [0, 0]
            eventually(lambda: admin.reassigning(cluster.bootstrap), lambda left: not left)
            admin.led(cluster.bootstrap, topic, first + second)
            traffic.goes_on()
            for index, (id,) in enumerate((second, first)):
                eventually(lambda: replicas.folder(cluster.node(id), topic, index).exists(), lambda there: not there)  # noqa: B023  # at once
        assert admin.reassign(cluster.bootstrap, topic, [[1, 2], [2, 1]]) == [0, 0]
        eventually(lambda: admin.reassigning(cluster.bootstrap), lambda left: not left)
        admin.settled(cluster.bootstrap, topic, [[1, 2], [1, 2]])
        traffic.goes_on()
    cluster.stop()
    assert replicas.equal(cluster.brokers, topic, PARTITIONS) > 0
