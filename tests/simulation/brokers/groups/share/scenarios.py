"""The scenarios that a share group must survive. At the end of each, every partition is assigned,
and every record was delivered and is done."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from kafkadouble.server.metadata.internal_topics import SHARE_GROUP_STATE

from ... import scenarios
from ...cluster import Cluster
from ...member import Member
from ...scenarios import Scenario
from ...shape import Shape
from ...transactions.scenarios import everything_restarts
from ..scenarios import coordinator, coordinators_die, goes_on, of_groups
from .cluster import SHARE_COORDINATORS


def leader_or_coordinator(cluster: Any) -> Member | None:
    """A leader of the topic, a share coordinator, or the coordinator of the group."""
    random = cluster.world.random
    which = random.choice(("leader", "leader", "share coordinator", "group coordinator"))
    found: Member | None
    if which == "leader":
        found = cluster.leader(random.choice(cluster.partitions))
    elif which == "share coordinator":
        found = cluster.coordinator_of(SHARE_GROUP_STATE, random.randrange(SHARE_COORDINATORS))
    else:
        found = coordinator(cluster)
    return found


def leaders_die(cluster: Cluster) -> None:
    coordinators_die(cluster, leader_or_coordinator)


def of_share_groups(random: Random, **fixed: object) -> Shape:
    partitions = random.choice((1, 2))
    drawn: dict[str, object] = {
        "partitions": partitions,
        "producers": partitions,
        "group_members": 0,
        "share_members": random.choice((2, 3)),
        "delivery_count_limit": random.choice((2, 5, 10)),
        "assignment_interval_ms": random.choice((0, 1000)),
    }
    return of_groups(random, **{**drawn, **fixed})


OF_SHARE_GROUPS: dict[str, Scenario] = {
    "share_groups": (of_share_groups, goes_on),
    "leaders_of_share_groups_die": (of_share_groups, leaders_die),
    "leaders_of_share_groups_are_cut_off": (of_share_groups, scenarios.leader_is_cut_off),
    "share_groups_restart": (partial(of_share_groups, on_disks=True, flushing=True), everything_restarts),
    "share_groups_suffer_anything": (of_share_groups, scenarios.anything),
}
