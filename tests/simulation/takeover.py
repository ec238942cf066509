"""How long a quorum is without a leader after its leader was killed: seed after seed, under load
and without, in good weather.

    python -m tests.simulation.takeover [--seeds 300] [--voters 3] [--delay 4]

Followers that lose a leader at the same moment must not become candidates at the same moment; and
the first to time out may have the longer log, or the shorter one.
"""

from __future__ import annotations

import argparse
import logging
from random import Random

from kafkadouble.server.raft.settings import QuorumSettings

from .cluster import Cluster, Shape
from .network import Weather
from .world import World

KILLS = 3
"""The leaders that are killed in the life of one cluster."""

FETCH_TIMEOUT = QuorumSettings().fetch_timeout_ms
FACTOR = 1.5
"""The number of fetch timeouts within which another node leads."""

PATIENCE = 60_000


def takeovers(seed: int, *, voters: int = 3, delay: int = 4) -> list[int]:
    """The ms from the death of a leader until another one has committed a record in its epoch.
    `delay`: of a message, at most."""
    random, world = Random(seed), World(seed)
    cluster = Cluster(world, Shape(voters=voters, linger=random.choice((0, 25)), retry_backoff=20))
    cluster.network.weather = Weather(delay=(0, delay))
    cluster.begin()
    return [_takeover(cluster, is_loaded=random.random() < 0.5) for _ in range(KILLS)]


def _takeover(cluster: Cluster, *, is_loaded: bool) -> int:
    world, leader = cluster.world, cluster.leader
    assert leader is not None
    assert leader.replica is not None
    cluster.writes = is_loaded
    world.run_for(world.random.randint(500, 1500))
    epoch, died = leader.replica.epoch, world.now
    leader.kill()
    world.run_until(lambda: _leads_since(cluster, epoch), PATIENCE)
    took = world.now - died
    leader.start()
    cluster.await_agreement()
    return took


def _leads_since(cluster: Cluster, epoch: int) -> bool:
    leader = cluster.leader
    if leader is None or leader.replica is None or leader.replica.epoch <= epoch:
        return False
    return leader.replica.log.high_watermark > getattr(leader.replica.state, "epoch_start", 1 << 60)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation.takeover", description="Without a leader: how long."
    )
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--voters", type=int, default=3)
    parser.add_argument("--delay", type=int, default=4, help="of a message, at most (ms)")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    took = sorted(ms for seed in range(asked.seeds) for ms in takeovers(seed, voters=asked.voters, delay=asked.delay))
    late = sum(ms > FACTOR * FETCH_TIMEOUT for ms in took)
    print(
        f"{len(took)} leaders of {asked.voters} voters killed: another leads after {took[len(took) // 2]} ms at p50, ",
        end="",
    )
    print(
        f"{took[len(took) * 99 // 100]} ms at p99, {took[-1]} ms at most; {late} took more than {FACTOR} fetch timeouts"
    )


if __name__ == "__main__":
    main()
