"""The scenarios that replication must survive: each is a shape of a cluster, and a play. At the end
of each, all faults are over, every partition is led, all replicas are in sync and have the same
log, and the clients have read and written everything."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random

from kafkadouble.server.network.listener import RETIRE_MS

from ..faults import heal
from ..network import CALM, Weather
from ..world import Ended
from . import faults
from .cluster import Cluster
from .member import Member
from .shape import LAG_MS, SESSION_MS, Shape, shape

FENCED_WITHIN = SESSION_MS + 1500
"""A session, the time until the controller checks it, and the time until the elected broker learns
of it."""

BACK_WITHIN = 3 * SESSION_MS
"""The time in which all brokers of a starting cluster accept clients: an election, the sessions of
their last runs, two registrations."""

OUT_WITHIN = 2 * LAG_MS + 1500
"""The time in which a lagging follower leaves the in-sync set: the lag, and the time until the
leader checks it."""


def calm(cluster: Cluster) -> None:
    cluster.world.run_for(2000)


def anything(cluster: Cluster) -> None:
    faults.suffer(cluster, cluster.world.random.randint(4, 12))


def leaders_die(cluster: Cluster) -> None:
    """Leaders are killed one after the other, and come back."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        leader = cluster.leader(random.choice(cluster.partitions))
        if leader is not None:
            leader.kill()
            cluster.world.after(random.randint(0, 2 * SESSION_MS), leader.start)
        cluster.world.run_for(random.randint(SESSION_MS, 2 * SESSION_MS))


def leader_dies_and_another_leads(cluster: Cluster) -> None:
    """If other replicas are in sync, one leads within a session, and the answers that clients got
    stay true."""
    index = cluster.world.random.choice(cluster.partitions)
    leader = cluster.leader(index)
    assert leader is not None
    faults.take_down(leader)
    cluster.require(lambda: cluster.leader(index) not in (None, leader), "no other broker leads", FENCED_WITHIN)


def follower_restarts_and_leads(cluster: Cluster) -> None:
    """KIP-101, scenario 1: a follower that does not know the high watermark yet restarts, and leads
    at once."""
    random = cluster.world.random
    for _ in range(random.randint(1, 2)):
        index = random.choice(cluster.partitions)
        leader = cluster.leader(index)
        followers = [cluster.members[id] for id in cluster.partition(index).isr if cluster.members[id] is not leader]
        if leader is not None and followers:
            follower = random.choice(followers)
            random.choice((follower.kill, follower.stop))()
            cluster.world.run_for(random.randint(0, 300))
            cluster.world.after(random.randint(0, 50), follower.start)
            cluster.world.run_for(random.choice((100, SESSION_MS + 1000)))
            leader.kill()
            cluster.world.run_for(SESSION_MS + 1000)
        faults.start_all(cluster)
        cluster.world.run_for(random.randint(0, 2000))


def power_fails(cluster: Cluster) -> None:
    """Power fails on some or all of the machines, at different times."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        for member in random.sample(cluster.brokers, random.randint(1, len(cluster.brokers))):
            faults.take_down(member)
            cluster.world.after(random.choice((0, 500, random.randint(0, 2 * SESSION_MS))), member.start)
            cluster.world.run_for(random.choice((0, 50, random.randint(0, SESSION_MS))))
        cluster.world.run_for(random.randint(0, 2 * SESSION_MS))
        faults.start_all(cluster)


def followers_forget(cluster: Cluster) -> None:
    """Machines lose power and are back soon, some with fewer records than they had reported
    (KIP-903, KIP-966)."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        index = random.choice(cluster.partitions)
        followers = [id for id in cluster.partition(index).replicas if id != cluster.partition(index).leader]
        member = cluster.members[random.choice(followers)]
        # without writes, the follower once had every record
        cluster.writes = random.random() < 0.5
        cluster.world.run_for(random.choice((0, 1000)))
        faults.take_down(member)
        cluster.world.run_for(random.choice((1, SESSION_MS + 1000)))
        member.start()
        if random.random() < 0.5:  # it is registered, and cannot fetch
            cluster.network.cut(member.id, cluster.partition(index).leader)
        cluster.world.run_for(random.randint(0, 2 * SESSION_MS))
        cluster.network.heal()
        cluster.writes = True


def leader_is_cut_off(cluster: Cluster) -> None:
    """The leader goes on for clients that know no other leader; another is elected; then the old
    leader learns of it."""
    random = cluster.world.random
    for _ in range(random.randint(1, 2)):
        cluster.await_order()
        random.choice((faults.isolate_leader, faults.cut_from_controllers))(cluster)
        cluster.world.run_for(random.randint(SESSION_MS, 2 * SESSION_MS))
        cluster.network.heal()
        cluster.world.run_for(random.randint(0, 1500))


def follower_is_cut_off(cluster: Cluster) -> None:
    """The follower sends heartbeats, but cannot fetch: it leaves the in-sync set, and producers go
    on without it."""
    # The partition that producers write to: a follower that has all records does not lag.
    random, index = cluster.world.random, 0
    image = cluster.partition(index)
    follower = random.choice([id for id in image.replicas if id != image.leader])
    cluster.world.note("{} does not get through to {}, which leads", follower, image.leader)
    cluster.network.cut(follower, image.leader)
    cluster.require(
        lambda: follower not in cluster.partition(index).isr, "a follower that does not fetch stays in sync", OUT_WITHIN
    )
    cluster.world.run_for(random.randint(0, 1000))


def in_sync_sets_change(cluster: Cluster) -> None:
    """Followers leave and join the in-sync set all the time, while the messages about it between
    leader and controllers are late or lost."""
    random = cluster.world.random
    weather = Weather(
        delay=random.choice(((0, 20), (20, 80))),
        late=0.06,
        latest=random.choice((1400, 9000)),
        lost=random.choice((0.0, 0.03)),
    )
    for _ in range(random.randint(3, 7)):
        cluster.network.weather = weather
        index = random.choice(cluster.partitions)
        image = cluster.partition(index)
        if image.leader >= 0:
            follower = random.choice([id for id in image.replicas if id != image.leader])
            to_leader = (follower, image.leader)
            way = random.choice((to_leader, to_leader, (image.leader, 1), (1, image.leader), (1, follower)))
            cluster.world.note("{} does not get through to {}", *way)
            cluster.network.cut(*way)
        cluster.world.run_for(random.choice((500, LAG_MS, OUT_WITHIN)))
        if random.random() < 0.7:
            heal(cluster)
        if random.random() < 0.2:
            faults.kill_broker(cluster)
        faults.start_all(cluster)


def followers_come_in(cluster: Cluster) -> None:
    """Followers leave and return one after the other, while the leader's requests to the
    controllers are slow, or their answers are lost."""
    random = cluster.world.random
    for _ in range(random.randint(2, 4)):
        index = random.choice(cluster.partitions)
        image = cluster.partition(index)
        follower = random.choice([id for id in image.replicas if id != image.leader])
        cluster.network.weather = CALM
        cluster.network.cut(follower, image.leader)
        run_until(cluster, lambda: follower not in cluster.partition(index).isr, OUT_WITHIN)  # noqa: B023  # at once
        cluster.network.weather = Weather(delay=(10, 60), late=random.choice((0.0, 0.03)), latest=1400)
        cluster.network.join(follower, image.leader)
        run_until(cluster, lambda: follower in cluster.partition(index).isr, 500)  # noqa: B023  # at once
        cut = random.choice(((follower, image.leader), (1, image.leader), (image.leader, follower)))
        cluster.world.note("{} does not get through to {}", *cut)
        cluster.network.cut(*cut)
        cluster.world.run_for(random.randint(0, 1200))
        cluster.network.heal()
    cluster.network.heal()


def metadata_come_late(cluster: Cluster) -> None:
    """A leader receives the controllers' answers long before it reads them in the metadata;
    meanwhile followers join one after the other."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        image = cluster.partition(0)
        followers = [id for id in image.replicas if id != image.leader]
        for id in followers:
            cluster.network.cut(id, image.leader)
        run_until(cluster, lambda: len(cluster.partition(0).isr) == 1, OUT_WITHIN + LAG_MS)
        cluster.world.run_for(random.randint(0, 600))
        cluster.wires.metadata_ms[image.leader] = random.randint(300, 1200)
        cluster.world.note("the metadata come to {} {} ms late", image.leader, cluster.wires.metadata_ms[image.leader])
        random.shuffle(followers)
        for id in followers:
            cluster.world.run_for(random.randint(0, 200))
            cluster.network.join(id, image.leader)
            run_until(cluster, lambda: id in cluster.partition(0).isr, 900)  # noqa: B023  # at once
        cluster.world.run_for(random.randint(0, 10))
        cluster.network.cut(followers[-1], image.leader)
        cluster.world.run_for(random.randint(200, 2500))
        cluster.network.heal()
        cluster.wires.metadata_ms.clear()
        cluster.await_order()


def run_until(cluster: Cluster, holds: Callable[[], bool], limit: int) -> None:
    """Runs until the condition holds, or until the time (ms) is over."""
    with suppress(Ended):
        cluster.world.run_until(holds, limit)


def leaders_write_alone(cluster: Cluster) -> None:
    """The leader is cut off and appends records, and then another leads that lacks them: logs
    diverge in many epochs (KIP-279)."""
    random = cluster.world.random
    for _ in range(random.randint(2, 5)):
        faults.isolate_leader(cluster)
        cluster.world.run_for(random.randint(0, SESSION_MS + 1000))
        faults.kill_leader(cluster)
        cluster.network.heal()
        cluster.world.run_for(random.randint(0, SESSION_MS + 2000))
        if random.random() < 0.7:
            faults.lose_power_of_leader(cluster)
        faults.start(cluster)
        cluster.world.run_for(random.randint(0, 1500))


def ends_are_asked_for(cluster: Cluster) -> None:
    """Leaders shut down or die while records are committed: followers learn the high watermark a
    moment later (KIP-207)."""
    random = cluster.world.random
    for _ in range(random.randint(2, 4)):
        cluster.network.weather = Weather(delay=(5, random.choice((40, 150))))
        cluster.world.run_for(random.randint(200, 1500))
        leader = cluster.leader(random.choice(cluster.partitions))
        if leader is not None:
            random.choice((leader.kill, leader.stop))()
            cluster.world.run_for(random.choice((SESSION_MS, SESSION_MS + 1000)))
        faults.start(cluster)
        cluster.network.weather = CALM
        run_until(cluster, cluster.is_in_order, OUT_WITHIN)


def rolling_restart(cluster: Cluster) -> None:
    for member in cluster.brokers:
        member.stop()
        cluster.require(lambda member=member: not member.is_up, f"{member!r} does not stop")  # type: ignore[misc]  # of each
        cluster.world.run_for(cluster.world.random.randint(0, 500))
        member.start()
        cluster.await_order()


def everything_restarts(cluster: Cluster) -> None:
    """All nodes shut down cleanly, are killed, or lose their power, together or one after the
    other, and start again."""
    random = cluster.world.random
    for _ in range(random.randint(1, 2)):
        ends = random.choice((Member.stop, Member.stop, Member.kill, faults.take_down))
        restart_everything(cluster, ends, random.choice(((0, 0), (0, 300), (0, SESSION_MS))))


def restart_everything(cluster: Cluster, ends: Callable[[Member], None], pauses: tuple[int, int]) -> None:
    """Every node ends in this way and starts again, with a pause (ms) between: all brokers accept
    clients again."""
    random = cluster.world.random
    members = random.sample([*cluster.members.values()], len(cluster.members))
    for member in members:
        ends(member)
        cluster.world.run_for(random.randint(*pauses))
    cluster.require(lambda: not any(member.is_up for member in members), "not every node stops", RETIRE_MS + 1000)
    for member in random.sample(members, len(members)):
        member.start()
        cluster.world.run_for(random.randint(*pauses))
    cluster.require(cluster.is_open, "a broker does not let clients in", BACK_WITHIN)
    cluster.await_order()


def replicas_move(cluster: Cluster) -> None:
    """Reassignments, some of them cancelled, and preferred elections, while brokers leave and
    return."""
    random = cluster.world.random
    for _ in range(random.randint(2, 5)):
        faults.reassign(cluster)
        cluster.world.run_for(random.choice((0, 50, 1000)))
        random.choice(
            (faults.cancel_reassignment, faults.prefer, faults.kill_broker, faults.pause, faults.stop, faults.prefer)
        )(cluster)
        cluster.world.run_for(random.randint(0, SESSION_MS))
        faults.resume_all(cluster)
        faults.start_all(cluster)


def controllers_fail(cluster: Cluster) -> None:
    """The leader of the quorum dies or is cut off, while brokers do, too."""
    random = cluster.world.random
    for _ in range(random.randint(1, 3)):
        random.choice((faults.kill_controller, faults.isolate_controller))(cluster)
        cluster.world.run_for(random.choice((0, 500, 2500)))
        random.choice((faults.kill_leader, faults.pause_leader, faults.cut_one_way, faults.kill_broker))(cluster)
        cluster.world.run_for(random.randint(0, 2 * SESSION_MS))
        cluster.network.heal()
        faults.resume_all(cluster)
        faults.start_all(cluster)


Play = Callable[[Cluster], None]
Scenario = tuple[Callable[[Random], Shape], Play]


def of_combined(random: Random) -> Shape:
    """One node, three or five, each a broker and a controller."""
    nodes = random.choice((1, 3, 3, 5))
    # A quorum of one commits what it has not flushed: with the power the decisions of a whole
    # cluster may be lost.
    fixed: dict[str, object] = {} if nodes > 1 else {"replicas": 1, "min_isr": 1, "on_disks": False}
    return shape(random, combined=True, brokers=nodes, **fixed)


_three = partial(shape, brokers=3, replicas=3)
_acks = (-1, 1)

OF_REPLICATION: dict[str, Scenario] = {
    "calm": (shape, calm),
    "anything": (shape, anything),
    "anything_unclean": (partial(shape, unclean=True, acks=_acks), anything),
    "leaders_die": (shape, leaders_die),
    "leader_dies_and_another_leads": (partial(_three, elr=True), leader_dies_and_another_leads),
    "follower_restarts_and_leads": (shape, follower_restarts_and_leads),
    "power_fails": (partial(shape, on_disks=True), power_fails),
    "power_fails_and_all_is_flushed": (partial(shape, on_disks=True, flushing=True), power_fails),
    "followers_forget": (partial(shape, on_disks=True), followers_forget),
    "leader_is_cut_off": (partial(shape, acks=_acks), leader_is_cut_off),
    "follower_is_cut_off": (partial(shape, racks=False), follower_is_cut_off),
    "in_sync_sets_change": (shape, in_sync_sets_change),
    "followers_come_in": (shape, followers_come_in),
    "metadata_come_late": (partial(_three, acks=(-1, 1)), metadata_come_late),
    "leaders_write_alone": (partial(shape, unclean=True, acks=_acks, min_isr=1), leaders_write_alone),
    "leaders_write_alone_on_disks": (
        partial(shape, unclean=True, acks=_acks, min_isr=1, on_disks=True),
        leaders_write_alone,
    ),
    "ends_are_asked_for": (partial(_three, askers=3), ends_are_asked_for),
    "rolling_restart": (shape, rolling_restart),
    "combined": (partial(shape, combined=True), anything),
    "everything_restarts": (shape, everything_restarts),
    "everything_restarts_combined": (of_combined, everything_restarts),
    "rolling_restart_combined": (of_combined, rolling_restart),
    "replicas_move": (partial(shape, brokers=4, rebalances=True), replicas_move),
    "controllers_fail": (partial(shape, controllers=3), controllers_fail),
}
