"""The faults that a cluster suffers, in a table with their frequencies."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest

from ..faults import among, heal, on
from ..network import CALM, Weather
from .cluster import Cluster
from .member import Member
from .shape import TOPIC

WEATHERS = (
    CALM,
    Weather(delay=(1, 40)),
    Weather(delay=(0, 10), late=0.1),
    Weather(delay=(0, 10), lost=0.05),
    Weather(delay=(0, 150), late=0.05),
    Weather(delay=(0, 20), lost=0.1, late=0.05),
)


def _any(cluster: Cluster) -> Member | None:
    brokers = [broker for broker in cluster.brokers if broker.is_up]
    return cluster.world.random.choice(brokers) if brokers else None


def _index(cluster: Cluster) -> int:
    return cluster.world.random.choice(cluster.partitions)


def _leader(cluster: Cluster) -> Member | None:
    return cluster.leader(_index(cluster))


def kill_controller(cluster: Cluster) -> None:
    member = cluster.controller
    if member is not None:
        member.kill()
        cluster.world.after(cluster.world.random.randint(0, 3000), member.start)


def take_down(member: Member) -> None:
    """Takes a node down by a loss of power, if its machine can lose that."""
    if member.is_up and member.cluster.shape.on_disks and member.is_broker:
        member.lose_power()
    else:
        member.kill()


change_weather = among(WEATHERS)
kill_broker = on(_any, methodcaller("kill"))
kill_leader = on(_leader, methodcaller("kill"))
lose_power = on(_any, take_down)
lose_power_of_leader = on(_leader, take_down)
stop = on(_any, methodcaller("stop"))
pause = on(_any, methodcaller("pause"))
pause_leader = on(_leader, methodcaller("pause"))


def lose_power_everywhere(cluster: Cluster) -> None:
    for member in cluster.brokers:
        take_down(member)


def start(cluster: Cluster) -> None:
    for member in cluster.members.values():
        if not member.is_up:
            member.start()
            return


def start_all(cluster: Cluster) -> None:
    for member in cluster.members.values():
        member.start()


def resume_all(cluster: Cluster) -> None:
    for member in cluster.members.values():
        member.resume()


def slow_disk(cluster: Cluster) -> None:
    if (member := _any(cluster)) is not None:
        member.disk_ms = cluster.world.random.choice((0, 50, 600))
        cluster.world.note("the disk of {} takes {} ms", member.id, member.disk_ms)


def cut_one_way(cluster: Cluster) -> None:
    sender, receiver = cluster.world.random.sample([*cluster.members], 2)
    cluster.world.note("{} does not get through to {}", sender, receiver)
    cluster.network.cut(sender, receiver)


def isolate(cluster: Cluster) -> None:
    """Isolates a broker from the other nodes, not from clients: a deposed leader may believe that
    it still leads."""
    id = cluster.world.random.choice(cluster.shape.broker_ids)
    cluster.world.note("{} is cut off", id)
    cluster.network.isolate(id, cluster.members)


def isolate_leader(cluster: Cluster) -> None:
    if (member := _leader(cluster)) is not None:
        cluster.world.note("{} leads, and is cut off", member.id)
        cluster.network.isolate(member.id, cluster.members)


def isolate_controller(cluster: Cluster) -> None:
    if (member := cluster.controller) is not None:
        cluster.world.note("{} leads the quorum, and is cut off", member.id)
        cluster.network.isolate(member.id, cluster.members)


def cut_from_controllers(cluster: Cluster) -> None:
    """Cuts off a leader from the controllers, but not from its followers."""
    if (member := _leader(cluster)) is not None:
        cluster.world.note("{} leads, and is cut off from the controllers", member.id)
        cluster.network.isolate(member.id, cluster.shape.controller_ids)


def prefer(cluster: Cluster) -> None:
    """Requests an election of the preferred leaders."""
    cluster.tell_controller(ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=1000), 2)


def reassign(cluster: Cluster) -> None:
    """Starts a reassignment, unless one is in progress: if it is replaced by another one that
    removes a replica it adds, Kafka's controller waits for ever for that replica to be in sync."""
    shape, random, index = cluster.shape, cluster.world.random, _index(cluster)
    if cluster.partition(index).adding_replicas or cluster.partition(index).removing_replicas:
        return
    replicas = random.sample(shape.broker_ids, shape.replicas)
    cluster.world.note("partition {} is to be on {}", index, replicas)
    cluster.tell_controller(_reassignment(index, replicas), 0)


def cancel_reassignment(cluster: Cluster) -> None:
    cluster.tell_controller(_reassignment(_index(cluster), None), 0)


def _reassignment(index: int, replicas: list[int] | None) -> Any:
    of = AlterPartitionReassignmentsRequest
    partition = of.ReassignablePartition(partition_index=index, replicas=replicas)
    return of(timeout_ms=1000, topics=[of.ReassignableTopic(name=TOPIC, partitions=[partition])])


Fault = Callable[[Cluster], None]

FAULTS: tuple[tuple[Fault, int], ...] = (
    (kill_broker, 3), (kill_leader, 3), (kill_controller, 1), (lose_power, 2), (lose_power_of_leader, 2), (lose_power_everywhere, 1),
    (start, 8), (start_all, 5), (stop, 2), (pause, 2), (pause_leader, 2), (resume_all, 5), (slow_disk, 1), (cut_one_way, 3), (isolate, 2),
    (isolate_leader, 3), (cut_from_controllers, 2), (heal, 8), (change_weather, 4), (prefer, 2), (reassign, 2), (cancel_reassignment, 1),
)  # fmt: skip
"""The faults, and their relative frequencies."""

_WHAT, _HOW_OFTEN = [fault for fault, _ in FAULTS], [weight for _, weight in FAULTS]


def suffer(cluster: Cluster, count: int, longest: int = 4500) -> None:
    """Causes `count` faults, one after the other, with a pause after each."""
    random = cluster.world.random
    for fault in random.choices(_WHAT, _HOW_OFTEN, k=count):
        fault(cluster)
        cluster.world.run_for(random.choice((1, 20, 200, random.randint(0, longest))))
