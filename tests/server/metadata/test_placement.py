"""Where replicas go, on clusters of more brokers than one: the decisions do not know that there is only one yet."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.bootstrap import broker_record
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.placement import UNASSIGNED, checked, partition_record, placed
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.request import Refusal

TOPIC_ID = Uuid(b"t" * 16)


def log_dir(broker: int) -> Uuid:
    return Uuid(bytes([broker]) * 16)


def cluster(*active: int, fenced: tuple[int, ...] = ()) -> Image:
    image = EMPTY
    for broker in (*active, *fenced):
        record = broker_record(broker, TOPIC_ID, "h", 1, epoch=broker, rack=None, log_dirs=[log_dir(broker)])
        record.fenced = broker in fenced
        image = replay(image, record)
    return image


def test_replicas_go_round() -> None:
    assert placed(cluster(1, 2, 3), 0, 4, 2) == [[1, 2], [2, 3], [3, 1], [1, 2]]


def test_new_partitions_go_on_where_the_old_ones_ended() -> None:
    assert placed(cluster(1, 2, 3), 1, 2, 3) == [[2, 3, 1], [3, 1, 2]]


def test_fenced_brokers_get_nothing() -> None:
    assert placed(cluster(1, 3, fenced=(2,)), 0, 2, 2) == [[1, 3], [3, 1]]


@pytest.mark.parametrize(
    ("image", "factor", "said"),
    [
        (cluster(1), 2, "Unable to replicate the partition 2 time(s): The target replication factor of 2 cannot be"),
        (cluster(1, 2, fenced=(3,)), 3, "because only 2 broker(s) are registered"),
        (cluster(fenced=(1,)), 1, "All brokers are currently fenced."),
        (EMPTY, 1, "All brokers are currently fenced."),
    ],
)
def test_too_few_brokers(image: Image, factor: int, said: str) -> None:
    with pytest.raises(Refusal) as refused:
        placed(image, 0, 1, factor)
    assert refused.value.code == error_codes.INVALID_REPLICATION_FACTOR
    assert said in str(refused.value.message)


@pytest.mark.parametrize(
    ("replicas", "factor", "said"),
    [
        ([], None, "The manual partition assignment includes an empty replica list."),
        ([4], None, "The manual partition assignment includes broker 4, but no such broker is registered."),
        ([1, 2, 1], None, "The manual partition assignment includes the broker 1 more than once."),
        ([1], 2, "not consistent with previous partitions, which have 2 replica(s)."),
        ([3], None, "in the manual partition assignment for partition 7 are fenced or in controlled shutdown."),
    ],
)
def test_assignments_that_cannot_be(replicas: list[int], factor: int | None, said: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked(cluster(1, 2, fenced=(3,)), 7, replicas, factor)
    assert refused.value.code == error_codes.INVALID_REPLICA_ASSIGNMENT
    assert said in str(refused.value.message)


def test_the_first_active_replica_leads_and_the_active_ones_are_in_sync() -> None:
    image = cluster(1, 2, fenced=(3,))
    record = partition_record(image, TOPIC_ID, 5, checked(image, 5, [3, 2, 1], 3))
    assert (record.replicas, record.isr, record.leader) == ([3, 2, 1], [2, 1], 2)
    assert (record.leader_epoch, record.partition_epoch, record.leader_recovery_state) == (0, 0, 0)
    assert record.directories == [log_dir(3), log_dir(2), log_dir(1)]


def test_a_broker_of_several_folders_chooses_itself() -> None:
    image = cluster(1)
    broker = image.brokers[1]._replace(log_dirs=(log_dir(1), log_dir(2)))
    image = image._replace(brokers=image.brokers.set(1, broker))
    assert partition_record(image, TOPIC_ID, 0, [1]).directories == [UNASSIGNED]
