"""Moving replicas: begun, ended, put in another's place, cancelled, listed."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.partition_change_builder import RECOVERING
from kafkadouble.server.controller.partition_reassignment_replicas import PartitionReassignmentReplicas
from kafkadouble.server.controller.partition_reassignments import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.requests.slices import in_one_step
from tests.server.controller.small_clusters import (
    DEFAULTS,
    after,
    at,
    cluster,
    directory,
    non_default_fields,
    partition,
    with_topic,
)

Code = tuple[int, str | None]


def move(image: Image, *targets: list[int] | None, settings: Settings = DEFAULTS, **fields: Any) -> tuple[Image, Code]:
    """Requests replicas for t-0 and so on; the image after it, and the answer of the last
    partition.
    """
    of = AlterPartitionReassignmentsRequest
    partitions = [of.ReassignablePartition(partition_index=at, replicas=target) for at, target in enumerate(targets)]
    request = of(topics=[of.ReassignableTopic(name="t", partitions=partitions)], **fields)
    decision = in_one_step(alter_partition_reassignments(image, settings, request))
    [result] = decision.results
    last = result.partitions[-1]
    return after(image, decision.records), (last.error_code, last.error_message)


def replicas(image: Image) -> tuple[tuple[int, ...], ...]:
    """The replicas of t-0, those that come, those that go, those in sync."""
    found = at(image, "t")
    return found.replicas, found.adding_replicas, found.removing_replicas, found.isr


@pytest.fixture
def image() -> Image:
    return with_topic(cluster(1, 2, 3, 4, 5), "t", partition([1, 2, 3]))


def test_reassignment_begins_with_old_and_new_replicas(image: Image) -> None:
    moved, code = move(image, [4, 2, 5])
    assert code == (0, None)
    assert replicas(moved) == ((4, 2, 5, 1, 3), (4, 5), (1, 3), (1, 2, 3))
    assert at(moved, "t").directories == tuple(map(directory, (4, 2, 5, 1, 3)))
    assert (at(moved, "t").leader, at(moved, "t").leader_epoch) == (1, 5)


def test_reassignment_to_another_order_is_complete_at_once(image: Image) -> None:
    moved, _ = move(image, [3, 2, 1])
    assert replicas(moved) == ((3, 2, 1), (), (), (1, 2, 3))


def test_fewer_replicas_are_there_at_once_when_all_that_stay_are_in_sync(image: Image) -> None:
    moved, _ = move(image, [3, 2])
    assert replicas(moved) == ((3, 2), (), (), (2, 3))
    assert (at(moved, "t").leader, at(moved, "t").leader_epoch) == (3, 6)
    behind = with_topic(cluster(1, 2, 3), "t", partition([1, 2, 3], isr=[1, 2]))
    moved, _ = move(behind, [3, 2])
    assert replicas(moved) == ((3, 2, 1), (), (1,), (1, 2))


def test_reassignment_to_the_same_replicas_writes_no_record(image: Image) -> None:
    moved, code = move(image, [1, 2, 3])
    assert (moved, code) == (image, (0, None))


def test_the_replication_factor_may_be_held(image: Image) -> None:
    moved, code = move(image, [1, 2], allow_replication_factor_change=False)
    text = "The replication factor is changed from 3 to 2"
    assert (moved, code) == (image, (error_codes.INVALID_REPLICATION_FACTOR, text))
    moved, code = move(image, [4, 2, 5], allow_replication_factor_change=False)
    assert code == (0, None)
    assert move(moved, [1, 2, 4], allow_replication_factor_change=False)[1] == (0, None)
    assert move(moved, [1, 2, 3, 4, 5], allow_replication_factor_change=False)[1][1] == (
        "The replication factor is changed from 3 to 5"
    )


def test_new_reassignment_replaces_the_one_in_progress(image: Image) -> None:
    moved, _ = move(image, [4, 2, 5])
    moved, _ = move(moved, [4, 3, 2])
    assert replicas(moved) == ((4, 3, 2, 1, 5), (4, 5), (1, 5), (1, 2, 3))


def test_reassignment_to_all_present_replicas_completes() -> None:
    """As in Kafka, which keeps adding and removing replicas if the new reassignment has none."""
    moving = partition([3, 1, 2], isr=[1, 2], adding_replicas=[3], removing_replicas=[2])
    moved, code = move(with_topic(cluster(1, 2, 3), "t", moving), [1, 2, 3])
    assert code == (0, None)
    assert replicas(moved) == ((1, 2, 3), (3,), (2,), (1, 2))


@pytest.mark.parametrize(("level", "is_written"), [(16, False), (17, True)])
def test_directories_are_written_from_the_level_on_that_has_them(level: int, is_written: bool) -> None:
    image = with_topic(cluster(1, 2, level=level, elr=0), "t", partition([1]))
    of = AlterPartitionReassignmentsRequest
    requested = of.ReassignableTopic(name="t", partitions=[of.ReassignablePartition(replicas=[1, 2])])
    [record] = in_one_step(alter_partition_reassignments(image, DEFAULTS, of(topics=[requested]))).records
    assert ("directories" in non_default_fields(record)) is is_written


class TestCancelled:
    def test_cancelled_reassignment_restores_the_replicas(self, image: Image) -> None:
        moved, _ = move(image, [4, 2, 5])
        back, code = move(moved, None)
        assert code == (0, None)
        assert replicas(back) == ((2, 1, 3), (), (), (1, 2, 3))
        assert (at(back, "t").leader, at(back, "t").leader_epoch, at(back, "t").partition_epoch) == (1, 6, 9)

    def test_cancelled_reassignment_ends_leadership_of_added_replica(self) -> None:
        moving = partition([4, 1, 2], isr=[1, 4], leader=4, adding_replicas=[4], removing_replicas=[2])
        back, _ = move(with_topic(cluster(1, 2, 4), "t", moving), None)
        assert (replicas(back), at(back, "t").leader) == (((1, 2), (), (), (1,)), 1)

    def test_no_former_replica_is_in_sync(self) -> None:
        moving = partition([4, 1, 2], isr=[4], leader=4, adding_replicas=[4], removing_replicas=[2])
        alone = with_topic(cluster(1, 2, 4), "t", moving)
        same, (code, text) = move(alone, None)
        assert (same, code) == (alone, error_codes.INVALID_REPLICA_ASSIGNMENT)
        assert text == (
            "Unable to revert partition assignment for t:0 because it would require an unclean leader election."
        )
        back, code_and_text = move(alone, None, settings=Settings({"unclean.leader.election.enable": True}))
        assert code_and_text == (0, None)
        assert replicas(back) == ((1, 2), (), (), (1,))

    def test_no_former_replica_remains(self) -> None:
        moving = partition([1, 2], isr=[1], adding_replicas=[1, 2])
        _, (code, text) = move(with_topic(cluster(1, 2), "t", moving), None)
        assert (code, text) == (
            error_codes.INVALID_REPLICA_ASSIGNMENT,
            "Invalid replica assignment: addingReplicas contains all replicas.",
        )


def test_reassignments_under_way_are_listed() -> None:
    image = with_topic(cluster(1, 2, 3), "u", partition([2, 1], adding_replicas=[2]), partition([1]))
    image = with_topic(image, "t", partition([1, 3], removing_replicas=[3]), partition([1, 2]))
    listed = [
        (topic.name, [non_default_fields(each) for each in topic.partitions])
        for topic in in_one_step(list_partition_reassignments(image, None))
    ]
    assert listed == [
        ("t", [{"replicas": [1, 3], "removing_replicas": [3]}]),
        ("u", [{"replicas": [2, 1], "adding_replicas": [2]}]),
    ]
    of = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
    named = [of(name="u", partition_indexes=[1, 0, 7]), of(name="v", partition_indexes=[0]), of(name="t")]
    assert [
        (topic.name, len(topic.partitions)) for topic in in_one_step(list_partition_reassignments(image, named))
    ] == [("u", 1)]


def test_the_arithmetic_of_a_reassignment() -> None:
    target = PartitionReassignmentReplicas.to_target([1, 2, 3], [4, 3])
    assert [*target] == [[4, 3, 1, 2], [4], [1, 2]]
    assert (target.target_replicas(), target.original_replicas()) == ([4, 3], [3, 1, 2])
    assert target.completed([1, 2, 3]) is None
    assert target.completed([1, 4]) is None, "3 stays, and is not in sync"
    assert target.completed([3, 4, 1]) == ([4, 3], [3, 4])
    assert PartitionReassignmentReplicas([4, 2, 1], [4], [1]).completed([1, 4]) == ([4, 2], [4]), "as many go as come"
    assert PartitionReassignmentReplicas([1, 2], [], []).completed([1, 2]) is None
    assert PartitionReassignmentReplicas([1], [], [1]).completed([1]) is None, "no replica would be left"
    assert PartitionReassignmentReplicas([1, 2], [], [2]).completed([2]) is None


def test_unclean_revert_of_a_reassignment_elects_the_first_replica() -> None:
    moving = partition([4, 1, 2], isr=[4], leader=4, adding_replicas=[4], removing_replicas=[2])
    alone = with_topic(cluster(2, 4), "t", moving)
    back, _ = move(alone, None, settings=Settings({"unclean.leader.election.enable": True}))
    assert (at(back, "t").leader, at(back, "t").isr) == (2, (2,))
    assert at(back, "t").leader_recovery_state == RECOVERING
