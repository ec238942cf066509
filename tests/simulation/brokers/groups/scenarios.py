"""The scenarios that a consumer group must survive. At the end of each it is Stable, and every
partition has one owner; at no time has one two owners in one epoch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS

from ...network import Weather
from .. import faults, scenarios
from ..cluster import Cluster
from ..member import Member
from ..scenarios import Scenario
from ..shape import SESSION_MS, Shape, shape


def goes_on(cluster: Cluster) -> None:
    """Nothing fails but members; messages are late or lost."""
    cluster.network.weather = Weather(delay=(0, 12), late=0.03, latest=2000, lost=0.03)
    cluster.world.run_for(cluster.world.random.randint(8000, 14_000))


def coordinator(cluster: Any) -> Member | None:
    member: Member | None = cluster.coordinator_of(CONSUMER_OFFSETS)
    return member


def coordinators_die(cluster: Cluster, victim_of: Callable[[Any], Member | None] = coordinator) -> None:
    """The coordinator, or another broker that the group depends on, is killed, cut off or shut
    down, in the middle of reconciliations."""
    random = cluster.world.random
    cluster.network.weather = Weather(delay=(0, 12), late=0.02, latest=1500, lost=0.01)
    cluster.world.run_for(random.randint(1000, 3000))
    for _ in range(random.randint(2, 3)):
        victim = victim_of(cluster)
        if victim is not None:
            how = random.choice(("kill", "stop", "isolate"))
            cluster.world.note("{} goes: {}", victim.id, how)
            if how == "isolate":
                cluster.network.isolate(victim.id, cluster.members)
            else:
                victim.kill() if how == "kill" else victim.stop()
        cluster.world.run_for(random.randint(SESSION_MS, SESSION_MS + 2000))
        cluster.network.heal()
        faults.start_all(cluster)
        cluster.world.run_for(random.randint(0, 2000))


def of_groups(random: Random, **fixed: object) -> Shape:
    """A shape with the members of a consumer group; no other clients."""
    drawn: dict[str, object] = {
        "brokers": 3,
        "partitions": random.choice((3, 4, 5)),
        "replicas": 3,
        "min_isr": 2,
        "racks": False,
        "large": False,
        "producers": 0,
        "consumers": 0,
        "on_disks": False,
        "group_members": random.choice((2, 3, 4)),
    }
    return shape(random, **{**drawn, **fixed})


_mixed = partial(of_groups, group_members=2, classic_members=2)

OF_GROUPS: dict[str, Scenario] = {
    "groups": (of_groups, goes_on),
    "coordinators_of_groups_die": (of_groups, coordinators_die),
    "mixed_groups": (_mixed, goes_on),
    "coordinators_of_mixed_groups_die": (_mixed, coordinators_die),
    "groups_suffer_anything": (of_groups, scenarios.anything),
}
