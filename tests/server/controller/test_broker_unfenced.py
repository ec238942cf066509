"""A broker that registers again leads where it is in sync or eligible (KIP-966); and one that loses
a directory.
"""

from __future__ import annotations

import pytest

from kafkadouble.server.controller.broker_unfenced import (
    own_broker_registered,
    own_broker_unfenced,
    own_directory_failed,
    restore_leader,
)
from kafkadouble.server.controller.partition_change_builder import RECOVERED, RECOVERING
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.log_dir_ids import UNASSIGNED
from tests.server.controller.small_clusters import DEFAULTS, after, at, cluster, directory, partition, with_topic


@pytest.mark.parametrize(
    ("isr", "elr", "leader", "isr_then", "elr_then"),
    [
        ([1], [], 1, (1,), ()),
        ([2, 1], [], 1, (2, 1), ()),
        ([], [1], 1, (1,), ()),
        ([], [2, 1], 1, (1,), (2,)),
        ([], [2], -1, (), (2,)),
        ([2], [], -1, (2,), ()),
    ],
)
def test_the_partitions_that_it_leads_again(
    isr: list[int], elr: list[int], leader: int, isr_then: tuple[int, ...], elr_then: tuple[int, ...]
) -> None:
    left = partition([1, 2], isr=isr, leader=-1, eligible_leader_replicas=elr, last_known_elr=elr)
    image = with_topic(cluster(1, 2), "t", left)
    found = at(after(image, restore_leader(image, 1)), "t")
    assert (found.leader, found.isr, found.elr) == (leader, isr_then, elr_then)


def test_a_partition_with_a_leader_stays_unchanged() -> None:
    image = with_topic(cluster(1, 2), "t", partition([1, 2], isr=[2], leader=2, eligible_leader_replicas=[1]))
    assert restore_leader(image, 1) == []


def test_alone_it_only_leads_no_more_and_leads_again() -> None:
    image = with_topic(cluster(1), "t", partition([1]))
    left = after(image, own_broker_registered(image, 1, DEFAULTS, clean=False))
    assert (at(left, "t").leader, at(left, "t").isr) == (-1, (1,))
    found = after(left, own_broker_unfenced(left, 1, DEFAULTS))
    assert (at(found, "t").leader, at(found, "t").leader_epoch) == (1, 7)
    assert not found.brokers[1].fenced


@pytest.mark.parametrize(("clean", "eligible"), [(True, (1,)), (False, ())])
def test_among_others_it_goes_as_any_broker_does(clean: bool, eligible: tuple[int, ...]) -> None:
    image = with_topic(cluster(1, 2, fenced=[1]), "t", partition([1, 2], isr=[1, 2]), partition([1]))
    left = after(image, own_broker_registered(image, 1, DEFAULTS, clean=clean))
    assert (at(left, "t").leader, at(left, "t").isr) == (2, (2,))
    assert (at(left, "t", 1).leader, at(left, "t", 1).elr) == (-1, eligible)
    found = after(left, own_broker_unfenced(left, 1, DEFAULTS))
    assert (at(found, "t").leader, at(found, "t", 1).leader, found.brokers[1].fenced) == (2, 1, False)
    assert at(found, "t", 1).leader_recovery_state == (RECOVERED if clean else RECOVERING)


def two_directories(*brokers: int) -> Image:
    """Partitions of broker 1, and of the others: in its first directory, and not known where."""
    known = partition([*brokers], directories=[directory(broker) for broker in brokers])
    unknown = partition([*brokers], directories=[UNASSIGNED, *(directory(broker) for broker in brokers[1:])])
    return with_topic(cluster(*brokers, directories=2), "t", known, unknown)


def test_alone_what_lay_in_a_failed_directory_has_no_leader() -> None:
    image = two_directories(1)
    records = own_directory_failed(image, 1, DEFAULTS, directory(1), [("t", 1), ("t", 7), ("u", 0)])
    left = after(image, records)
    assert [at(left, "t", index).leader for index in range(2)] == [1, -1]
    assert (at(left, "t", 1).isr, at(left, "t", 1).directories) == ((1,), (directory(1),))
    assert left.brokers[1].log_dirs == (directory(1, 1),)


def test_among_others_they_lead_what_lay_in_a_failed_directory() -> None:
    image = two_directories(1, 2)
    records = own_directory_failed(image, 1, DEFAULTS, directory(1), [("t", 0), ("t", 1), ("t", 7), ("u", 0)])
    left = after(image, records)
    for index in range(2):
        assert (at(left, "t", index).leader, at(left, "t", index).isr) == (2, (2,))
        assert at(left, "t", index).directories == (directory(1), directory(2))
    assert left.brokers[1].log_dirs == (directory(1, 1),)
    assert len(records) == 4
