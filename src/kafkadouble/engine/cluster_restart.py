"""Restarts a cluster in place: empty, or with what was saved of its nodes. Run everything here on
the loop's thread.

Rules. No broker runs while data is replaced, and the controller begins before them. Ports and
cluster id stay.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Protocol

from .broker import former_members

if TYPE_CHECKING:
    from kafkadouble.server.network.clock import Clock

    from .broker import Broker
    from .cluster_member import ClusterMember
    from .data.saved_logs import SavedLogs


class RestartedCluster(Protocol):
    """A cluster, as far as a restart needs it."""

    clock: Clock
    members_by_id: dict[int, ClusterMember]
    removed: dict[int, ClusterMember]

    @property
    def members(self) -> list[Broker]: ...

    @property
    def controlling(self) -> Broker: ...

    @property
    def cluster_id(self) -> str: ...

    def is_initial(self, id: int) -> bool: ...

    def drop_member(self, member: ClusterMember) -> None: ...

    def isolate(self, member: ClusterMember, isolated: bool) -> None: ...

    async def begin(self, member: ClusterMember) -> None: ...

    async def end(self, member: ClusterMember, *, in_order: bool) -> None: ...

    async def joined(self) -> bool: ...

    async def replace_controller(self, replacing: Awaitable[None]) -> None: ...


async def reset(cluster: RestartedCluster) -> None:
    """Restarts it empty, with the brokers that it had at the start."""
    former = former_members([member.node for member in cluster.members])
    await _end_members(cluster)
    for member in list(cluster.members_by_id.values()):
        member.data.erase(cluster.clock.now(), cluster.cluster_id)
        if not cluster.is_initial(member.id):
            cluster.drop_member(member)
    await cluster.replace_controller(cluster.controlling.reset())
    for member in cluster.members_by_id.values():
        await cluster.begin(member)
        if member.broker is not None:
            member.broker.node.former_members = former
    await cluster.joined()


async def _end_members(cluster: RestartedCluster) -> None:
    """Stops every broker, and makes removed brokers members again."""
    cluster.members_by_id = dict(sorted({**cluster.members_by_id, **cluster.removed}.items()))
    cluster.removed.clear()
    for member in list(cluster.members_by_id.values()):
        cluster.isolate(member, False)
        await cluster.end(member, in_order=False)


def save(cluster: RestartedCluster) -> dict[int, SavedLogs]:
    """A copy of what each node keeps, by its id, as after an orderly stop of those that run.
    DiskFailure."""
    saved = {cluster.controlling.node.id: cluster.controlling.save()}
    for id, member in cluster.members_by_id.items():
        node = None if member.broker is None else member.broker.node
        logs, epoch = (None, -1) if node is None else (node.logs, node.broker_epoch)
        saved[id] = member.data.save(logs, cluster.clock.now(), epoch)
    return saved


async def restore(cluster: RestartedCluster, saved: Mapping[int, SavedLogs]) -> None:
    """Restarts it with the data and the brokers that were saved; these do not run yet. A broker of
    the start that was not saved is a removed one. DiskFailure."""
    await _end_members(cluster)
    for id, member in list(cluster.members_by_id.items()):
        if id in saved:
            member.data.put(saved[id], cluster.clock.now(), cluster.cluster_id)
            continue
        member.data.erase(cluster.clock.now(), cluster.cluster_id)
        if cluster.is_initial(id):
            cluster.removed[id] = cluster.members_by_id.pop(id)
        else:
            cluster.drop_member(member)
    await cluster.replace_controller(cluster.controlling.restore(saved[cluster.controlling.node.id]))
