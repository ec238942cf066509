"""Replicas over racks, as Kafka's striped placement has it: racks take turns to lead, and a partition's replicas go round the racks (KIP-36).

Rules. The leader is an unfenced broker; within a rack the others are unfenced ones first, and each broker is taken once for a partition. With
each partition the turn goes on by one rack, and within each rack by one broker. Kafka begins anywhere by chance, and shuffles whenever it has
placed as many partitions as there are unfenced brokers. Here nothing is left to chance, so that a run can be repeated: partition 0 begins with
the first rack's first broker, and instead of being shuffled the brokers of each rack go on by one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

NO_BROKER_LEFT = -1


class UsableBroker(NamedTuple):
    """A broker that may take a replica."""

    id: int
    rack: str | None
    fenced: bool


def place_striped(brokers: Iterable[UsableBroker], replicas: int) -> Iterator[list[int]]:
    """The replicas of one partition after the other, without end. There are brokers for so many replicas, and one of them is not fenced."""
    racks = _group_by_rack(brokers)
    cycle = sum(len(rack.unfenced.brokers) for rack in racks)
    partition = 0
    while True:
        yield _place_partition(racks, partition, replicas)
        partition += 1
        if partition % cycle == 0 and len(racks) > 1:
            for rack in racks:
                rack.unfenced.start += 1
                rack.fenced.start += 1


class _BrokerList:
    """Brokers that take turns. Each partition begins one further than the last that took from here."""

    def __init__(self) -> None:
        self.brokers: list[int] = []
        self.start = 0
        self._taken, self._partition = 0, 0

    def take(self, partition: int) -> int:
        """The next for this partition. NONE when all were taken."""
        if self._partition != partition:
            self._partition, self._taken, self.start = partition, 0, self.start + 1
        if self._taken >= len(self.brokers):
            return NO_BROKER_LEFT
        self._taken += 1
        return self.brokers[(self.start + self._taken - 1) % len(self.brokers)]


class _Rack:
    def __init__(self) -> None:
        self.unfenced, self.fenced = _BrokerList(), _BrokerList()

    def take(self, partition: int) -> int:
        broker = self.unfenced.take(partition)
        return self.fenced.take(partition) if broker == NO_BROKER_LEFT else broker


def _group_by_rack(brokers: Iterable[UsableBroker]) -> list[_Rack]:
    """By name; brokers without a rack are one rack, the first."""
    racks: dict[str | None, _Rack] = {}
    for broker in sorted(brokers, key=lambda each: (each.rack or "", each.rack is not None, each.id)):
        rack = racks.setdefault(broker.rack, _Rack())
        (rack.fenced if broker.fenced else rack.unfenced).brokers.append(broker.id)
    return list(racks.values())


def _place_partition(racks: Sequence[_Rack], partition: int, replicas: int) -> list[int]:
    turn = partition % len(racks)
    first, leader = _take_leader(racks, partition, turn)
    placed = [leader]
    passed = False
    while len(placed) < replicas:
        if turn == first and not passed:
            passed = True  # the leader is this rack's
        elif (broker := racks[turn].take(partition)) != NO_BROKER_LEFT:
            placed.append(broker)
        turn = (turn + 1) % len(racks)
    return placed


def _take_leader(racks: Sequence[_Rack], partition: int, turn: int) -> tuple[int, int]:
    """The rack whose turn it is, or the next with somebody unfenced, and who leads there."""
    while (leader := racks[turn].unfenced.take(partition)) == NO_BROKER_LEFT:
        turn = (turn + 1) % len(racks)
    return turn, leader
