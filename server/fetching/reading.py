"""Reading one partition for a fetcher: what it may see, in the order of Kafka's checks.

Rules. Unknown partition, a log directory that has failed, then the fetcher's idea of the leader epoch, then its history (KIP-320, KIP-595: a
fetcher that says which epoch it read last is told where it diverged), then the range. A consumer sees up to the high watermark, or with
read_committed up to the last stable offset, and then also which transactions were aborted (KIP-98). An answer without data is empty, not
null.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import ZERO

from ..log.divergence import Verdict
from ..log.files.errors import DiskFailure
from ..log.formats.errors import BadFile
from ..partition import Partition
from ..waiting import Waiters
from .wanted import TOPIC_IDS_FROM, Answered, Wanted

if TYPE_CHECKING:
    from ..node import Node

log = logging.getLogger("kafkadouble.server")

NOTHING = b""
UNKNOWN = (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_ID)
READ_COMMITTED = 1

LEADER_FROM = 16
"""The first version in which who is wrong about the leader is told the right one (KIP-951); the field is older."""
PartitionData = FetchResponse.PartitionData


class Terms:
    """What holds for every partition of one Fetch: its version, its isolation, and how many bytes may still go out."""

    __slots__ = ("bytes_left", "committed", "version")

    def __init__(self, version: int, isolation_level: int, max_bytes: int) -> None:
        self.version, self.committed, self.bytes_left = version, isolation_level == READ_COMMITTED, max_bytes


class Reading:
    """All partitions of one Fetch, read once. `urgent` when the answer must not wait: an error, or a history that diverged."""

    __slots__ = ("answered", "places", "size", "urgent")

    def __init__(self) -> None:
        self.answered: list[Answered] = []
        self.places: list[Waiters] = []
        self.size, self.urgent = 0, False


def read_all(node: Node, wanted: Sequence[Wanted], terms: Terms) -> Reading:
    """Read every wanted partition, in order, until the bytes run out; the first that has data gives at least one batch (KIP-74)."""
    reading = Reading()
    for one in wanted:
        partition = find(node, one, terms.version)
        if isinstance(partition, int):
            data = failed(one.index, partition)
        else:
            reading.places.append(partition.waiters)
            data = _read_or_failed(partition, one, terms, at_least_one=reading.size == 0)
        reading.answered.append((one, data))
        size = len(data.records or NOTHING)
        reading.size += size
        terms.bytes_left = max(0, terms.bytes_left - size)
        if data.error_code or one.diverged:
            reading.urgent = True
    return reading


def find(node: Node, wanted: Wanted, version: int) -> Partition | int:
    """The partition, or the error code of not finding it. What an id is called is looked up once in a session, so that a topic that was
    deleted is unknown by its name after that, and another one of its name is INCONSISTENT_TOPIC_ID."""
    if version >= TOPIC_IDS_FROM and not wanted.topic:
        topic = node.controller.image.topic(wanted.topic_id)
        if topic is None:
            return error_codes.UNKNOWN_TOPIC_ID
        wanted.topic = topic.name
    partition = node.partitions.get(wanted.topic, wanted.index)
    if partition is None:
        return error_codes.UNKNOWN_TOPIC_OR_PARTITION
    if wanted.topic_id != ZERO and wanted.topic_id != partition.topic_id:
        return error_codes.INCONSISTENT_TOPIC_ID
    return partition


def _read_or_failed(partition: Partition, wanted: Wanted, terms: Terms, *, at_least_one: bool) -> PartitionData:
    """What cannot be read is that partition's error alone."""
    try:
        return read(partition, wanted, terms, at_least_one=at_least_one)
    except DiskFailure:  # the node tells of it
        return failed(wanted.index, error_codes.KAFKA_STORAGE_ERROR)
    except BadFile as problem:
        log.error("%r cannot be read at offset %d: %s", partition, wanted.fetch_offset, problem)
        return failed(wanted.index, error_codes.CORRUPT_MESSAGE)


def read(partition: Partition, wanted: Wanted, terms: Terms, *, at_least_one: bool) -> PartitionData:
    """One partition's data, or its error."""
    if code := partition.check_epoch(wanted.current_leader_epoch):
        return failed(wanted.index, code, partition if terms.version >= LEADER_FROM else None)
    log = partition.log
    comparison = log.compare(wanted.fetch_offset, wanted.last_fetched_epoch)
    wanted.diverged = comparison.verdict is Verdict.DIVERGING
    if wanted.diverged:
        data = _data(partition, wanted.index, terms)
        data.diverging_epoch = FetchResponse.EpochEndOffset(
            epoch=comparison.end.epoch, end_offset=comparison.end.offset
        )
        return data
    in_range = log.log_start_offset <= wanted.fetch_offset <= log.log_end_offset
    if comparison.verdict is Verdict.OUT_OF_RANGE or not in_range:
        return failed(wanted.index, error_codes.OFFSET_OUT_OF_RANGE)
    return _records(partition, wanted, terms, at_least_one)


def _records(partition: Partition, wanted: Wanted, terms: Terms, at_least_one: bool) -> PartitionData:
    log, data = partition.log, _data(partition, wanted.index, terms)
    bound = log.last_stable_offset if terms.committed else log.high_watermark
    max_bytes = min(wanted.max_bytes, terms.bytes_left)
    if wanted.fetch_offset >= bound or (max_bytes <= 0 and not at_least_one):
        return data
    if max_bytes < 0:  # Kafka's reading breaks over it, where there is something to read
        return failed(wanted.index, error_codes.UNKNOWN_SERVER_ERROR)
    found = log.read(wanted.fetch_offset, max_bytes, bound, at_least_one=at_least_one)
    data.records = found.records
    if terms.committed:
        data.aborted_transactions = [
            FetchResponse.AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
            for aborted in log.aborted_in(wanted.fetch_offset, found.next_offset)
        ]
    return data


def _data(partition: Partition, index: int, terms: Terms) -> PartitionData:
    log = partition.log
    return PartitionData(
        partition_index=index,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=[] if terms.committed else None,
        records=NOTHING,
    )


def failed(index: int, code: int, partition: Partition | None = None) -> PartitionData:
    """The answer of a partition that cannot be read; where the fetcher is wrong about the leader it is told who leads (KIP-951)."""
    data = PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[] if code in UNKNOWN else None,  # as Kafka has it
        records=NOTHING,
    )
    if partition is not None and code in (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH):
        data.current_leader = FetchResponse.LeaderIdAndEpoch(
            leader_id=partition.leader_id, leader_epoch=partition.leader_epoch
        )
    return data


def refused_to_stranger(node: Node, wanted: Iterable[Wanted], version: int) -> list[Answered]:
    """What a replica is told that is none of the partitions': if it names the right epoch, that there will be another, in which it is."""
    return [(one, _to_stranger(node, one, version)) for one in wanted]


def _to_stranger(node: Node, wanted: Wanted, version: int) -> PartitionData:
    partition = find(node, wanted, version)
    if isinstance(partition, int):
        return failed(wanted.index, partition)
    code = partition.check_epoch(wanted.current_leader_epoch)
    if not code:
        unnamed = wanted.current_leader_epoch < 0
        code = error_codes.NOT_LEADER_OR_FOLLOWER if unnamed else error_codes.UNKNOWN_LEADER_EPOCH
    return failed(wanted.index, code, partition if version >= LEADER_FROM else None)


def all_failed(wanted: Iterable[Wanted], code: int) -> list[Answered]:
    """Every partition answered with the same error."""
    answered = [(one, failed(one.index, code)) for one in wanted]
    for _, data in answered:
        data.aborted_transactions = []  # as Kafka has it
    return answered
