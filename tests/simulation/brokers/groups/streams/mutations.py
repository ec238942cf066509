"""Faulty variants of streams groups that the simulation must detect, in rows like those of
`tests.simulation.brokers.mutations`.

    python -m tests.simulation.brokers.groups.streams.mutations
"""

from __future__ import annotations

from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.groups.streams import heartbeat_response, timers
from kafkadouble.server.groups.streams.current_assignment import Reconciliation, _NextAssignment
from kafkadouble.server.groups.streams.internal_topic_creation import InternalTopicCreation
from kafkadouble.server.groups.streams.members.task_process_ids import TaskProcessIds
from kafkadouble.server.groups.streams.streams_group import StreamsGroup
from kafkadouble.server.groups.streams.topics.configured_topology import ConfiguredInternalTopic

from ....mutating import Mutation, Mutations
from ... import breaches as of_replication
from ...run import run
from .. import breaches as of_groups
from . import breaches

_CALM, _DIE = ("streams_groups",), ("coordinators_of_streams_groups_die",)

MUTATIONS: dict[str, Mutation] = {
    "a task is given before it is released": Mutation(
        "a member waits for tasks that another process runs (KIP-1071)",
        ((TaskProcessIds, "active", breaches.runs_nothing),),
        _CALM,
        begins_with=5,
    ),
    "a member advances before it has revoked": Mutation(
        "a member stays in its epoch until it has revoked (KIP-1071)",
        ((Reconciliation, "has_not_released", breaches.has_released),),
        _CALM,
        begins_with=4,
    ),
    "what is being revoked has no owner": Mutation(
        "a task that is being revoked is still owned (KIP-1071)",
        ((StreamsGroup, "update_member", breaches.forgets_what_is_revoked),),
        _CALM,
        begins_with=4,
    ),
    "the epoch does not advance with the assignment": Mutation(
        "a new assignment is of a new epoch (KIP-1071)",
        ((_NextAssignment, "member", breaches.gives_all_in_the_old_epoch),),
        _CALM,
    ),
    "a heartbeat is answered before it is committed": Mutation(
        "an answer shows only what is committed (KIP-1071)",
        ((GroupCoordinatorShard, "wait_for_commit", of_groups.waits_for_no_commit),),
        _DIE,
    ),
    "a group is only in memory": Mutation(
        "every change of a group is a record (KIP-1071)",
        ((CoordinatorShard, "write", of_groups.replays_without_append),),
        _DIE,
    ),
    "target assignments are not replayed": Mutation(
        "the target assignment is a part of the group (KIP-1071)",
        ((GroupCoordinatorShard, "replay", breaches.forgets_targets),),
        _CALM,
    ),
    "sessions never end": Mutation(
        "a member that is not heard of is fenced (KIP-1071)",
        ((timers, "schedule_session", of_replication.nothing),),
        _CALM,
    ),
    "a new coordinator starts no sessions": Mutation(
        "a coordinator that loads a group starts the sessions of its members (KIP-1071)",
        ((timers, "schedule_all", of_replication.nothing),),
        _DIE,
    ),
    "internal topics are not created": Mutation(
        "the broker creates the internal topics of a topology (KIP-1071)",
        ((InternalTopicCreation, "create", of_replication.nothing),),
        _CALM,
    ),
    "internal topics have one partition": Mutation(
        "the partitions of an internal topic follow from the source topics (KIP-1071)",
        ((ConfiguredInternalTopic, "creatable", breaches.has_one_partition),),
        _CALM,
    ),
    "topics are looked at once": Mutation(
        "the topology is configured again when a topic changes (KIP-1071)",
        ((StreamsGroup, "has_metadata_expired", breaches.has_not_expired),),
        _CALM,
    ),
    "answers have no tasks": Mutation(
        "the answer has the tasks of the member when they change (KIP-1071)",
        ((heartbeat_response, "_task_ids", breaches.no_tasks),),
        _CALM,
    ),
}

ALL = Mutations(run, 40, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
