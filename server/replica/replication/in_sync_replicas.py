"""How far each replica of a partition is, as its leader knows it: the ISR and the high watermark.

Rules. A fetch of a follower says that it has every earlier record. A follower is caught up when it
has what the leader has, or had at the follower's previous fetch. A follower that is not caught up
for `replica.lag.time.max.ms` leaves the ISR. A follower that reaches the high watermark and the
start offset of the leader epoch joins it. A change of the ISR counts when the controller has
accepted it; until then the high watermark waits for every replica that is, or may be, in the ISR
(KIP-497). Below `min.insync.replicas` it does not advance (KIP-966). This module sends nothing and
knows no log; the caller gives the log end offset.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...metadata.image import PartitionImage
from .caught_up_followers import CaughtUpFollowers

NO_EPOCH = -1
"""The partition epoch before any metadata."""


class RemoteReplica:
    """A follower. Times are in ms.

    `end_offset`, `start_offset` and `broker_epoch` are -1 until the follower fetched from this
    leader; `broker_epoch` also if its request had none (KIP-903).
    """

    __slots__ = (
        "broker_epoch",
        "end_offset",
        "last_caught_up",
        "last_fetch",
        "last_leader_end",
        "start_offset",
    )

    def __init__(self, now: int) -> None:
        self.end_offset = self.start_offset = self.broker_epoch = -1
        self.last_leader_end = -1
        """The leader's log end offset at the follower's last fetch."""
        # An in-sync follower has the full lag time to fetch from a new leader.
        self.last_fetch, self.last_caught_up = now, now

    def fetched(self, offset: int, leader_end: int, now: int, broker_epoch: int = -1) -> None:
        """The follower has every record below `offset`."""
        if offset >= leader_end:
            self.last_caught_up = now
        elif offset >= self.last_leader_end >= 0:
            self.last_caught_up = max(self.last_caught_up, self.last_fetch)
        self.end_offset, self.last_fetch, self.last_leader_end = offset, now, leader_end
        self.broker_epoch = broker_epoch

    def was_caught_up(self, at: int) -> None:
        """The follower was caught up at this time too."""
        self.last_fetch, self.last_caught_up = max(self.last_fetch, at), max(self.last_caught_up, at)

    def is_in_sync(self, leader_end: int, now: int, lag: int) -> bool:
        return self.end_offset == leader_end or now - self.last_caught_up <= lag


class InSyncReplicas:
    """The replicas of one partition, in one leader epoch of the broker `own`.

    `epoch_start` is the log end offset when the leader epoch began; a follower joins the ISR only
    from there on. Neither of the two changes.
    """

    def __init__(self, own: int, partition: PartitionImage, epoch_start: int, now: int) -> None:
        self.own, self.epoch_start = own, epoch_start
        self.remotes: dict[int, RemoteReplica] = {}
        """Each of `replicas` but `own`, by its broker id. An entry outlives changes of the metadata
        as long as its broker is a replica, so that no follower begins at offset -1 again."""
        self.followers = CaughtUpFollowers()
        """Those whose fetches skip this partition, and the fetches that wait for it."""
        self.proposed: frozenset[int] | None = None
        """The ISR of the outstanding AlterPartition request; None without one. The high watermark
        waits for `isr` and `proposed` together, and no other change is proposed meanwhile."""
        self.isr, self.partition_epoch = frozenset[int](), NO_EPOCH
        """The ISR that the controller accepted last, and the partition epoch in which it did. The
        epoch never falls: what is older changes nothing."""
        self.apply_image(partition, now)

    def apply_image(self, partition: PartitionImage, now: int) -> None:
        """Applies the metadata of the partition.

        Metadata that is older than the controller's last response changes nothing. Metadata of the
        same partition epoch leaves an outstanding request open.
        """
        if partition.partition_epoch > self.partition_epoch:
            self.isr, self.partition_epoch = frozenset(partition.isr), partition.partition_epoch
            self.proposed = None
        elif partition.partition_epoch < self.partition_epoch:
            return
        self.leader_recovery_state = partition.leader_recovery_state
        """That of the last metadata, which an AlterPartition request repeats."""
        self.replicas = partition.replicas
        """All replicas by the last metadata, `own` among them; `remotes` follows it."""
        others = [id for id in partition.replicas if id != self.own]
        self.remotes = {id: self.remotes.get(id) or RemoteReplica(now) for id in others}

    def fetched(self, broker: int, offset: int, leader_end: int, now: int, broker_epoch: int = -1) -> bool:
        """Records a fetch from `offset`; returns False if the broker is not a replica."""
        remote = self.remotes.get(broker)
        if remote is not None:
            remote.fetched(offset, leader_end, now, broker_epoch)
        return remote is not None

    def was_caught_up(self, broker: int, at: int) -> None:
        """A caught-up follower fetched again, last at this time (ms)."""
        remote = self.remotes.get(broker)
        if remote is not None:
            remote.was_caught_up(at)

    def is_settled(self, broker: int) -> bool:
        """Returns whether the broker is in the ISR and no change of the ISR is outstanding."""
        return broker in self.isr and self.proposed is None

    def high_watermark(self, leader_end: int, min_isr: int) -> int:
        """Returns the offset that every current and proposed ISR member has; -1 if unknown."""
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
        """Returns the smallest log start offset of the replicas on live brokers (KIP-107)."""
        return min([leader_start, *(remote.start_offset for id, remote in self.remotes.items() if id in alive)])

    def changed_isr(
        self, leader_end: int, high_watermark: int, eligible: Iterable[int], now: int, lag: int
    ) -> frozenset[int] | None:
        """Returns the ISR as it should be; None if it is so, or if a request is outstanding.

        `eligible` are the brokers that may join it.
        """
        if self.proposed is not None:
            return None
        stay = {id for id in self.isr if id == self.own or self._stays(id, leader_end, now, lag)}
        join = {id for id in eligible if id in self.remotes and self._may_join(id, high_watermark)}
        isr = frozenset(stay | (join - self.isr))
        return None if isr == self.isr else isr

    def _stays(self, id: int, leader_end: int, now: int, lag: int) -> bool:
        remote = self.remotes.get(id)
        return remote is not None and remote.is_in_sync(leader_end, now, lag)

    def _may_join(self, id: int, high_watermark: int) -> bool:
        return self.remotes[id].end_offset >= max(high_watermark, self.epoch_start)

    def __repr__(self) -> str:
        return f"in sync {sorted(self.isr)} of {list(self.replicas)}"
