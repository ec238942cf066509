"""Who has the records of a partition, as its leader knows it: how far each follower has come, and what follows for the in-sync set and the high
watermark.

Rules. A follower's fetch is its word that it has everything before. It is caught up when it has all that the leader has, or had when it
fetched last; who was not for `replica.lag.time.max.ms` falls out of the set, who has come up to the high watermark and into the epoch comes in.
A change of the set counts when the controller has agreed; until then the high watermark waits for all who are, or may be, in it (KIP-497).
Below `min.insync.replicas` it does not move (KIP-966). This file asks nobody and knows no log: the owner tells where it ends.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...metadata.image import PartitionImage
from .caught_up_followers import CaughtUpFollowers

NO_EPOCH = -1
"""Of a partition of which nothing is known yet."""


class Remote:
    """A follower. Times in ms; `end_offset` and `start_offset` are -1 until it has fetched from this leader, `broker_epoch` too, and where it
    did not say."""

    __slots__ = ("broker_epoch", "caught_up", "end_offset", "end_then", "last_fetch", "start_offset")

    def __init__(self, now: int) -> None:
        self.end_offset, self.end_then = -1, -1  # the leader's end when it fetched last
        self.start_offset = -1
        self.broker_epoch = -1  # of the life in which it fetched last (KIP-903)
        self.last_fetch, self.caught_up = now, now  # who was in sync has the time of a lag to show that he still is

    def fetched(self, offset: int, leader_end: int, now: int, broker_epoch: int = -1) -> None:
        """It has everything below `offset`."""
        if offset >= leader_end:
            self.caught_up = now
        elif offset >= self.end_then >= 0:
            self.caught_up = max(self.caught_up, self.last_fetch)
        self.end_offset, self.last_fetch, self.end_then = offset, now, leader_end
        self.broker_epoch = broker_epoch

    def still_had_all(self, at: int) -> None:
        """It had everything at that time, too."""
        self.last_fetch, self.caught_up = max(self.last_fetch, at), max(self.caught_up, at)

    def is_in_sync(self, leader_end: int, now: int, lag: int) -> bool:
        return self.end_offset == leader_end or now - self.caught_up <= lag


class InSync:
    """That of one partition in one epoch of its leader, the broker `own`, whose log ended at `epoch_start` when the epoch began."""

    def __init__(self, own: int, partition: PartitionImage, epoch_start: int, now: int) -> None:
        self.own, self.epoch_start = own, epoch_start
        self.remotes: dict[int, Remote] = {}
        self.followers = CaughtUpFollowers()
        self.proposed: frozenset[int] | None = None  # what the controller was asked for
        self.isr, self.partition_epoch = frozenset[int](), NO_EPOCH
        self.follow(partition, now)

    def follow(self, partition: PartitionImage, now: int) -> None:
        """The controller has decided, this or something else. What it has answered already is no news, and what was asked after that stands."""
        if partition.partition_epoch > self.partition_epoch:
            self.isr, self.partition_epoch = frozenset(partition.isr), partition.partition_epoch
            self.proposed = None
        elif partition.partition_epoch < self.partition_epoch:
            return
        self.leader_recovery_state = partition.leader_recovery_state
        self.replicas = partition.replicas
        others = [id for id in partition.replicas if id != self.own]
        self.remotes = {id: self.remotes.get(id) or Remote(now) for id in others}

    def fetched(self, broker: int, offset: int, leader_end: int, now: int, broker_epoch: int = -1) -> bool:
        """A follower fetches from `offset` on; False when it is none of this partition's."""
        remote = self.remotes.get(broker)
        if remote is not None:
            remote.fetched(offset, leader_end, now, broker_epoch)
        return remote is not None

    def still_had_all(self, broker: int, at: int) -> None:
        """A follower that was told everything has asked on, last at that time (ms)."""
        remote = self.remotes.get(broker)
        if remote is not None:
            remote.still_had_all(at)

    def is_settled(self, broker: int) -> bool:
        """Whether it is in the set, and no other set is asked for."""
        return broker in self.isr and self.proposed is None

    def high_watermark(self, leader_end: int, min_isr: int) -> int:
        """How far everybody has come who is, or may be, in the set; -1 when that says nothing."""
        if len(self.isr) < min_isr:
            return -1
        least = leader_end
        for id in self.isr if self.proposed is None else self.isr | self.proposed:
            if id != self.own:
                remote = self.remotes.get(id)
                if remote is None:
                    return -1
                least = min(least, remote.end_offset)
        return least

    def low_watermark(self, leader_start: int, alive: Container[int]) -> int:
        """Where all begin by now whose brokers are alive (KIP-107)."""
        return min([leader_start, *(remote.start_offset for id, remote in self.remotes.items() if id in alive)])

    def wish(
        self, leader_end: int, high_watermark: int, eligible: Iterable[int], now: int, lag: int
    ) -> frozenset[int] | None:
        """The set as it should be; None when it is so, or the controller has been asked. `eligible`: brokers that may come in."""
        if self.proposed is not None:
            return None
        stay = {id for id in self.isr if id == self.own or self._stays(id, leader_end, now, lag)}
        come = {id for id in eligible if id in self.remotes and self._may_come(id, high_watermark)}
        wished = frozenset(stay | (come - self.isr))
        return None if wished == self.isr else wished

    def _stays(self, id: int, leader_end: int, now: int, lag: int) -> bool:
        remote = self.remotes.get(id)
        return remote is not None and remote.is_in_sync(leader_end, now, lag)

    def _may_come(self, id: int, high_watermark: int) -> bool:
        return self.remotes[id].end_offset >= max(high_watermark, self.epoch_start)

    def __repr__(self) -> str:
        return f"in sync {sorted(self.isr)} of {list(self.replicas)}"
