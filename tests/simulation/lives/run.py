"""One seed of whole lives, from the first start to the last stop."""

from __future__ import annotations

from random import Random

from ..outcome import Outcome, played
from ..world import World
from .cluster import Cluster
from .scenarios import ENDS, SCENARIOS, scenario_of

MOST_EVENTS = 200_000
FIGURES = (
    "records acknowledged",
    "offsets committed",
    "transactions committed",
    "transactions aborted",
    "records read with read_committed",
    *(f"ended by {how}" for how in ENDS),
)


def run(seed: int, *, tracing: bool = False, scenario: str | None = None) -> Outcome:
    """Plays the scenario of this seed, or another one."""
    name = scenario or scenario_of(seed)
    shape, play = SCENARIOS[name]
    world = World(seed, tracing=tracing, most_events=MOST_EVENTS)
    cluster = Cluster(world, shape(Random(seed)))
    world.note("seed {}, {}: {!r}", seed, name, cluster.shape)

    def whole() -> None:
        cluster.begin()
        play(cluster)
        cluster.end()

    return played(world, name, whole, lambda: {what: cluster.count[what] for what in FIGURES})
