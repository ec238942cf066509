"""Faulty variants of consumer groups that the simulation must detect, in rows like those of
`tests.simulation.brokers.mutations`.

    python -m tests.simulation.brokers.groups.mutations
"""

from __future__ import annotations

from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.groups.consumer import (
    classic_members,
    current_assignment,
    downgrade,
    fencing,
    heartbeat,
    membership,
    regular_expressions,
    timers,
    upgrade,
)
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard

from ...mutating import Mutation, Mutations
from .. import breaches as of_replication
from ..run import run
from . import breaches

_CALM, _DIE = ("groups",), ("coordinators_of_groups_die",)
_MIXED = ("mixed_groups",)

MUTATIONS: dict[str, Mutation] = {
    "a partition is given before it is released": Mutation(
        "a member waits for partitions that another has not revoked (KIP-848)",
        ((current_assignment, "_is_free", breaches.is_always_free),),
        _CALM,
    ),
    "a member advances before it has revoked": Mutation(
        "a member stays in its epoch until it has revoked (KIP-848)",
        ((current_assignment, "_owns", breaches.owns_nothing),),
        _CALM,
    ),
    "what is being revoked has no owner": Mutation(
        "a partition that is being revoked is still owned (KIP-848)",
        ((membership, "owned_partitions", breaches.only_assigned),),
        _CALM,
    ),
    "a heartbeat is answered before it is committed": Mutation(
        "an answer shows only what is committed (KIP-848)",
        ((GroupCoordinatorShard, "when_committed", breaches.answers_at_once),),
        _DIE,
        begins_with=1,
    ),
    "a group is only in memory": Mutation(
        "every change of a group is a record (KIP-848)",
        ((CoordinatorShard, "write", breaches.replays_without_append),),
        _DIE,
    ),
    "a removed member does not change the group epoch": Mutation(
        "the group epoch grows when a member is removed (KIP-848)",
        ((fencing, "_removal", breaches.removes_without_epoch),),
        _CALM,
    ),
    "sessions never end": Mutation(
        "a member that is not heard of is fenced (KIP-848)",
        ((timers, "schedule_session", of_replication.nothing),),
        _CALM,
    ),
    "a new coordinator starts no sessions": Mutation(
        "a coordinator that loads a group starts the sessions of its members (KIP-848)",
        ((timers, "schedule_all", of_replication.nothing),),
        _DIE,
    ),
    "answers have no assignment": Mutation(
        "the answer has the assignment when it changes (KIP-848)",
        ((heartbeat, "_response", breaches.tells_only_who_joins),),
        _CALM,
    ),
    "target assignments are not replayed": Mutation(
        "the target assignment is a part of the group (KIP-848)",
        ((GroupCoordinatorShard, "replay", breaches.forgets_targets),),
        _CALM,
    ),
    "the epoch does not advance with the assignment": Mutation(
        "a new assignment is of a new epoch (KIP-848)",
        ((current_assignment, "_next_assignment", breaches.gives_all_in_the_old_epoch),),
        _CALM,
    ),
    "regular expressions are not resolved": Mutation(
        "the coordinator resolves regular expressions (KIP-848)",
        ((regular_expressions, "_resolve_or_log", of_replication.nothing),),
        _CALM,
        begins_with=17,
    ),
    "an upgrade takes the partitions of classic members": Mutation(
        "the members of an upgraded group keep their partitions (KIP-848)",
        ((upgrade, "_assigned_partitions", breaches.has_nothing_assigned),),
        _MIXED,
    ),
    "a downgrade begins the generations again": Mutation(
        "the generation of a downgraded group is its group epoch (KIP-848)",
        ((downgrade, "_classic_group", breaches.keeps_a_low_generation),),
        _MIXED,
        begins_with=28,
    ),
    "classic members are not sent back": Mutation(
        "a classic member learns from its heartbeat that it must join again (KIP-848)",
        ((classic_members, "heartbeat", breaches.never_says_to_join_again),),
        _MIXED,
    ),
}

ALL = Mutations(run, 40, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
