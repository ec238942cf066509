"""Blocks of producer ids: every id once."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.controller.producer_id_blocks import allocate_producer_ids
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import after, cluster, epoch_of


def test_every_block_begins_where_the_last_one_ended() -> None:
    image = cluster(1, 2)
    given = []
    for broker in (1, 2, 1):
        block = allocate_producer_ids(image, broker, epoch_of(broker))
        image = after(image, block.records)
        assert image.next_producer_id == block.ids.stop
        given.append(block.ids)
    assert given == [range(1000), range(1000, 2000), range(2000, 3000)]


@pytest.mark.parametrize(("broker", "epoch"), [(1, epoch_of(2)), (1, -1), (3, epoch_of(3)), (-1, -1)])
def test_only_registered_brokers_get_one(broker: int, epoch: int) -> None:
    with pytest.raises(Refusal) as refused:
        allocate_producer_ids(cluster(1, 2), broker, epoch)
    assert refused.value.code == error_codes.STALE_BROKER_EPOCH


LAST_ID = 9223372036854775807


@pytest.mark.parametrize(("left", "given"), [(1000, True), (999, False), (0, False)])
def test_last_producer_id_block_is_followed_by_an_error(left: int, given: bool) -> None:
    image = cluster(1)._replace(next_producer_id=LAST_ID - left)
    if given:
        assert after(image, allocate_producer_ids(image, 1, epoch_of(1)).records).next_producer_id == LAST_ID
        return
    with pytest.raises(Refusal) as refused:
        allocate_producer_ids(image, 1, epoch_of(1))
    assert refused.value.code == error_codes.UNKNOWN_SERVER_ERROR
