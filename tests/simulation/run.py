"""One seed of the quorum, from its beginning to its end."""

from __future__ import annotations

from random import Random

from .cluster import Cluster
from .outcome import Outcome, played
from .scenarios import SCENARIOS, scenario_of
from .world import World


def run(seed: int, *, tracing: bool = False, scenario: str | None = None) -> Outcome:
    """Plays the scenario of this seed, or the named one."""
    name = scenario or scenario_of(seed)
    shape, play = SCENARIOS[name]
    world = World(seed, tracing=tracing)
    cluster = Cluster(world, shape(Random(seed)))
    watch = cluster.watch
    world.note("seed {}, {}: {!r}", seed, name, cluster.shape)

    def whole() -> None:
        play(cluster)
        cluster.recover()

    def figures() -> dict[str, int]:
        return {
            "elections": watch.elections,
            "offsets committed": watch.committed.end,
            "records acknowledged": len(watch.acknowledged),
            "snapshots taken over": watch.taken,
        }

    try:
        return played(world, name, whole, figures)
    finally:
        for node in cluster.nodes.values():
            # Otherwise the unfinished snapshot is cleaned up at any later time, on a disk that may
            # raise Died.
            if node.process is not None:
                node.process.end()
