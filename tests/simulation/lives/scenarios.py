"""Scenarios of whole lives: each is a shape, and lives that end in different ways; after each life
the same checks apply."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

from kafkadouble.messages.api_keys import ApiKeys

from ..world import Ended
from . import deeds
from .cluster import Cluster
from .member import LivesMember
from .shape import (
    CHECKPOINT_MS,
    DELETE_DELAY_MS,
    SNAPSHOTS_CHECK_MS,
    LivesShape,
    of_combined,
    several,
    single,
    transactional,
)

STOP_WITHIN = 5000
ENDS: dict[str, int] = {"stop": 4, "kill": 3, "power": 3, "full": 1}


def lives(cluster: Cluster) -> None:
    """Some lives with random actions; each ends for one node or for all, in different ways."""
    random = cluster.world.random
    for _ in range(random.randint(2, 4)):
        deeds.some(cluster, random.randint(2, 12))
        members = [*cluster.members.values()]
        if random.random() < 0.6:
            members = [random.choice(members)]
        how = random.choices(list(ENDS), list(ENDS.values()))[0]
        restart(cluster, random.sample(members, len(members)), how)
    cluster.rest()


def metadata_is_trimmed(cluster: Cluster) -> None:
    """The metadata log begins inside a segment, at the beginning of one, or at its end; and a node
    starts on it."""
    random = cluster.world.random
    for _ in range(random.randint(2, 3)):
        for _ in range(random.randint(1, 3)):
            deeds.configure(cluster)
        cluster.world.run_for(random.choice((100, SNAPSHOTS_CHECK_MS, SNAPSHOTS_CHECK_MS)))
        deeds.some(cluster, random.choice((0, 1)))
        how = random.choice(("stop", "stop", "kill", "power"))
        restart(cluster, [*cluster.members.values()], how)
    cluster.rest()


def nodes_restart(cluster: Cluster) -> None:
    """All nodes restart, together or one after the other, and topics are created in each life."""
    random = cluster.world.random
    for _ in range(random.randint(2, 3)):
        deeds.come_and_go(cluster)
        members = [*cluster.members.values()]
        how = random.choice(("stop", "kill"))
        if random.random() < 0.5:
            restart(cluster, members, how)
        else:
            for member in members:
                restart(cluster, [member], how)


def replicas_are_cleaned(cluster: Cluster) -> None:
    """Writes so much that retention and compaction have work to do, on each replica."""
    for key in cluster.partitions():
        deeds.write(cluster, key, 80)
    restart(cluster, [*cluster.members.values()], cluster.world.random.choice(("stop", "kill")))
    cluster.rest()


def topics_come_and_go(cluster: Cluster) -> None:
    """A topic is deleted, and the node ends before all its traces are removed."""
    random = cluster.world.random
    for _ in range(random.randint(2, 4)):
        deeds.come_and_go(cluster)
        cluster.world.run_for(random.choice((CHECKPOINT_MS, 1000)))
        deeds.come_and_go(cluster)
        cluster.world.run_for(random.choice((100, DELETE_DELAY_MS, 2 * DELETE_DELAY_MS)))
        restart(cluster, [*cluster.members.values()], random.choice(("stop", "kill", "kill")))


def transactions(cluster: Cluster) -> None:
    """Nodes end in the middle of transactions, and find them again in their files. Without a flush
    of every record none loses its power, because a promise of transactions may be broken then."""
    random = cluster.world.random
    assert cluster.transactions is not None
    ends = {how: chance for how, chance in ENDS.items() if how != "power" or cluster.shape.flushing}
    # Late markers: more nodes end between a decision and its markers.
    cluster.wires.late_ms[ApiKeys.WRITE_TXN_MARKERS] = random.choice((0, 300))
    for _ in range(random.randint(2, 3)):
        cluster.world.run_for(random.randint(500, 3000))
        if random.random() < 0.5:
            with suppress(Ended):
                cluster.world.run_until(cluster.transactions.is_one_decided, 2000)
        members = [*cluster.members.values()]
        if random.random() < 0.5:
            members = [random.choice(members)]
        restart(cluster, members, random.choices(list(ends), list(ends.values()))[0])
        cluster.transactions.check()
    cluster.world.run_for(random.randint(0, 1000))
    cluster.transactions.end()


def restart(cluster: Cluster, members: list[LivesMember], how: str) -> None:
    """These nodes end, together or one after the other, and start again."""
    random = cluster.world.random
    pause = random.choice((0, 0, 2000))
    for member in members:
        end(member, how)
        cluster.world.run_for(random.randint(0, pause))
    cluster.require(lambda: not any(member.is_up for member in members), "a node does not stop", STOP_WITHIN)
    for member in members:
        cluster.end_of_life(member)
    deeds.some(cluster, random.choice((0, 0, 3)))
    for member in [*cluster.down()]:
        member.start()
        cluster.world.run_for(random.randint(0, pause))
    cluster.come_back()


def end(member: LivesMember, how: str) -> None:
    if how == "full":
        member.machine.fill(member.cluster.world.random.choice(list(member.machine.disks)))
        member.cluster.world.run_for(member.cluster.world.random.choice((1, 3000)))
    if how == "power":
        member.lose_power() if member.is_up else None
    elif how == "stop":
        member.stop()
    else:
        member.kill()
        member.how = how


Play = Callable[[Cluster], None]
Scenario = tuple[Callable[[Random], LivesShape], Play]

SCENARIOS: dict[str, Scenario] = {
    "single": (single, lives),
    "several": (several, lives),
    "metadata_is_trimmed": (single, metadata_is_trimmed),
    "metadata_of_several_is_trimmed": (several, metadata_is_trimmed),
    "replicas_are_cleaned": (partial(several, partitions=1), replicas_are_cleaned),
    "topics_come_and_go": (single, topics_come_and_go),
    "nodes_restart": (several, nodes_restart),
    "combined_nodes_restart": (of_combined, nodes_restart),
    "transactions_of_one": (partial(single, transactional=2, flushing=True), transactions),
    "transactions": (transactional, transactions),
    "transactions_are_flushed": (partial(transactional, flushing=True), transactions),
}

ROUND = ("single", "single", *SCENARIOS)
"""The scenario that each seed plays."""


def scenario_of(seed: int) -> str:
    return ROUND[seed % len(ROUND)]
