"""One seed from its beginning to its end, or until a promise is broken. The same seed does the same every time."""

from __future__ import annotations

import hashlib
import logging
import traceback
from dataclasses import dataclass
from random import Random

from .cluster import Cluster
from .scenarios import SCENARIOS, scenario_of
from .world import START, Broken, World


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a seed ended. `broken` is what was found, "" for nothing."""

    seed: int
    scenario: str
    events: int
    duration: int  # of the world's time, ms
    elections: int
    committed: int
    broken: str
    transcript: list[str]

    @property
    def digest(self) -> str:
        """The same for two runs only if the same happened."""
        return hashlib.sha256("\n".join([*self.transcript, repr(self)]).encode()).hexdigest()

    def __repr__(self) -> str:
        end = self.broken or "every promise kept"
        return (
            f"seed {self.seed}, {self.scenario}: {self.events} events in {self.duration} ms, {self.elections} elections, "
            f"{self.committed} offsets committed; {end}"
        )


def run(seed: int, *, tracing: bool = False, scenario: str | None = None) -> Outcome:
    """Play the scenario of this seed, or another one."""
    name = scenario or scenario_of(seed)
    shape, play = SCENARIOS[name]
    world = World(seed, tracing=tracing)
    cluster = Cluster(world, shape(Random(seed)))
    world.note("seed {}, {}: {!r}", seed, name, cluster.shape)
    broken = ""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what nodes log in trouble is no news here; the transcript tells more
    try:
        play(cluster)
        cluster.recover()
    except Broken as problem:
        broken = str(problem)
    except Exception as problem:
        broken = f"{problem!r}\n{traceback.format_exc()}"
    finally:
        logging.disable(before)
    if broken:
        world.note("BROKEN: {}", broken)
    watch = cluster.watch
    return Outcome(
        seed, name, world.events, world.now - START, watch.elections, watch.committed.end, broken, world.transcript
    )
