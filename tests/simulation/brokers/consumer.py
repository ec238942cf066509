"""A simulated consumer that follows KIP-320: it keeps with every position the epoch of the record
before it.

When a new epoch begins, the consumer asks where its own epoch ended. If that is before its
position, its log was truncated, and the consumer knows it. Some consumers learn this from the fetch
response itself (KIP-595).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)

from ..world import Broken
from .client import Client
from .kept import Kept, kept_in
from .shape import TOPIC

if TYPE_CHECKING:
    from .cluster import Cluster

FETCH_VERSION, ENDS_VERSION = 17, 4
WAIT_MS, NO_EPOCH = 900, -1
READ_UNCOMMITTED, READ_COMMITTED = 0, 1

TRIED_AGAIN = {
    error_codes.NOT_LEADER_OR_FOLLOWER,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.FENCED_LEADER_EPOCH,
    error_codes.UNKNOWN_LEADER_EPOCH,
    error_codes.KAFKA_STORAGE_ERROR,
    error_codes.OFFSET_NOT_AVAILABLE,
}


class Consumer(Client):
    """`seen` are the records it received, by offset, up to its position."""

    isolation = READ_UNCOMMITTED

    def __init__(self, cluster: Cluster, id: int, index: int) -> None:
        super().__init__(cluster, id, index)
        self.asks_in_fetch = cluster.world.random.random() < 0.5
        self.rack = f"rack{cluster.world.random.choice(cluster.shape.broker_ids)}" if cluster.shape.racks else ""
        self.seen: list[Kept] = []
        self.truncations = 0
        self._validated = -1  # the leader epoch in which the position was validated
        self._fetched_in = -1  # the leader epoch of the fetch in flight
        self._near = -1  # the replica that the leader has sent it to

    @property
    def position(self) -> int:
        return len(self.seen)

    @property
    def epoch(self) -> int:
        """The epoch of the record before the position."""
        return self.seen[-1].epoch if self.seen else NO_EPOCH

    @property
    def has_all(self) -> bool:
        return self.position == self.cluster.watch.histories[self.index].end

    def go_on(self) -> None:
        if not self.asks_in_fetch and self.seen and self._validated < self.leader_epoch:
            self._validate()
        else:
            self._fetch()

    def _validate(self) -> None:
        of = OffsetForLeaderEpochRequest
        asked = of.OffsetForLeaderPartition(
            partition=self.index, current_leader_epoch=self.leader_epoch, leader_epoch=self.epoch
        )
        body = of(replica_id=-1, topics=[of.OffsetForLeaderTopic(topic=TOPIC, partitions=[asked])])
        self._fetched_in = self.leader_epoch
        self.ask(self.leader, body, ENDS_VERSION, self._end_answered)

    def _end_answered(self, answer: OffsetForLeaderEpochResponse | None) -> None:
        if answer is None:
            self.try_again()
            return
        end = answer.topics[0].partitions[0]
        if end.error_code:
            self._refused(end.error_code)
            return
        if end.end_offset < self.position or end.leader_epoch < self.epoch:
            self._truncated(self._shared(end.leader_epoch, end.end_offset))
        else:
            self._validated = self._fetched_in
        self.go_on()  # the records left after a truncation may be of another epoch, too (KIP-279)

    def _shared(self, epoch: int, end: int) -> int:
        """The offset up to which its history and the leader's may be the same: the end of the
        leader's largest epoch that is not above its own."""
        own = next((kept.offset for kept in self.seen if kept.epoch > epoch), self.position)
        return max(0, min(own, end))

    def _truncated(self, offset: int) -> None:
        """The consumer learns of a truncation, and forgets the records from there on."""
        self.world.note("{} learns of a truncation to {}", self.id, offset)
        self.truncations += 1
        self.cluster.watch.truncation_answered(self, offset, self._fetched_in)
        del self.seen[offset:]

    def _fetch(self) -> None:
        of = FetchRequest
        partition = of.FetchPartition(
            partition=self.index,
            current_leader_epoch=self.leader_epoch,
            fetch_offset=self.position,
            last_fetched_epoch=self.epoch if self.asks_in_fetch else NO_EPOCH,
            partition_max_bytes=1 << 20,
        )
        body = of(
            max_wait_ms=WAIT_MS,
            min_bytes=1,
            max_bytes=1 << 20,
            isolation_level=self.isolation,
            session_epoch=-1,
            rack_id=self.rack,
            topics=[of.FetchTopic(topic_id=self.topic_id, partitions=[partition])],
        )
        self._fetched_in = self.leader_epoch
        to = self.leader if self._near < 0 else self._near
        self.ask(to, body, FETCH_VERSION, self._answered)

    def _answered(self, answer: FetchResponse | None) -> None:
        if answer is None or answer.error_code or not answer.responses:
            self._near = -1
            self.try_again()
            return
        data = answer.responses[0].partitions[0]
        apart = data.diverging_epoch
        if data.error_code:
            self._refused(data.error_code)
        elif data.preferred_read_replica >= 0:
            self._near = data.preferred_read_replica
            self.go_on()
        elif apart is not None and apart.end_offset >= 0:
            self._truncated(self._shared(apart.epoch, apart.end_offset))
            self.go_on()
        else:
            self._take(data)

    def _refused(self, code: int) -> None:
        if code == error_codes.OFFSET_OUT_OF_RANGE and self._near >= 0:
            self._near = -1  # a follower may be behind (KIP-392)
            self.try_again()
            return
        self._near = -1
        if code == error_codes.OFFSET_OUT_OF_RANGE:
            self._truncated(0)
        elif code not in TRIED_AGAIN:
            raise Broken(f"{self!r} is answered {error_codes.name(code)}")
        self.try_again()

    def _take(self, data: Any) -> None:
        given = [kept for kept in kept_in(data.records or b"") if kept.offset >= self.position]
        self.cluster.watch.given(self, given, self._fetched_in)
        self.seen += given
        self._near = self._near if given or self.world.random.random() < 0.8 else -1
        self.go_on() if self._fetched_in == self.leader_epoch else self.refresh()

    def __repr__(self) -> str:
        return f"consumer {self.id} of partition {self.index} at {self.position}, {self.truncations} truncations"
