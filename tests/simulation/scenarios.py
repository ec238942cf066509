"""The scenarios that the quorum must survive: each is a shape of a cluster, and a play. At the end
of each, all faults are over, all nodes are back, one node leads, and all logs are equal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import NamedTuple

from . import catching_up, faults, members, shapes
from .cluster import Cluster, Shape
from .network import Weather
from .world import Broken, Ended

DESERTED_WITHIN = 3000 + 500 + 300
"""1.5 times the fetch timeout, a long poll that was still parked, and messages in flight."""

SUCCEEDED_WITHIN = 1300
"""The longest time that a successor waits for the preferred ones before it, and some messages: no
node waits for a timeout."""


def first_election(cluster: Cluster) -> None:
    """Any number of nodes, started at any time, in any weather."""
    if cluster.world.random.random() < 0.5:
        faults.change_weather(cluster)
    cluster.start()
    cluster.world.run_for(5000)


def alone(cluster: Cluster) -> None:
    """The only voter leads in its first tick, and loses nothing that it reported as committed."""
    cluster.start()
    only = cluster.nodes[0]
    for _ in range(4):
        cluster.world.run_until(lambda: only.is_up, 600)
        if not only.leads:
            raise Broken(f"{only!r} is alone, and does not lead at once")
        cluster.world.run_for(cluster.world.random.randint(1, 800))
        cluster.world.random.choice((only.kill, only.lose_power))()
        cluster.world.after(300, only.start)


def _another_election(cluster: Cluster) -> Callable[[], bool]:
    before = cluster.watch.elections
    return lambda: cluster.watch.elections > before


def leader_fails(cluster: Cluster) -> None:
    leader = cluster.begin()
    cluster.world.random.choice((leader.kill, leader.lose_power))()
    cluster.await_agreement()
    if len(cluster.up()) > 1:
        cluster.await_progress(5, [node.id for node in cluster.up()])


def leaders_fail_one_after_another(cluster: Cluster) -> None:
    cluster.begin()
    for _ in range(3):
        leader = cluster.leader
        if leader is not None:
            leader.kill()
            cluster.world.after(cluster.world.random.randint(0, 4000), leader.start)
        cluster.require(_another_election(cluster), "no new leader")
        cluster.world.run_for(cluster.world.random.randint(0, 200))


def all_fail(cluster: Cluster) -> None:
    cluster.begin()
    cluster.world.run_for(cluster.world.random.randint(0, 300))
    for node in cluster.nodes.values():
        cluster.world.random.choice((node.kill, node.lose_power))()
    for node in cluster.nodes.values():
        cluster.world.after(cluster.world.random.randint(0, 3000), node.start)
    cluster.world.run_for(3000)


def leaders_write_alone(cluster: Cluster) -> None:
    """Each new leader is cut off at once, and its records reach no other node: so logs diverge in
    many epochs (KIP-279)."""
    cluster.begin()
    random = cluster.world.random
    for _ in range(random.randint(3, 7)):
        leader = cluster.leader
        if leader is not None:
            cluster.network.heal()
            cluster.world.note("node {} leads, and is alone with it", leader.id)
            cluster.network.isolate(leader.id, cluster.nodes)
            for _ in range(random.randint(0, 4)):
                leader.append(cluster.values())
        with suppress(Ended):
            cluster.world.run_until(_another_election(cluster), 8000)


def leaders_write_alone_and_forget(cluster: Cluster) -> None:
    """As before, with more records, while the other nodes go on, and keep only snapshots: the old
    leader has a long log of an old epoch."""
    cluster.begin()
    random = cluster.world.random
    for _ in range(random.randint(1, 2)):
        leader = cluster.leader
        if leader is not None:
            cluster.world.note("node {} leads, and is alone with it", leader.id)
            cluster.network.isolate(leader.id, cluster.nodes)
            for _ in range(random.randint(0, 50)):
                leader.append(cluster.values())
            others = [id for id in cluster.nodes if id != leader.id]
            cluster.await_agreement(others)
            cluster.await_progress(25, others)
        cluster.network.heal()
        cluster.await_progress(5)


def elections_are_contested(cluster: Cluster) -> None:
    """Timeouts shorter than the network's delays: many candidates at the same time, and voters die
    and come back meanwhile."""
    cluster.network.weather = Weather(delay=(0, 60), late=0.05, latest=300)
    random = cluster.world.random
    for node in cluster.nodes.values():
        node.start()
    for _ in range(random.randint(10, 60)):
        cluster.world.run_for(random.randint(1, 60))
        node = random.choice([*cluster.nodes.values()])
        random.choice((node.kill, node.lose_power))()
        node.start()
    cluster.start()


def leader_is_cut_off(cluster: Cluster) -> None:
    """The leader must stop leading: its clients would get no news for ever."""
    leader = cluster.begin()
    others = [id for id in cluster.nodes if id != leader.id]
    cluster.network.isolate(leader.id, others)
    cluster.world.note("node {} leads, and is cut off", leader.id)
    cluster.world.run_for(DESERTED_WITHIN)
    if leader.leads:
        raise Broken(f"{leader!r} still leads, deserted by every voter")
    cluster.await_agreement(others)
    cluster.await_progress(5, others)


def only_odd_ways_are_left(cluster: Cluster) -> None:
    """Five voters; three reach one another, the other two reach one of them each. Then a ring. Some
    node always reaches a majority."""
    cluster.begin()
    network, ids = cluster.network, list(cluster.voter_ids)
    cluster.world.random.shuffle(ids)
    for ways in (((0, 1), (1, 2), (2, 0), (3, 0), (4, 1)), ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))):
        network.heal()
        there = [(ids[one], ids[other]) for one, other in ways]
        cluster.world.note("only these reach one another: {}", there)
        for node in cluster.nodes:
            network.isolate(node, cluster.nodes)
        for one, other in there:
            network.join(one, other)
            network.join(other, one)
        goal = cluster.watch.committed.end + 10
        cluster.require(
            lambda goal=goal: cluster.watch.committed.end >= goal, "a majority is there, and nothing is committed"
        )


def minority_comes_and_goes(cluster: Cluster) -> None:
    """A majority stays with its leader, so no election is needed: the epoch stays the same
    (KIP-996)."""
    leader = cluster.begin()
    random, epoch = cluster.world.random, leader.replica.epoch if leader.replica else -1
    for _ in range(3):
        followers = [id for id in cluster.voter_ids if id != leader.id]
        gone = random.sample(followers, random.randint(1, (len(cluster.voter_ids) - 1) // 2))
        # Without new records, the log of the cut off nodes is as long as any other.
        cluster.writes = random.random() < 0.5
        for id in gone:
            cluster.world.note("node {} loses sight of some", id)
            for other in random.sample([*cluster.nodes], random.randint(1, len(cluster.nodes))):
                random.choice((cluster.network.cut, lambda a, b: cluster.network.cut(b, a)))(id, other)
            cluster.network.cut(leader.id, id)
        cluster.world.run_for(random.randint(100, 9000))
        cluster.network.heal()
        cluster.writes = True
        cluster.await_progress(5)
        cluster.world.run_for(random.randint(0, 1000))
    if cluster.leader is not leader or leader.replica is None or leader.replica.epoch != epoch:
        raise Broken(f"another election than that of {leader.id} in epoch {epoch}, while a majority followed it")


def leader_resigns(cluster: Cluster) -> None:
    """The best of the other voters takes over at once, without waiting for a timeout."""
    leader = cluster.begin()
    cluster.world.random.choice((leader.resign, leader.shutdown))()
    begun = cluster.world.now
    cluster.require(lambda: cluster.leader not in (None, leader), "no new leader")
    if cluster.world.now - begun > SUCCEEDED_WITHIN:
        raise Broken(f"the successor of {leader.id} leads only after {cluster.world.now - begun} ms")


def processes_die_while_they_write(cluster: Cluster) -> None:
    """Processes die between a write and its flush: after the restart the data is there, but a loss
    of power could still take it."""
    cluster.begin()
    random = cluster.world.random
    for _ in range(random.randint(3, 10)):
        node = random.choice([*cluster.nodes.values()])
        node.die_when_writing(random.randint(0, 6))
        cluster.world.run_for(random.randint(0, 1500))
        if random.random() < 0.3:
            node.lose_power()
        faults.start_all(cluster)


def disks_fail(cluster: Cluster) -> None:
    """A node that cannot write gives up, and the others go on; after the repair it joins them
    again."""
    cluster.begin()
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        minority = random.sample(cluster.voter_ids, (len(cluster.voter_ids) - 1) // 2)
        for id in minority:
            cluster.world.note("the disk of node {} fails", id)
            cluster.nodes[id].disk.failing = True
            cluster.world.run_for(random.randint(0, 300))
        cluster.await_progress(10, [id for id in cluster.voter_ids if id not in minority])
        cluster.end_faults()
        cluster.await_agreement()


def rolling_restart(cluster: Cluster) -> None:
    cluster.begin()
    for node in cluster.nodes.values():
        node.shutdown()
        cluster.require(lambda node=node: not node.is_up, f"{node!r} does not stop")
        cluster.world.run_for(cluster.world.random.randint(0, 500))
        node.start()
        cluster.await_agreement()


def nodes_hang(cluster: Cluster) -> None:
    cluster.begin()
    random = cluster.world.random
    for _ in range(5):
        node = cluster.leader if random.random() < 0.5 else None
        (node or random.choice([*cluster.nodes.values()])).pause()
        cluster.world.run_for(random.randint(0, 6000))
        faults.resume_all(cluster)
        cluster.world.run_for(random.randint(0, 1000))


def disk_is_lost(cluster: Cluster) -> None:
    """Committed records survive the loss of one disk, if there is a new leader before the node is
    back (facts of KIP-595)."""
    cluster.begin()
    node = cluster.nodes[cluster.world.random.choice(cluster.voter_ids)]
    others = [id for id in cluster.nodes if id != node.id]
    cluster.watch.forget(node.key)
    node.lose_disk(cluster.formatted_with(node.id), same_directory=True)
    cluster.require(lambda: cluster.leader not in (None, node) and cluster.agree(others), "no leader without it")
    cluster.await_progress(5, others)
    node.start()


def bad_network(cluster: Cluster) -> None:
    cluster.start()
    for _ in range(8):
        faults.change_weather(cluster)
        cluster.world.run_for(cluster.world.random.randint(100, 2500))


def anything(cluster: Cluster) -> None:
    cluster.start()
    cluster.world.run_for(2500)
    faults.suffer(cluster, cluster.world.random.randint(10, 40))


class Scenario(NamedTuple):
    """The shape for a seed, and the actions."""

    shape: Callable[[Random], Shape]
    play: Callable[[Cluster], None]


SCENARIOS: dict[str, Scenario] = {
    scenario.play.__name__: scenario
    for scenario in (
        Scenario(shapes.shape, first_election),
        Scenario(shapes.one, alone),
        Scenario(shapes.three, leader_fails),
        Scenario(shapes.three, leaders_fail_one_after_another),
        Scenario(shapes.shape, all_fail),
        Scenario(shapes.three, leaders_write_alone),
        Scenario(shapes.hasty, elections_are_contested),
        Scenario(shapes.three, leader_is_cut_off),
        Scenario(shapes.five, only_odd_ways_are_left),
        Scenario(shapes.three_alike, minority_comes_and_goes),
        Scenario(shapes.three_alike, leader_resigns),
        Scenario(shapes.shape, processes_die_while_they_write),
        Scenario(shapes.three, disks_fail),
        Scenario(shapes.three, rolling_restart),
        Scenario(shapes.shape, nodes_hang),
        Scenario(shapes.three, disk_is_lost),
        Scenario(shapes.shape, bad_network),
        Scenario(shapes.forgetful, leaders_write_alone_and_forget),
        Scenario(shapes.forgetful, catching_up.absent_replica_takes_a_snapshot),
        Scenario(shapes.forgetful_static, catching_up.newcomers_take_a_snapshot),
        Scenario(shapes.forgetful, catching_up.snapshots_are_read_from_outside),
        Scenario(shapes.growing, members.come_and_go),
        Scenario(shapes.upgraded, members.put_into_the_log),
        Scenario(shapes.moving, members.move_away),
        Scenario(shapes.moving, members.are_changed_alone),
        Scenario(shapes.joining, members.are_replaced),
        Scenario(shapes.shape, anything),
    )
}

ROUND = (*SCENARIOS, "anything", "come_and_go", "anything", "anything")
"""The scenarios in the order in which seeds play them."""


def scenario_of(seed: int) -> str:
    return ROUND[seed % len(ROUND)]
