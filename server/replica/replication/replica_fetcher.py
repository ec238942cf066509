"""The fetches of a broker's followers from one leader: one request at a time.

Rules. The metadata image decides what is fetched: the leader and its epoch. If the leader answers
with an error for a partition, or with something invalid, the partition is fetched again after
`replica.fetch.backoff.ms`; the image may have changed by then. The same problem is logged once. A
partition whose log directory is offline is not fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ...log.files.errors import DiskFailure
from ...log.refusals import LogRefused
from ...raft.request_manager import RequestFailure
from .fetch_session_handler import FetchRequestData, FetchSessionHandler
from .fetch_validation import PartitionKey
from .follower_partition import FollowerPartition

if TYPE_CHECKING:
    from .part_hosts import ReplicationHost
    from .replication_quotas import ReplicationQuotaManager

log = ClientLog("kafkadouble.server.replica")

FETCH_VERSION, FETCH_LOWEST = 17, 13
LIST_VERSION, LIST_LOWEST = 9, 4
EARLIEST, LATEST = -2, -1

MAX_PROBLEM_CHARS = 300
"""The most that is logged of a problem, which may quote the leader."""

PartitionResponse = ListOffsetsResponse.ListOffsetsPartitionResponse


class ReplicaFetcher:
    """The fetches from one leader.

    `token` identifies the outstanding request. `is_overtaken` says that the request lacks a
    partition that was added later. `delayed` has partitions that wait, and until when (ms). `dirty`
    has partitions whose entry in the next request may differ from the last one. `offset_ranges` has
    the partitions whose fetch offset was out of range, with the leader's offsets that are known.
    """

    def __init__(self, node: ReplicationHost, leader: int) -> None:
        self._node, self.leader = node, leader
        self.partitions: dict[PartitionKey, FollowerPartition] = {}
        self.delayed: dict[PartitionKey, int] = {}
        self.offset_ranges: dict[PartitionKey, dict[int, int]] = {}
        """Key -> EARLIEST, LATEST -> offset."""
        # A dict, because a set has another order in each process.
        self.dirty: dict[PartitionKey, None] = {}
        self._fetches_all = False
        """Whether the last request fetched every partition, so the next may name changes only."""
        self.token: int | None = None
        self.is_overtaken = False
        self._session = FetchSessionHandler()
        self._requested: dict[PartitionKey, FollowerPartition] = {}
        """The partitions of the outstanding request."""
        self.delayed_until = self.throttled_until = 0
        self._flushing: set[PartitionKey] = set()
        """Partitions that must be flushed before the next request."""
        self._last_problem: str | None = None
        """Why the last response was refused as a whole."""

    def request(self, now: int) -> tuple[Message, int, int] | None:
        """Returns the next request, its highest and its lowest version; None if none is due."""
        if now < self.delayed_until:
            return None
        if self._flushing and self._must_wait_for_flush():
            return None
        if self._fetches_all and self._session.is_current and not self._must_select(now):
            return (self._next_fetch(), FETCH_VERSION, FETCH_LOWEST) if self.partitions else None
        self.delayed = {key: until for key, until in self.delayed.items() if until > now}
        due = [key for key in self.partitions if self.delayed.get(key, 0) <= now]
        if due and self._node.replication_quotas is not None:
            due = self._unthrottled(due, self._node.replication_quotas.follower, now)
        out_of_range = [key for key in due if key in self.offset_ranges]
        self._requested = {key: self.partitions[key] for key in out_of_range or due}
        self._fetches_all = len(due) == len(self.partitions) and not out_of_range
        self.dirty.clear()
        if out_of_range:
            return self._list_offsets(out_of_range), LIST_VERSION, LIST_LOWEST
        return (self._fetch(due), FETCH_VERSION, FETCH_LOWEST) if due else None

    def _must_select(self, now: int) -> bool:
        """Returns whether some partitions may have to be left out of the next request."""
        quotas = self._node.replication_quotas
        is_exceeded = quotas is not None and (now < self.throttled_until or quotas.follower.is_exceeded())
        return bool(self.delayed or self.offset_ranges or is_exceeded)

    def _must_wait_for_flush(self) -> bool:
        """Returns whether a flush is outstanding.

        It holds back every partition, because a fetch without new records waits at the leader. A
        partition that cannot be flushed holds back none.
        """
        still = {key for key in self._flushing & self.partitions.keys() if self.partitions[key].log.flush_is_due}
        self._flushing = still if self._node.flushing.busy else set()
        return bool(self._flushing)

    def _unthrottled(self, due: list[PartitionKey], quota: ReplicationQuotaManager, now: int) -> list[PartitionKey]:
        """Leaves out throttled partitions that are out of sync while the quota is exceeded.

        If no partition is left, the next look is after `replica.fetch.backoff.ms`.
        """
        throttled = {key for key in due if self._is_throttled(self.partitions[key], quota)}
        if not throttled or (now >= self.throttled_until and not quota.is_exceeded()):
            return due
        keys = [key for key in due if key not in throttled]
        if not keys and now >= self.throttled_until:
            self.throttled_until = now + self._backoff_ms()
        return keys

    @staticmethod
    def _is_throttled(partition: FollowerPartition, quota: ReplicationQuotaManager) -> bool:
        return partition.lag != 0 and quota.is_throttled(partition.topic, partition.index)

    def _fetch(self, keys: Iterable[PartitionKey]) -> FetchRequest:
        max_bytes = self._node.settings.int("replica.fetch.max.bytes")
        fetched = {key: self.partitions[key].fetch_partition(max_bytes) for key in keys}
        return self._fetch_request(self._session.build(fetched))

    def _next_fetch(self) -> FetchRequest:
        """Returns the last request again, with the changes; unchanged partitions cost nothing."""
        max_bytes, dirty = self._node.settings.int("replica.fetch.max.bytes"), self.dirty
        present = {key: self.partitions[key] for key in dirty if key in self.partitions}
        self._requested.update(present)
        removed = [key for key in dirty if key not in present]
        for key in removed:
            self._requested.pop(key, None)
        self.dirty = {}
        changed = {key: each.fetch_partition(max_bytes) for key, each in present.items()}
        return self._fetch_request(self._session.build_next(changed, removed))

    def _fetch_request(self, data: FetchRequestData) -> FetchRequest:
        settings, node, of = self._node.settings, self._node, FetchRequest
        named: dict[Uuid, list[FetchRequest.FetchPartition]] = {}
        for (topic_id, _), partition in data.named.items():
            named.setdefault(topic_id, []).append(partition)
        forgotten: dict[Uuid, list[int]] = {}
        for topic_id, index in data.forgotten:
            forgotten.setdefault(topic_id, []).append(index)
        return of(
            replica_state=of.ReplicaState(replica_id=node.id, replica_epoch=node.broker_epoch),
            max_wait_ms=settings.int("replica.fetch.wait.max.ms"),
            min_bytes=settings.int("replica.fetch.min.bytes"),
            max_bytes=settings.int("replica.fetch.response.max.bytes"),
            session_id=data.session_id,
            session_epoch=data.epoch,
            topics=[of.FetchTopic(topic_id=id, partitions=partitions) for id, partitions in named.items()],
            forgotten_topics_data=[of.ForgottenTopic(topic_id=id, partitions=each) for id, each in forgotten.items()],
        )

    def _list_offsets(self, keys: Iterable[PartitionKey]) -> ListOffsetsRequest:
        of, topics = ListOffsetsRequest, []
        for key in keys:
            partition = self.partitions[key]
            requested = of.ListOffsetsPartition(
                partition_index=key[1],
                current_leader_epoch=partition.leader_epoch,
                timestamp=EARLIEST if EARLIEST not in self.offset_ranges[key] else LATEST,
            )
            topics.append(of.ListOffsetsTopic(name=partition.topic, partitions=[requested]))
        return of(replica_id=self._node.id, topics=topics)

    def on_response(self, response: Message | RequestFailure | None, now: int) -> None:
        """Process the response to the outstanding request, or its failure."""
        was_overtaken, self.token, self.is_overtaken = self.is_overtaken, None, False
        if isinstance(response, FetchResponse) and not response.error_code:
            self._on_fetch(response, now)
        elif isinstance(response, ListOffsetsResponse):
            for topic in response.topics:
                for data in topic.partitions:
                    key = (self._topic_id_of(topic.name), data.partition_index)
                    self._process(self._process_list_offsets, key, data, now)
            for key in self._requested:  # those without data in the response
                self.delayed[key] = now + self._backoff_ms()
        else:
            # An evicted session is reopened at once.
            if not (self._session.is_open or was_overtaken):
                self.delayed_until = now + self._backoff_ms()
            self._session.reset()

    def _on_fetch(self, response: FetchResponse, now: int) -> None:
        problem = self._session.problem_of(response)
        if problem is not None:
            if self._last_problem != problem:
                log.error("the Fetch response of broker %d is refused: %s", self.leader, problem)
            self._last_problem = problem
            self._session.reset()
            self.delayed_until = now + self._backoff_ms()
            return
        self._last_problem = None
        self._session.on_response(response.session_id)
        for topic in response.responses:
            for data in topic.partitions:
                self._process(self._process_fetch, (topic.topic_id, data.partition_index), data, now)

    def _topic_id_of(self, name: str) -> Uuid:
        return next((key[0] for key, each in self.partitions.items() if each.topic == name), Uuid.ZERO)

    def _process(
        self,
        process: Callable[[PartitionKey, FollowerPartition, Any, int], int],
        key: PartitionKey,
        data: Any,
        now: int,
    ) -> None:
        """Process the data of one partition. Whatever a leader sends concerns this partition alone.

        Data for a partition whose leader or leader epoch has changed is ignored.
        """
        partition = self.partitions.get(key)
        self.dirty[key] = None
        if partition is None or partition is not self._requested.pop(key, None):
            return
        try:
            delay_ms = process(key, partition, data, now)
        except (LogRefused, WireError) as problem:
            delay_ms = self._backoff_ms()
            self._log_problem(partition, str(problem)[:MAX_PROBLEM_CHARS])
        except DiskFailure:  # the node reports it
            del self.partitions[key]
            return
        except Exception:  # a defect delays one partition
            delay_ms = self._backoff_ms()
            log.exception("%r: the response of broker %d could not be processed", partition, self.leader)
        if delay_ms:
            self.delayed[key] = now + delay_ms

    def _log_problem(self, partition: FollowerPartition, problem: str) -> None:
        if partition.last_problem != problem:
            partition.last_problem = problem
            log.error("%r: the response of broker %d is refused: %s", partition, self.leader, problem)

    def _process_fetch(
        self, key: PartitionKey, partition: FollowerPartition, data: FetchResponse.PartitionData, now: int
    ) -> int:
        if data.error_code == error_codes.OFFSET_OUT_OF_RANGE:
            self.offset_ranges[key] = {}
        elif data.error_code:
            return self._backoff_ms()
        else:
            partition.process(data, now)
            partition.last_problem = None
            if data.records and (quotas := self._node.replication_quotas) is not None:
                quotas.follower.record_fetched(partition.topic, partition.index, len(data.records))
            self.flush(key, partition)
        return 0

    def flush(self, key: PartitionKey, partition: FollowerPartition) -> None:
        """Flushes what `flush.messages` requires before the next fetch.

        The next fetch tells the leader that the follower has the earlier records.
        """
        if partition.log.flush_is_due:
            self._flushing.add(key)
            self._node.flushing.want(partition)

    def _process_list_offsets(
        self, key: PartitionKey, partition: FollowerPartition, data: PartitionResponse, now: int
    ) -> int:
        known = self.offset_ranges.pop(key)
        if data.error_code:
            return self._backoff_ms()
        if EARLIEST not in known:
            self.offset_ranges[key] = {EARLIEST: data.offset}
            return 0
        return 0 if partition.handle_out_of_range(known[EARLIEST], data.offset) else self._backoff_ms()

    def _backoff_ms(self) -> int:
        return self._node.settings.int("replica.fetch.backoff.ms")
