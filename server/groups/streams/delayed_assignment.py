"""The first assignment of a streams group that was empty, after its initial rebalance delay."""

from __future__ import annotations

from kafkadouble.wire.client_log import ClientLog

from . import records
from .group_change import changed_target_records
from .membership import StreamsGroupMembership
from .target_assignment import compute_target_assignment

log = ClientLog("kafkadouble.server.groups")


def assign(group: StreamsGroupMembership) -> None:
    """Computes a target assignment for the members that have joined, and writes it.

    Raises Refusal if it cannot be computed or written.
    """
    topology, epoch = group.configured_topology, group.metadata.epoch
    if topology is None or epoch <= group.assignment_epoch:
        log.warning("%r: nothing to assign after its initial delay", group)
        return
    configs = group.metadata.assignment_configs
    assigned = compute_target_assignment(group, epoch, group.members, topology, configs)
    changed = changed_target_records(group.group_id, group.target_assignment, assigned)
    changed.append(records.target_assignment_metadata_record(group.group_id, epoch, group.shard.now))
    group.shard.write(changed)
