"""The voters that a node's configuration names: static voters, or the first voters of a new quorum
(KIP-595, KIP-853).

    controller.quorum.voters is set      these voters, in `kraft.version` 0
    a snapshot names the voters          none
    bootstrap servers are set            none, until a leader names them
    only a controller listener is set    this node, named in the snapshot 0-0, as by
                                         `format --standalone`
    nothing is set                       this node, in `kraft.version` 0: no node can join
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.uuid import Uuid

from ..raft.raft_log import BOOTSTRAP
from ..raft.replica_key import ReplicaKey
from ..raft.voters import Voter, VoterEndpoint, VoterSet

if TYPE_CHECKING:
    from ..configs.settings import Settings
    from ..raft.snapshots.store import SnapshotStore


def static_voters(
    settings: Settings,
    key: ReplicaKey,
    listener: str,
    endpoints: Mapping[str, VoterEndpoint],
    snapshots: SnapshotStore,
    now: int,
) -> VoterSet:
    """The configured voters; those of a new quorum are written into a snapshot first. `endpoints`
    are the node's own, by listener name.
    """
    given = settings.list("controller.quorum.voters")
    if given:
        return VoterSet.from_static(",".join(given), listener)
    ids, servers = snapshots.ids(), bootstrap_servers(settings)
    if ids and snapshots.voters_of(ids[-1])[0] is not None:
        return VoterSet()
    if "controller" not in settings.list("process.roles") or set(servers) - set(endpoints.values()):
        return VoterSet()
    if endpoints and not ids:
        write_bootstrap_voters(snapshots, VoterSet([Voter(key, endpoints)]), now)
        return VoterSet()
    return VoterSet([Voter(ReplicaKey(key.id, Uuid.ZERO), endpoints, (0, 0))])


def write_bootstrap_voters(snapshots: SnapshotStore, voters: VoterSet, now: int) -> None:
    """Writes the snapshot with which a new quorum starts, with these voters, in
    `kraft.version` 1.
    """
    from ..raft.snapshots.snapshot_header import SnapshotHeader
    from ..raft.snapshots.snapshot_writer import write_at_once

    part = snapshots.create(BOOTSTRAP)
    if part is not None:
        write_at_once(part, SnapshotHeader(now, 1, voters), (), now)


def bootstrap_servers(settings: Settings) -> Sequence[VoterEndpoint]:
    """`controller.quorum.bootstrap.servers`."""
    endpoints = []
    for server in settings.list("controller.quorum.bootstrap.servers"):
        host, _, port = server.rpartition(":")
        endpoints.append(VoterEndpoint(host.removeprefix("[").removesuffix("]"), int(port)))
    return endpoints
