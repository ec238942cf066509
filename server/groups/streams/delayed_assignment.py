"""The first assignment of a streams group that was empty, after its initial rebalance delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from . import records
from .group_change import changed_target_records
from .target_assignment import compute_target_assignment

if TYPE_CHECKING:
    from .streams_group import StreamsGroup

log = ClientLog("kafkadouble.server.groups")


def assign(group: StreamsGroup) -> None:
    """Compute a target assignment for the members that have joined, and write it.

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
