"""Reads a partition from one offset up to another, and follows its leader.

Rules. While the caller uses one response, the next request is in flight. A read ends at its end
offset, or with an error; it waits for missing records up to `default.api.timeout.ms` after the last
progress. Every Fetch carries the leader epoch of the last record, so that the broker detects a log
that was truncated in between (KIP-320, KIP-595).
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.wire.frame import MAX_SIZE

from . import fetching
from .attachment import Attachment
from .cluster import LeaderAndEpoch
from .connection import BrokerConnection
from .errors import ApiError, BadAnswer, ClientError, ConnectionLost, LogTruncated, OffsetOutOfRange
from .fetching import FetchPosition
from .names import EARLIEST, LATEST, Fetched, OffsetAndEpoch, PartitionLeader, TopicPartition
from .network import Network
from .offsets import by_time, isolation_level


def read(
    network: Network,
    partition: TopicPartition,
    start: int,
    end: int,
    *,
    leader_epoch: int = -1,
    leader: PartitionLeader | None = None,
    isolation: str = "read_uncommitted",
    max_bytes: int = 16 << 20,
) -> Generator[Fetched, None, None]:
    """Sees `Client.read`."""
    attached = Attachment(network, partition, leader)
    reading = _Reading(
        network, attached, partition, OffsetAndEpoch(start, leader_epoch), end, isolation_level(isolation), max_bytes
    )
    try:
        while reading.at.offset < end:
            if (found := reading.attempt()) is not None:
                if reading.at.offset < end:
                    reading.send_ahead()
                yield found
    finally:
        reading.stop()


class _Reading:
    """The state of one read: `at` is the next offset, with the leader epoch of the record before
    it."""

    def __init__(
        self,
        network: Network,
        attached: Attachment,
        partition: TopicPartition,
        at: OffsetAndEpoch,
        end: int,
        isolation: int,
        max_bytes: int,
    ) -> None:
        self._network, self._partition, self._isolation = network, partition, isolation
        self._max_bytes = min(max_bytes, network.settings.int("fetch.max.bytes"))
        self._least_bytes = 0
        self.at, self._end, self._at_batch_start = at, end, False
        self._patience = network.patience(f"reading {partition}")
        self._attached = attached
        # the requests in flight on the connection
        self._under_way: FetchPosition | None = None

    def attempt(self) -> Fetched | None:
        """The records of the next response; None when it has none, after some waiting."""
        try:
            connection = self._attached.connected(self._patience, self.at)
            if connection is None:
                return None
            fetch = self._under_way or self._send(connection)
            answer = connection.receive(most=fetch.max_bytes + MAX_SIZE)
            self._under_way = None
            assert isinstance(answer, FetchResponse)
            return self._taken(answer, fetch, connection)
        except ConnectionLost as lost:
            self._astray(str(lost))
        return None

    def send_ahead(self) -> None:
        """Sends the next request in advance, unless the broker throttles this client."""
        connection = self._attached.connection
        if connection is None or connection.throttled:
            return
        try:
            self._send(connection)
        except ConnectionLost:
            self._attached.lost(stale=True)

    def stop(self) -> None:
        """Ends the read."""
        self._under_way = None
        self._attached.leave()

    def _send(self, connection: BrokerConnection) -> FetchPosition:
        attached = self._attached
        fetch = FetchPosition(
            self._partition, attached.topic_id, self.at.offset, attached.leader.epoch, self.at.epoch, self._isolation, self._size()
        )  # fmt: skip
        version = fetching.version_for(connection, fetch.topic_id)
        connection.send(fetching.request(fetch, version, self._network.settings), version)
        self._under_way = fetch
        return fetch

    def _taken(self, answer: FetchResponse, fetch: FetchPosition, connection: BrokerConnection) -> Fetched | None:
        if answer.error_code:
            self._refused(answer.error_code, None)
            return None
        partition = fetching.partition_of(answer, fetch, connection)
        if partition.error_code:
            self._refused(partition.error_code, partition)
            return None
        if (common := fetching.divergence(partition)) is not None:
            raise LogTruncated(self._partition, self.at, common)
        records = memoryview(partition.records or b"")
        found = fetching.whole_batches(records, fetch)
        if found is None:
            self._nothing(partition, records, fetch)
            return None
        last, batches = found
        self._network.sizes.note(self._partition, batches)
        self._at_batch_start, self._least_bytes = True, 0
        self.at = OffsetAndEpoch(last.next_offset, last.partition_leader_epoch)
        self._patience.progress()
        return fetching.fetched(partition, fetch, last)

    def _size(self) -> int:
        """The bytes to request: the rest of the range, within the limit of the caller."""
        rest = self._network.sizes.size_bytes(
            self._partition, self._end - self.at.offset, at_batch_start=self._at_batch_start
        )
        return max(min(rest, self._max_bytes), self._least_bytes)

    def _nothing(self, answer: FetchResponse.PartitionData, records: memoryview, fetch: FetchPosition) -> None:
        """Handles a response without a complete batch: asks another replica, or for more bytes, or
        later."""
        if len(records):
            self._grow(fetching.size_of_first(records), fetch.max_bytes)
        elif answer.preferred_read_replica >= 0 and answer.preferred_read_replica != self._attached.replica:
            self._patience.check(f"the preferred read replica is broker {answer.preferred_read_replica}")
            self._attached.leave()
            self._attached.replica = answer.preferred_read_replica
        else:
            bound = answer.last_stable_offset if self._isolation else answer.high_watermark
            self._patience.pause(
                f"offset {self.at.offset} of {self._end} was not written: readers are given what is before {bound}"
            )

    def _grow(self, needed: int, requested: int) -> None:
        """A broker that cuts off the first batch is asked for the size of the batch."""
        if needed <= requested or needed > MAX_SIZE:
            raise BadAnswer(f"{self._partition}: the batch at offset {self.at.offset} is cut off, of {needed} bytes")
        self._least_bytes = needed

    def _refused(self, code: int, answer: FetchResponse.PartitionData | None) -> None:
        what = f"{self._partition}: {error_codes.name(code)}"
        if self._attached.replica is not None:  # for any error: the leader decides
            self._astray(what)
        elif code == error_codes.OFFSET_OUT_OF_RANGE:
            raise self._out_of_range()
        elif code == error_codes.CORRUPT_MESSAGE:
            raise ApiError(f"reading {self._partition} at offset {self.at.offset}", code)
        elif answer is not None and self._attached.learned(
            LeaderAndEpoch(answer.current_leader.leader_id, answer.current_leader.leader_epoch)
        ):
            self._patience.check(what)
        else:
            self._network.record_error(self._partition, code, "reading")
            self._astray(what, stale=code in error_codes.REFRESH)

    def _out_of_range(self) -> OffsetOutOfRange:
        """The error with the offsets of the partition, if they can be requested."""
        bounds = []
        with suppress(ClientError):
            for when in (EARLIEST, LATEST):
                found = by_time(self._network, {self._partition: when}, "read_uncommitted")[self._partition]
                bounds.append(found.offset if found else -1)
        low, high = bounds if len(bounds) == 2 else (-1, -1)
        return OffsetOutOfRange(self._partition, self.at.offset, low, high)

    def _astray(self, trouble: str, *, stale: bool = True) -> None:
        """Finds the leader again, after a wait."""
        self._under_way = None
        self._attached.lost(stale=stale)
        self._patience.pause(trouble)
