"""The outcome of a seed, in every simulation: counts of events, and the promise that was broken.
The same seed always has the same outcome."""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .world import START, Broken, World


@dataclass(frozen=True, slots=True)
class Outcome:
    """`figures` are counts by name. `broken` is the broken promise, "" for none."""

    seed: int
    scenario: str
    events: int
    duration: int  # of the world's time, ms
    figures: Mapping[str, int]
    broken: str
    transcript: list[str]

    @property
    def digest(self) -> str:
        """The same for two runs only if the same happened."""
        return hashlib.sha256("\n".join([*self.transcript, repr(self)]).encode()).hexdigest()

    def __repr__(self) -> str:
        end = self.broken or "every promise kept"
        return f"seed {self.seed}, {self.scenario}: {self.events} events in {self.duration} ms, {as_text(self.figures)}; {end}"


def as_text(figures: Mapping[str, int]) -> str:
    """The figures as a sentence shows them."""
    return ", ".join(f"{many} {what}" for what, many in figures.items())


def played(world: World, scenario: str, play: Callable[[], None], figures: Callable[[], Mapping[str, int]]) -> Outcome:
    """Plays until the end, or until a promise is broken."""
    broken = ""
    before = logging.root.manager.disable
    # The errors that nodes log under faults are expected; the transcript tells more.
    logging.disable(logging.CRITICAL)
    try:
        play()
    except Broken as problem:
        broken = str(problem)
    except Exception as problem:
        broken = f"{problem!r}\n{traceback.format_exc()}"
    finally:
        logging.disable(before)
    if broken:
        world.note("BROKEN: {}", broken)
    return Outcome(world.seed, scenario, world.events, world.now - START, figures(), broken, world.transcript)
