"""AssignReplicasToDirs: where the replicas of a broker lie."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.assign_replicas_to_dirs import assign_replicas_to_dirs
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.log_dir_ids import LOST, UNASSIGNED
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import (
    DEFAULTS,
    after,
    at,
    cluster,
    directory,
    epoch_of,
    id_of,
    non_default_fields,
    partition,
    with_topic,
)


def assignment(
    broker: int, where: dict[Uuid, dict[str, list[int]]], epoch: int | None = None
) -> AssignReplicasToDirsRequest:
    of = AssignReplicasToDirsRequest
    return of(
        broker_id=broker,
        broker_epoch=epoch_of(broker) if epoch is None else epoch,
        directories=[
            of.DirectoryData(
                id=id,
                topics=[
                    of.TopicData(
                        topic_id=id_of(name), partitions=[of.PartitionData(partition_index=index) for index in indexes]
                    )
                    for name, indexes in topics.items()
                ],
            )
            for id, topics in where.items()
        ],
    )


@pytest.fixture
def image() -> Image:
    """Brokers 1 and 2 with two directories each; two partitions that lie nowhere yet on 1."""
    nowhere = [UNASSIGNED, directory(2, 0)]
    first, second = (partition([1, 2], directories=nowhere) for _ in range(2))
    return with_topic(cluster(1, 2, 3, directories=2), "t", first, second)


def test_log_directories_of_replicas_are_written(image: Image) -> None:
    request = assignment(1, {directory(1, 0): {"t": [0]}, directory(1, 1): {"t": [1]}})
    decision = assign_replicas_to_dirs(image, DEFAULTS, request)
    codes = [
        (each.id, each.topics[0].topic_id, each.topics[0].partitions[0].partition_index, 0) for each in decision.results
    ]
    assert codes == [(directory(1, 0), id_of("t"), 0, 0), (directory(1, 1), id_of("t"), 1, 0)]
    assert [non_default_fields(record) for record in decision.records] == [
        {"directories": [directory(1, 0), directory(2, 0)]},
        {"directories": [directory(1, 1), directory(2, 0)]},
    ]
    settled = after(image, decision.records)
    assert at(settled, "t").leader_epoch == at(image, "t").leader_epoch
    assert assign_replicas_to_dirs(settled, DEFAULTS, request).records == []


@pytest.mark.parametrize("nowhere", [LOST, directory(9)])
def test_of_one_that_lies_in_a_failed_directory_others_lead(image: Image, nowhere: Uuid) -> None:
    decision = assign_replicas_to_dirs(image, DEFAULTS, assignment(1, {nowhere: {"t": [0]}}))
    assert [non_default_fields(record) for record in decision.records] == [
        {"directories": [nowhere, directory(2, 0)]},
        {"leader": 2, "isr": [2]},
    ]
    assert at(after(image, decision.records), "t").directories == (nowhere, directory(2, 0))


def test_assignment_of_unknown_replica_is_refused(image: Image) -> None:
    decision = assign_replicas_to_dirs(image, DEFAULTS, assignment(1, {directory(1): {"t": [2], "u": [0]}}))
    codes = [each.error_code for topic in decision.results[0].topics for each in topic.partitions]
    assert codes == [error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_ID]
    decision = assign_replicas_to_dirs(image, DEFAULTS, assignment(3, {directory(3): {"t": [0]}}))
    assert decision.results[0].topics[0].partitions[0].error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    assert decision.records == []


def test_an_earlier_epoch_of_a_broker_is_refused(image: Image) -> None:
    with pytest.raises(Refusal) as refused:
        assign_replicas_to_dirs(image, DEFAULTS, assignment(1, {}, epoch=1))
    assert refused.value.code == error_codes.STALE_BROKER_EPOCH


def test_metadata_from_before_there_were_directories() -> None:
    with pytest.raises(Refusal) as refused:
        assign_replicas_to_dirs(cluster(1, level=16, elr=0), DEFAULTS, assignment(1, {}))
    assert refused.value.code == error_codes.UNSUPPORTED_VERSION
    assert assign_replicas_to_dirs(cluster(1, level=17, elr=0), DEFAULTS, assignment(1, {})).results == []
