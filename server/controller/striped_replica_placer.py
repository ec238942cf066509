"""Places replicas across racks, as Kafka's StripedReplicaPlacer does (KIP-36).

Leaders alternate between racks, and the replicas of a partition go round the racks. The leader is
an unfenced broker; within a rack unfenced brokers come first, and a partition uses each broker
once. Each partition starts one rack further, and within each rack one broker further. Kafka starts
at random, and shuffles after as many partitions as there are unfenced brokers. Here placement is
deterministic, so that a run can be repeated: partition 0 starts with the first broker of the first
rack, and instead of a shuffle the brokers of each rack move on by one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

NO_BROKER_LEFT = -1


class UsableBroker(NamedTuple):
    """A broker that may get a replica."""

    id: int
    rack: str | None
    fenced: bool


def place_striped(brokers: Iterable[UsableBroker], replicas: int) -> Iterator[list[int]]:
    """The replicas of one partition after the other, without end. There must be at least `replicas`
    brokers, one of them unfenced.
    """
    racks = _group_by_rack(brokers)
    cycle = sum(len(rack.unfenced.brokers) for rack in racks)
    partition = 0
    while True:
        turn = partition % len(racks)
        first, leader = _take_leader(racks, partition, turn)
        placed = [leader]
        passed = False
        while len(placed) < replicas:
            if turn == first and not passed:
                passed = True  # this rack has the leader
            elif (broker := racks[turn].take(partition)) != NO_BROKER_LEFT:
                placed.append(broker)
            turn = (turn + 1) % len(racks)
        yield placed
        partition += 1
        if partition % cycle == 0 and len(racks) > 1:
            for rack in racks:
                rack.unfenced.start += 1
                rack.fenced.start += 1


class _BrokerList:
    """Brokers that take turns. Each partition starts one further than the last one that used this
    list.
    """

    def __init__(self) -> None:
        self.brokers: list[int] = []
        self.start = 0
        self._taken, self._partition = 0, 0

    def take(self, partition: int) -> int:
        """The next broker for this partition; NO_BROKER_LEFT if all are used."""
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
    """The racks by name; brokers without a rack form the first one."""
    racks: dict[str | None, _Rack] = {}
    for broker in sorted(brokers, key=lambda broker: (broker.rack or "", broker.rack is not None, broker.id)):
        rack = racks.setdefault(broker.rack, _Rack())
        (rack.fenced if broker.fenced else rack.unfenced).brokers.append(broker.id)
    return list(racks.values())


def _take_leader(racks: Sequence[_Rack], partition: int, turn: int) -> tuple[int, int]:
    """The rack of this turn, or the next one with an unfenced broker, and the leader there."""
    while (leader := racks[turn].unfenced.take(partition)) == NO_BROKER_LEFT:
        turn = (turn + 1) % len(racks)
    return turn, leader
