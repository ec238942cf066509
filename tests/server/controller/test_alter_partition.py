"""AlterPartition: every invalid proposal of a leader, and the result of a valid one."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.alter_partition import PartitionResponse, alter_partition
from kafkadouble.server.controller.partition_change_builder import RECOVERED, RECOVERING
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import (
    DEFAULTS,
    TWO_IN_SYNC,
    cluster,
    directory,
    epoch_of,
    id_of,
    non_default_fields,
    partition,
    with_topic,
)

PartitionData = AlterPartitionRequest.PartitionData


def partition_data(
    isr: list[int], *, index: int = 0, epochs: dict[int, int] | None = None, **fields: Any
) -> PartitionData:
    """What the leader of a partition of `small_clusters` would say, but for `fields`."""
    known = epochs or {}
    states = [
        AlterPartitionRequest.BrokerState(broker_id=broker, broker_epoch=known.get(broker, epoch_of(broker)))
        for broker in isr
    ]
    fields = {"leader_epoch": 5, "partition_epoch": 7, **fields}
    return PartitionData(partition_index=index, new_isr=isr, new_isr_with_epochs=states, **fields)


def request(*partitions: PartitionData, leader: int = 1, topic: Uuid | None = None, epoch: int | None = None) -> Any:
    of = AlterPartitionRequest.TopicData(topic_id=id_of("t") if topic is None else topic, partitions=partitions)
    own = epoch_of(leader) if epoch is None else epoch
    return AlterPartitionRequest(broker_id=leader, broker_epoch=own, topics=[of])


def answer(
    image: Image, asked_for: Any, version: int = 3, settings: Any = DEFAULTS
) -> tuple[PartitionResponse, list[Any]]:
    """The answer of the only partition, and what the records say."""
    decision = alter_partition(image, settings, asked_for, version)
    [topic] = decision.results
    [answered] = topic.partitions
    return answered, [non_default_fields(record) for record in decision.records]


@pytest.fixture
def image() -> Image:
    """Three brokers, and a partition that lost its third replica."""
    return with_topic(cluster(1, 2, 3), "t", partition([1, 2, 3], isr=[1, 2]))


@pytest.mark.parametrize("version", [2, 3])
def test_the_isr_grows_and_shrinks(image: Image, version: int) -> None:
    answered, records = answer(image, request(partition_data([1, 2, 3])), version)
    assert records == [{"isr": [1, 2, 3]}]
    assert (answered.error_code, answered.partition_index, answered.leader_id) == (0, 0, 1)
    assert (answered.leader_epoch, answered.partition_epoch) == (5, 8)
    assert (list(answered.isr), answered.leader_recovery_state) == ([1, 2, 3], RECOVERED)
    answered, records = answer(image, request(partition_data([1])), version, TWO_IN_SYNC)
    assert records == [{"isr": [1], "eligible_leader_replicas": [2]}]


def test_unchanged_isr_is_answered_and_not_written(image: Image) -> None:
    answered, records = answer(image, request(partition_data([1, 2])))
    assert records == []
    assert (answered.error_code, answered.partition_epoch, list(answered.isr)) == (0, 7, [1, 2])


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (partition_data([1, 2], index=4), error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        (partition_data([1, 2], leader_epoch=6), error_codes.NOT_CONTROLLER),
        (partition_data([1, 2], partition_epoch=8), error_codes.NOT_CONTROLLER),
        (partition_data([1, 2], leader_epoch=4), error_codes.FENCED_LEADER_EPOCH),
        (partition_data([1, 2], leader_epoch=4, partition_epoch=8), error_codes.NOT_CONTROLLER),
        (partition_data([1, 2], partition_epoch=6), error_codes.INVALID_UPDATE_VERSION),
        (partition_data([1, 4]), error_codes.INVALID_REQUEST),
        (partition_data([1, -1]), error_codes.INVALID_REQUEST),
        (partition_data([1, 2, 2]), error_codes.INVALID_REQUEST),
        (partition_data([2, 3]), error_codes.INVALID_REQUEST),
        (partition_data([]), error_codes.INVALID_REQUEST),
        (partition_data([1, 2], leader_recovery_state=RECOVERING), error_codes.INVALID_REQUEST),
        (partition_data([1], leader_recovery_state=RECOVERING), error_codes.INVALID_REQUEST),
        (partition_data([1], leader_recovery_state=2), error_codes.INVALID_REQUEST),
        (partition_data([1, 2, 3], epochs={3: 1}), error_codes.INELIGIBLE_REPLICA),
    ],
)
def test_alter_partition_of_a_wrong_leader_is_refused(image: Image, wrong: PartitionData, code: int) -> None:
    answered, records = answer(image, request(wrong))
    assert (answered.error_code, answered.partition_index) == (code, wrong.partition_index)
    assert records == []


def test_only_the_leader_alters_the_partition(image: Image) -> None:
    assert answer(image, request(partition_data([1, 2]), leader=2))[0].error_code == error_codes.INVALID_REQUEST


@pytest.mark.parametrize("unknown", [id_of("u"), Uuid.ZERO])
def test_a_topic_that_is_not_there(image: Image, unknown: Uuid) -> None:
    answered, records = answer(image, request(partition_data([1, 2]), topic=unknown))
    assert (answered.error_code, records) == (error_codes.UNKNOWN_TOPIC_ID, [])


@pytest.mark.parametrize("away", [{"fenced": [3]}, {"stopping": [3]}])
def test_an_unavailable_broker_is_not_in_sync(away: dict[str, Any]) -> None:
    image = with_topic(cluster(1, 2, 3, **away), "t", partition([1, 2, 3], isr=[1, 2]))
    assert answer(image, request(partition_data([1, 2, 3])))[0].error_code == error_codes.INELIGIBLE_REPLICA


def test_an_unregistered_broker_is_not_in_sync() -> None:
    image = with_topic(cluster(1, 2), "t", partition([1, 2, 3], isr=[1, 2]))
    assert answer(image, request(partition_data([1, 2, 3])))[0].error_code == error_codes.INELIGIBLE_REPLICA


def test_an_epoch_may_be_left_open_and_is_in_version_2(image: Image) -> None:
    assert answer(image, request(partition_data([1, 2, 3], epochs={3: -1})))[0].error_code == 0
    assert answer(image, request(partition_data([1, 2, 3], epochs={3: 1})), version=2)[0].error_code == 0


@pytest.mark.parametrize(("leader", "epoch"), [(1, 100), (4, 104)])
def test_an_earlier_epoch_of_a_broker_is_refused(image: Image, leader: int, epoch: int) -> None:
    with pytest.raises(Refusal) as refused:
        alter_partition(image, DEFAULTS, request(partition_data([1, 2]), leader=leader, epoch=epoch), 3)
    assert refused.value.code == error_codes.STALE_BROKER_EPOCH


def test_recovery_ends_when_the_leader_reports_it_and_not_before() -> None:
    image = with_topic(cluster(1, 2), "t", partition([1, 2], isr=[1], leader_recovery_state=RECOVERING))
    answered, records = answer(image, request(partition_data([1], leader_recovery_state=RECOVERING)))
    assert (answered.error_code, answered.leader_recovery_state, records) == (0, RECOVERING, [])
    two = answer(image, request(partition_data([1, 2], leader_recovery_state=RECOVERING)))
    assert two[0].error_code == error_codes.INVALID_REQUEST
    answered, records = answer(image, request(partition_data([1, 2])))
    assert records == [{"isr": [1, 2], "leader_recovery_state": RECOVERED}]
    assert answered.leader_recovery_state == RECOVERED


class TestReassignments:
    def test_reassignment_ends_and_the_leader_stays(self) -> None:
        moving = partition([3, 1, 2], isr=[1, 2], adding_replicas=[3], removing_replicas=[2])
        image = with_topic(cluster(1, 2, 3), "t", moving)
        answered, records = answer(image, request(partition_data([1, 2, 3])))
        assert (answered.error_code, list(answered.isr), answered.leader_epoch) == (0, [1, 3], 6)
        assert records == [
            {
                "isr": [1, 3], "replicas": [3, 1], "adding_replicas": [], "removing_replicas": [], "leader": 1,
                "directories": [directory(3), directory(1)],
            }
        ]  # fmt: skip

    def test_reassignment_ends_and_another_replica_leads(self) -> None:
        moving = partition([3, 2, 1], isr=[1, 2], adding_replicas=[3], removing_replicas=[1])
        image = with_topic(cluster(1, 2, 3), "t", moving)
        answered, records = answer(image, request(partition_data([1, 2, 3])))
        assert answered.error_code == error_codes.NEW_LEADER_ELECTED
        assert (records[0]["leader"], records[0]["isr"], records[0]["replicas"]) == (3, [2, 3], [3, 2])


def test_each_partition_has_its_own_result(image: Image) -> None:
    decision = alter_partition(
        image, DEFAULTS, request(partition_data([1, 2, 3]), partition_data([1], index=9), partition_data([4])), 3
    )
    codes = [answered.error_code for answered in decision.results[0].partitions]
    assert codes == [0, error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.INVALID_REQUEST]
    assert len(decision.records) == 1
