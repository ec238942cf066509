"""What clients see of brokers and partitions when some are offline; the images are made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import EMPTY, BrokerImage, Endpoint, Image, PartitionImage
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.metadata.views import PartitionView, controller_id, reachable, view_partition

DIR, LOST_DIR = Uuid(b"d" * 16), Uuid(b"l" * 16)


def broker(broker_id: int, *listeners: str, fenced: bool = False) -> BrokerImage:
    endpoints = tuple(Endpoint(name, f"host-{broker_id}", 9092, 0) for name in listeners or ("PLAINTEXT",))
    return BrokerImage(broker_id, 0, DIR, endpoints, PersistentMap(), None, fenced, False, (DIR,), ())


def cluster(*brokers: BrokerImage) -> Image:
    return EMPTY._replace(brokers=PersistentMap({broker.id: broker for broker in brokers}))


PARTITION = PartitionImage((1, 2), (DIR, DIR), (1, 2), 1, 5, 0)


@pytest.mark.parametrize(
    ("image", "partition", "requested", "expected"),
    [
        (cluster(broker(1), broker(2)), PARTITION, {}, PartitionView(0, 1, 5, [1, 2], [1, 2], [])),
        (cluster(broker(1)), PARTITION, {}, PartitionView(0, 1, 5, [1, 2], [1, 2], [2])),
        (cluster(broker(1), broker(2, fenced=True)), PARTITION, {}, PartitionView(0, 1, 5, [1, 2], [1, 2], [2])),
        (
            cluster(broker(1)),
            PARTITION,
            {"only_alive": True},
            PartitionView(error_codes.REPLICA_NOT_AVAILABLE, 1, 5, [1], [1], [2]),
        ),
        (
            cluster(broker(2)),
            PARTITION,
            {},
            PartitionView(error_codes.LEADER_NOT_AVAILABLE, -1, 5, [1, 2], [1, 2], [1]),
        ),
        (
            cluster(broker(1, "OTHER"), broker(2)),
            PARTITION,
            {},
            PartitionView(error_codes.LISTENER_NOT_FOUND, -1, 5, [1, 2], [1, 2], [1]),
        ),
        (
            cluster(broker(1, "OTHER"), broker(2)),
            PARTITION,
            {"listener_errors": False},
            PartitionView(error_codes.LEADER_NOT_AVAILABLE, -1, 5, [1, 2], [1, 2], [1]),
        ),
        (
            cluster(broker(1), broker(2)),
            PARTITION._replace(leader=-1),
            {},
            PartitionView(error_codes.LEADER_NOT_AVAILABLE, -1, 5, [1, 2], [1, 2], []),
        ),
        (
            cluster(broker(1), broker(2)),
            PARTITION._replace(directories=(DIR, LOST_DIR)),
            {},
            PartitionView(0, 1, 5, [1, 2], [1, 2], [2]),
        ),
        (
            cluster(broker(1), broker(2)),
            PARTITION._replace(directories=(DIR, Uuid.ZERO)),
            {},
            PartitionView(0, 1, 5, [1, 2], [1, 2], []),
        ),
    ],
)
def test_a_partition_as_it_is_seen(
    image: Image, partition: PartitionImage, requested: dict[str, Any], expected: PartitionView
) -> None:
    assert view_partition(image, partition, "PLAINTEXT", **requested) == expected


def test_brokers_that_can_be_reached() -> None:
    image = cluster(broker(3), broker(1, "OTHER"), broker(2, fenced=True), broker(4, "OTHER", "PLAINTEXT"))
    assert [seen.broker.id for seen in reachable(image, "PLAINTEXT")] == [3, 4]
    assert [seen.broker.id for seen in reachable(image, "PLAINTEXT", fenced_too=True)] == [2, 3, 4]
    assert [(seen.broker.id, seen.endpoint.name) for seen in reachable(image, "OTHER")] == [(1, "OTHER"), (4, "OTHER")]


def test_the_controller_that_is_shown_is_alive() -> None:
    assert controller_id(cluster(broker(1, fenced=True), broker(2))) == 2
    assert controller_id(EMPTY) == -1
