"""Where replicas go, on clusters of more brokers than one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.replica_placement import checked_assignment, partition_record, place_replicas
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.log_dir_ids import MIGRATING, UNASSIGNED
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import cluster, directory

TOPIC_ID = Uuid(b"t" * 16)


def cordoned(image: Image, broker: int, *, of: int = 1) -> Image:
    """The image in which the first so many directories of a broker are cordoned."""
    found = image.brokers[broker]
    return image._replace(brokers=image.brokers.set(broker, found._replace(cordoned_log_dirs=found.log_dirs[:of])))


def test_replicas_go_round() -> None:
    assert place_replicas(cluster(1, 2, 3), 0, 4, 2) == [[1, 2], [2, 3], [3, 1], [1, 2]]


def test_new_partitions_go_on_where_the_old_ones_ended() -> None:
    assert place_replicas(cluster(1, 2, 3), 1, 2, 3) == [[2, 3, 1], [3, 1, 2]]


def test_fenced_brokers_get_replicas_when_the_others_are_too_few_and_never_lead() -> None:
    assert place_replicas(cluster(1, 2, 3, fenced=[2]), 0, 2, 2) == [[1, 3], [3, 1]]
    assert place_replicas(cluster(1, 2, 3, fenced=[2]), 0, 2, 3) == [[1, 3, 2], [3, 1, 2]]


def test_brokers_that_shut_down_or_are_cordoned_get_nothing() -> None:
    assert place_replicas(cluster(1, 2, 3, stopping=[2]), 0, 2, 2) == [[1, 3], [3, 1]]
    assert place_replicas(cordoned(cluster(1, 2, 3), 2), 0, 2, 2) == [[1, 3], [3, 1]]
    assert place_replicas(cordoned(cluster(1, 2, directories=2), 2), 0, 2, 1) == [[1], [2]]


def test_brokers_without_registered_directories_get_replicas() -> None:
    assert place_replicas(cluster(1, 2, directories=0), 0, 2, 1) == [[1], [2]]


def leaders(rows: list[list[int]]) -> Counter[int]:
    return Counter(row[0] for row in rows)


class TestRacks:
    def test_the_replicas_of_a_partition_go_round_the_racks(self) -> None:
        image = cluster(1, 2, 3, 4, 5, 6, racks={1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"})
        rows = place_replicas(image, 0, 60, 3)
        assert rows[:4] == [[1, 3, 5], [4, 6, 2], [5, 1, 3], [2, 4, 6]]
        assert all({(broker + 1) // 2 for broker in row} == {1, 2, 3} for row in rows)
        assert set(leaders(rows).values()) == {10}

    def test_more_replicas_than_racks(self) -> None:
        image = cluster(1, 2, 3, 4, racks={1: "a", 2: "a", 3: "b", 4: "b"})
        rows = place_replicas(image, 0, 8, 3)
        assert all(len(set(row)) == 3 and {broker < 3 for broker in row} == {True, False} for row in rows)
        assert leaders(rows) == {1: 2, 2: 2, 3: 2, 4: 2}

    def test_racks_take_turns_however_many_brokers_they_have(self) -> None:
        image = cluster(1, 2, 3, 4, racks={1: "a", 2: "a", 3: "a", 4: "b"})
        assert leaders(place_replicas(image, 0, 24, 2)) == {1: 4, 2: 4, 3: 4, 4: 12}

    def test_a_rack_of_fenced_brokers_does_not_lead(self) -> None:
        image = cluster(1, 2, 3, fenced=[3], racks={1: "a", 2: "a", 3: "b"})
        assert place_replicas(image, 0, 4, 2) == [[1, 3], [2, 3], [2, 3], [1, 3]]

    def test_brokers_without_a_rack_are_one_rack(self) -> None:
        image = cluster(1, 2, 3, 4, racks={2: "a", 4: ""})
        assert place_replicas(image, 0, 3, 3) == [[1, 4, 2], [4, 2, 3], [2, 1, 4]]


@pytest.mark.parametrize("seed", range(30))
def test_every_partition_has_different_brokers_and_one_that_can_lead(seed: int) -> None:
    chance = Random(seed)
    brokers = range(1, chance.randint(2, 9))
    fenced = [broker for broker in brokers if broker > 1 and chance.random() < 0.3]
    image = cluster(*brokers, fenced=fenced, racks={broker: chance.choice("abc") for broker in brokers})
    factor = chance.randint(1, len(brokers))
    rows = place_replicas(image, chance.randrange(5), 50, factor)
    assert all(len(set(row)) == factor and row[0] not in fenced for row in rows), f"seed {seed}"
    unfenced = len(brokers) - len(fenced)
    assert set(leaders(rows)) == set(brokers) - set(fenced) or unfenced > 50, f"seed {seed}"


@pytest.mark.parametrize(
    ("image", "factor", "message"),
    [
        (cluster(1), 2, "The target replication factor of 2 cannot be reached because only 1 broker(s) are registered"),
        (cluster(1, 2, 3, fenced=[3], stopping=[2]), 3, "because only 2 broker(s) are registered"),
        (cluster(1, fenced=[1]), 1, "All brokers are currently fenced, or have all their log directories cordoned."),
        (cordoned(cluster(1), 1), 1, "All brokers are currently fenced, or have all their log directories cordoned."),
        (EMPTY, 1, "All brokers are currently fenced, or have all their log directories cordoned."),
    ],
)
def test_too_few_brokers(image: Image, factor: int, message: str) -> None:
    with pytest.raises(Refusal) as refused:
        place_replicas(image, 0, 1, factor)
    assert refused.value.code == error_codes.INVALID_REPLICATION_FACTOR
    assert message in str(refused.value.message)


@pytest.mark.parametrize(
    ("replicas", "factor", "message"),
    [
        ([], None, "The manual partition assignment includes an empty replica list."),
        ([4], None, "The manual partition assignment includes broker 4, but no such broker is registered."),
        ([5, 1], None, "The manual partition assignment includes broker 5, but all its log directories are cordoned."),
        ([1, 2, 1], None, "The manual partition assignment includes the broker 1 more than once."),
        ([1], 2, "not consistent with previous partitions, which have 2 replica(s)."),
        ([3], None, "in the manual partition assignment for partition 7 are fenced or in controlled shutdown."),
    ],
)
def test_assignments_that_cannot_be(replicas: list[int], factor: int | None, message: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked_assignment(cordoned(cluster(1, 2, 3, 5, fenced=[3]), 5), 7, replicas, factor)
    assert refused.value.code == error_codes.INVALID_REPLICA_ASSIGNMENT
    assert message in str(refused.value.message)


def test_the_first_active_replica_leads_and_the_active_ones_are_in_sync() -> None:
    image = cluster(1, 2, 3, fenced=[3])
    record = partition_record(image, TOPIC_ID, 5, checked_assignment(image, 5, [3, 2, 1], 3))
    assert (record.replicas, record.isr, record.leader) == ([3, 2, 1], [2, 1], 2)
    assert (record.leader_epoch, record.partition_epoch, record.leader_recovery_state) == (0, 0, 0)
    assert record.directories == [directory(3), directory(2), directory(1)]


@pytest.mark.parametrize(("directories", "where"), [(0, MIGRATING), (1, directory(1)), (2, UNASSIGNED)])
def test_a_broker_of_several_folders_chooses_itself(directories: int, where: Uuid) -> None:
    assert partition_record(cluster(1, directories=directories), TOPIC_ID, 0, [1]).directories == [where]
