"""Faulty variants of share groups that the simulation must detect, in rows like those of
`tests.simulation.brokers.mutations`.

    python -m tests.simulation.brokers.groups.share.mutations
"""

from __future__ import annotations

from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.groups.share import assignment_steps, sessions
from kafkadouble.server.groups.share.share_group import ShareGroup
from kafkadouble.server.share import acknowledgement
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.in_flight_state import InFlightState
from kafkadouble.server.share.share_coordinator_shard import ShareCoordinatorShard
from kafkadouble.server.share.share_partition import SharePartition
from kafkadouble.server.share.share_partition_manager import SharePartitionManager

from ....mutating import Mutation, Mutations
from ... import breaches as of_replication
from ...run import run
from .. import breaches as of_groups
from . import breaches

_CALM, _DIE = ("share_groups",), ("leaders_of_share_groups_die",)
_CUT_OFF = ("leaders_of_share_groups_are_cut_off",)

MUTATIONS: dict[str, Mutation] = {
    "an acquired record is delivered to another member": Mutation(
        "a record is acquired by one member at a time (KIP-932)",
        ((InFlightState, "is_acquirable", property(breaches.is_acquirable_when_acquired)),),
        _CALM,
    ),
    "a release counts before it is written": Mutation(
        "a record cannot change while a change of it is written (KIP-932)",
        ((InFlightState, "is_acquirable", property(breaches.is_acquirable_while_written)),),
        _CALM,
    ),
    "acquisition locks never time out": Mutation(
        "a record whose acquisition lock has timed out is available again (KIP-932)",
        ((SharePartition, "_schedule", of_replication.nothing),),
        _CALM,
    ),
    "the delivery count has no limit": Mutation(
        "a record that was delivered too often is archived (KIP-932)",
        ((InFlightState, "try_update", breaches.updates_without_limit),),
        _CALM,
    ),
    "deliveries are not counted": Mutation(
        "each delivery adds one to the delivery count (KIP-932)",
        ((InFlightState, "acquire", breaches.acquires_without_count),),
        _CALM,
    ),
    "a member acknowledges what another one has": Mutation(
        "a record is acknowledged by the member that has acquired it (KIP-932)",
        ((acknowledgement, "_check", of_replication.nothing),),
        _CALM,
    ),
    "rejected records are released": Mutation(
        "a rejected record is not delivered again (KIP-932)",
        ((acknowledgement, "STATE_AFTER", breaches.REJECTED_IS_RELEASED),),
        _CALM,
    ),
    "the start offset goes back": Mutation(
        "the start offset of a share partition only grows (KIP-932)",
        ((InFlightRecords, "clear", breaches.clears_behind),),
        _CALM,
    ),
    "an acknowledgement is answered before it is written": Mutation(
        "an acknowledgement is answered when the share coordinator has stored it (KIP-932)",
        ((SharePartition, "_write", breaches.is_written_at_once),),
        _DIE,
    ),
    "a write is answered before it is committed": Mutation(
        "the share coordinator answers when a change is committed (KIP-932)",
        ((ShareCoordinatorShard, "after_commit", breaches.is_committed_at_once),),
        _DIE,
        begins_with=13,
    ),
    "the state of share partitions is only in memory": Mutation(
        "every change of a share partition is a record of its coordinator (KIP-932)",
        ((CoordinatorShard, "write", of_groups.replays_without_append),),
        _DIE,
    ),
    "a new leader knows only the start offset": Mutation(
        "a new leader reads the state of every record in flight (KIP-932)",
        ((InFlightRecords, "__init__", breaches.begins_with_nothing),),
        _DIE,
    ),
    "a new leader skips records that were never delivered": Mutation(
        "a new leader delivers the records in the gaps of what was stored (KIP-932)",
        ((InFlightRecords, "__init__", breaches.begins_without_gaps),),
        _DIE,
        begins_with=5,
    ),
    "a leader of the past writes": Mutation(
        "the share coordinator refuses an old leader epoch (KIP-932)",
        ((ShareCoordinatorShard, "_check_leader_epoch", of_replication.nothing),),
        _CUT_OFF,
        begins_with=5,
    ),
    "share partitions stay when their leader resigns": Mutation(
        "a share partition belongs to one leader epoch (KIP-932)",
        ((SharePartitionManager, "on_resignation", of_replication.nothing),),
        _DIE,
    ),
    "sessions of members never end": Mutation(
        "a member of a share group that is not heard of is fenced (KIP-932)",
        ((sessions, "schedule", of_replication.nothing),),
        _CALM,
    ),
    "partitions that are added get no state": Mutation(
        "every partition of a subscribed topic is initialized (KIP-932)",
        ((assignment_steps, "uninitialized_partitions", breaches.only_whole_topics),),
        _CALM,
    ),
    "partitions are initialized again at once": Mutation(
        "a partition that is being initialized is not initialized again (KIP-932)",
        ((assignment_steps, "uninitialized_partitions", breaches.initializes_again_at_once),),
        _CALM,
    ),
    "the stored start offset goes back": Mutation(
        "an older start offset is not stored (KIP-932)",
        ((ShareCoordinatorShard, "write_state", breaches.stores_half_of_the_start_offset),),
        _CALM,
    ),
    "partitions that are initialized are not assigned": Mutation(
        "a partition is assigned when it is initialized (KIP-932)",
        ((ShareGroup, "has_initialized_assignment_pending", of_replication.never),),
        _CALM,
    ),
}

ALL = Mutations(run, 40, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
