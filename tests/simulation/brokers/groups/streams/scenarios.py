"""The scenarios that a streams group must survive. At the end of each it is Stable, every task has
one owner, and the internal topics fit the topology; at no time has a task two owners in one
epoch."""

from __future__ import annotations

from functools import partial
from random import Random

from ... import scenarios
from ...scenarios import Scenario
from ...shape import Shape
from ...transactions.scenarios import everything_restarts
from ..scenarios import coordinators_die, goes_on, of_groups


def of_streams_groups(random: Random, **fixed: object) -> Shape:
    drawn: dict[str, object] = {
        "partitions": random.choice((2, 3)),
        "group_members": 0,
        "streams_members": random.choice((2, 3, 4)),
        "standby_replicas": random.choice((0, 1)),
        "assignment_interval_ms": random.choice((0, 1000)),
        "initial_delay_ms": random.choice((0, 2000)),
    }
    return of_groups(random, **{**drawn, **fixed})


OF_STREAMS_GROUPS: dict[str, Scenario] = {
    "streams_groups": (of_streams_groups, goes_on),
    "coordinators_of_streams_groups_die": (of_streams_groups, coordinators_die),
    "streams_groups_restart": (partial(of_streams_groups, on_disks=True, flushing=True), everything_restarts),
    "streams_groups_suffer_anything": (of_streams_groups, scenarios.anything),
}
