"""A network that delays, drops, duplicates, reorders, damages and partitions, also one way only.

A message is bytes that travel from one node to another. A loss is sometimes reported to the sender
(a connection that breaks) and sometimes not (a connection that hangs). Two messages may overtake
each other, whatever connection they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .world import World


@dataclass(slots=True)
class Weather:
    """The treatment of messages. Chances from 0 to 1, times in ms."""

    delay: tuple[int, int] = (0, 4)
    late: float = 0.0  # the chance of a delay of up to `latest`
    latest: int = 2500
    lost: float = 0.0
    twice: float = 0.0
    damaged: float = 0.0  # the chance that some bytes of fetched records change


CALM = Weather()


class Network:
    """The links by (from, to)."""

    def __init__(self, world: World) -> None:
        self.world, self.weather = world, CALM
        self._cut: set[tuple[int, int]] = set()

    def cut(self, sender: int, receiver: int) -> None:
        """Cuts one direction: no message arrives any more, not even one in flight; the other
        direction is another link."""
        self._cut.add((sender, receiver))

    def join(self, sender: int, receiver: int) -> None:
        self._cut.discard((sender, receiver))

    def isolate(self, node: int, others: Iterable[int]) -> None:
        """Cuts both directions."""
        for other in others:
            if other != node:
                self._cut |= {(node, other), (other, node)}

    def split(self, one: Iterable[int], other: Iterable[int]) -> None:
        """Cuts both directions between these nodes and those."""
        there = list(other)
        for node in one:
            self.isolate(node, there)

    def heal(self) -> None:
        """Sets good weather, and restores all links."""
        self._cut.clear()
        self.weather = CALM

    def is_cut(self, sender: int, receiver: int) -> bool:
        return (sender, receiver) in self._cut

    def send(self, sender: int, receiver: int, deliver: Callable[[], None], lost: Callable[[], None]) -> str:
        """Delivers or loses the message after some time; returns what happened, for the
        transcript."""
        random, weather = self.world.random, self.weather
        if self.is_cut(sender, receiver) or random.random() < weather.lost:
            if random.random() < 0.5:
                self.world.after(random.randint(1, 30), lost)
                return " (lost; the sender gets an error)"
            return " (lost)"
        for _ in range(2 if random.random() < weather.twice else 1):
            self._deliver(sender, receiver, deliver)
        return ""

    def _deliver(self, sender: int, receiver: int, deliver: Callable[[], None]) -> None:
        weather, random = self.weather, self.world.random
        most = weather.latest if random.random() < weather.late else weather.delay[1]
        self.world.after(random.randint(weather.delay[0], most), lambda: self._arrive(sender, receiver, deliver))

    def _arrive(self, sender: int, receiver: int, deliver: Callable[[], None]) -> None:
        if not self.is_cut(sender, receiver):
            deliver()
