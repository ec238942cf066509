"""What may befall a cluster: a table of things that happen, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

from .cluster import Cluster
from .network import CALM, Weather
from .node import Node

WEATHERS = (
    CALM,
    Weather(delay=(1, 40)),
    Weather(delay=(0, 10), late=0.1),
    Weather(delay=(0, 10), lost=0.1),
    Weather(delay=(0, 200), twice=0.2, late=0.05),
    Weather(delay=(0, 20), twice=0.1, lost=0.05, late=0.05, damaged=0.2),
    Weather(delay=(0, 700), lost=0.2),
)


def on(which: Callable[[Any], Any], deed: Callable[[Any], object]) -> Callable[[Any], None]:
    """Does this to the node that is found, if one is."""

    def fault(cluster: Any) -> None:
        if (node := which(cluster)) is not None:
            deed(node)

    return fault


def among(weathers: Sequence[Weather]) -> Callable[[Any], None]:
    """Changes the weather."""

    def fault(cluster: Any) -> None:
        cluster.network.weather = cluster.world.random.choice(weathers)
        cluster.world.note("the network: {!r}", cluster.network.weather)

    return fault


def heal(cluster: Any) -> None:
    cluster.world.note("the network is whole")
    cluster.network.heal()


def _up(cluster: Cluster) -> Node | None:
    found = cluster.up()
    return cluster.world.random.choice(found) if found else None


def _leader(cluster: Cluster) -> Node | None:
    return cluster.leader


change_weather = among(WEATHERS)
kill = on(_up, methodcaller("kill"))
kill_leader = on(_leader, methodcaller("kill"))
pause = on(_up, methodcaller("pause"))
resign = on(_leader, methodcaller("resign"))
shut_down = on(_up, methodcaller("shutdown"))


def die_when_writing(cluster: Cluster) -> None:
    """At one of the next changes of the disk, wherever that is; also while it starts."""
    cluster.world.random.choice([*cluster.nodes.values()]).die_when_writing(cluster.world.random.randint(0, 6))


def lose_power(cluster: Cluster) -> None:
    node = cluster.world.random.choice([*cluster.nodes.values()])
    node.lose_power()


def lose_power_everywhere(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        node.lose_power()


def fail_disk(cluster: Cluster) -> None:
    """No change of it is possible any more."""
    node = cluster.world.random.choice([*cluster.nodes.values()])
    cluster.world.note("the disk of node {} fails", node.id)
    node.disk.failing = True


def mend_disks(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        node.mend_disk()


def start(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        if not node.is_up:
            node.start()
            return


def start_all(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        node.start()


def resume_all(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        node.resume()


def cut_one_way(cluster: Cluster) -> None:
    if len(cluster.nodes) > 1:
        sender, receiver = cluster.world.random.sample([*cluster.nodes], 2)
        cluster.world.note("node {} does not get through to node {}", sender, receiver)
        cluster.network.cut(sender, receiver)


def isolate(cluster: Cluster) -> None:
    node = cluster.world.random.choice([*cluster.nodes])
    cluster.world.note("node {} is cut off", node)
    cluster.network.isolate(node, cluster.nodes)


def split(cluster: Cluster) -> None:
    ids = [*cluster.nodes]
    cluster.world.random.shuffle(ids)
    at = cluster.world.random.randrange(len(ids))
    cluster.world.note("the network is split between {} and {}", ids[:at], ids[at:])
    cluster.network.split(ids[:at], ids[at:])


Fault = Callable[[Cluster], None]

FAULTS: tuple[tuple[Fault, int], ...] = (
    (kill, 3), (die_when_writing, 3), (kill_leader, 3), (lose_power, 4), (lose_power_everywhere, 1), (start, 8), (start_all, 3), (pause, 2),
    (resume_all, 3), (cut_one_way, 3), (isolate, 2), (split, 3), (heal, 6), (change_weather, 5), (resign, 1), (shut_down, 1),
    (fail_disk, 1), (mend_disks, 2),
)  # fmt: skip
"""What, and how often in comparison."""

_WHAT, _HOW_OFTEN = [fault for fault, _ in FAULTS], [weight for _, weight in FAULTS]


def suffer(cluster: Cluster, count: int, longest: int = 1500) -> None:
    """So many faults, one after the other, with some time in between."""
    random = cluster.world.random
    for fault in random.choices(_WHAT, _HOW_OFTEN, k=count):
        fault(cluster)
        cluster.world.run_for(random.choice((1, 20, 100, random.randint(0, longest))))
