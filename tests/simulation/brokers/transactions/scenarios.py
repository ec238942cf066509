"""The scenarios that transactions must survive. At the end of each, every transaction has ended,
the same way in every partition, and read_committed consumers have returned what was committed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import cast

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.transactions.transaction_state import PREPARED

from ...network import Weather
from .. import faults, scenarios
from ..cluster import Cluster
from ..member import Member
from ..scenarios import Scenario
from ..shape import HIGHEST_LEVEL, REQUEST_MS, SESSION_MS, Shape, shape
from .cluster import TransactionalCluster
from .watch import COORDINATORS


def goes_on(cluster: Cluster) -> None:
    """Nothing fails but producers; messages are late."""
    cluster.network.weather = Weather(delay=(0, 12), late=0.03, latest=4000, lost=0.01)
    cluster.world.run_for(cluster.world.random.randint(6000, 12_000))


def coordinators_die(cluster: Cluster) -> None:
    """Coordinators and leaders are killed or cut off, in the middle of transactions."""
    random = cluster.world.random
    cluster.world.run_for(random.randint(200, 2000))
    for _ in range(random.randint(1, 2)):
        coordinator = cast(TransactionalCluster, cluster).coordinator(random.randrange(COORDINATORS))
        victim = coordinator if random.random() < 0.7 else cluster.leader(random.choice(cluster.partitions))
        if victim is not None:
            member = cluster.members[victim.id]
            how = cluster.world.random.choice(("kill", "isolate", "stop"))
            if how == "isolate":
                cluster.world.note("{} is cut off", victim.id)
                cluster.network.isolate(victim.id, cluster.members)
            elif how == "kill":
                member.kill()
            else:
                member.stop()
        cluster.world.run_for(random.randint(SESSION_MS, SESSION_MS + 1500))
        cluster.network.heal()
        faults.start_all(cluster)
        cluster.world.run_for(random.randint(0, 1000))


def everything_restarts(cluster: Cluster) -> None:
    """All nodes end in the middle of transactions, and start again."""
    random = cluster.world.random
    cluster.world.run_for(random.randint(500, 2500))
    ends = random.choice((Member.stop, Member.kill, faults.take_down))
    scenarios.restart_everything(cluster, ends, random.choice(((0, 0), (0, 300))))
    cluster.world.run_for(random.randint(0, 1000))


def markers_come_late(cluster: Cluster) -> None:
    """A transaction is decided, and its markers are under way, when its coordinator goes. The
    successor sends them, too, and the next transaction begins before the late markers arrive."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        cluster.world.run_for(random.randint(200, 800))
        cluster.wires.late_ms[ApiKeys.WRITE_TXN_MARKERS] = late = random.randint(500, REQUEST_MS - 50)
        cluster.world.note("markers are {} ms late", late)
        scenarios.run_until(cluster, lambda: _decided(cluster) is not None, 1500)
        coordinator = _decided(cluster)
        if coordinator is not None:
            random.choice((coordinator.kill, coordinator.stop, coordinator.stop, coordinator.stop))()
        cluster.wires.late_ms.clear()
        cluster.world.run_for(random.choice((1500, SESSION_MS)))
        faults.start_all(cluster)


def _decided(cluster: Cluster) -> Member | None:
    """A coordinator that waits for the markers of a transaction."""
    for index in range(COORDINATORS):
        member = cast(TransactionalCluster, cluster).coordinator(index)
        shard = member.node.transactions.runtime.shard_at(index) if member is not None and member.node else None
        if shard is not None and any(entry.metadata.state in PREPARED for entry in shard.entries.values()):
            return member
    return None


def of_transactions(random: Random, **fixed: object) -> Shape:
    """A shape with transactional producers; few other clients."""
    brokers = random.choice((3, 3, 4))
    drawn: dict[str, object] = {
        "brokers": brokers,
        "partitions": 2,
        "replicas": min(3, brokers),
        "min_isr": random.choice((1, 2, 2)),
        "racks": random.random() < 0.5,
        "large": False,
        "producers": random.choice((0, 1)),
        "consumers": random.choice((0, 1)),
        "acks": (-1,),
        "on_disks": False,
        "transactional": random.choice((2, 2, 3)),
    }
    made = shape(random, **{**drawn, **fixed})
    level = random.choice((HIGHEST_LEVEL, HIGHEST_LEVEL, HIGHEST_LEVEL, 1, 0))
    return replace(made, transaction_version=level, is_upgraded=level < HIGHEST_LEVEL and random.random() < 0.5)


_on_disks = partial(of_transactions, on_disks=True, flushing=True)

TRANSACTIONAL: dict[str, Scenario] = {
    "transactions": (of_transactions, goes_on),
    "transactions_suffer_anything": (of_transactions, scenarios.anything),
    "coordinators_die": (of_transactions, coordinators_die),
    "markers_come_late": (partial(of_transactions, transactions_versions=(1, 1, 2)), markers_come_late),
    "leaders_of_transactions_die": (of_transactions, scenarios.leaders_die),
    "in_sync_sets_change_under_transactions": (of_transactions, scenarios.in_sync_sets_change),
    "transactions_without_power": (_on_disks, scenarios.power_fails),
    "transactions_restart": (_on_disks, everything_restarts),
}
