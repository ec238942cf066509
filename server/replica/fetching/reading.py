"""Reading one partition for a fetcher: what it may see, in the order of Kafka's checks.

Rules. Unknown partition, a log directory that has failed, then the fetcher's idea of the leader epoch, then whether a replica is one of the
partition's, then its history (KIP-320, KIP-595: a fetcher that says which epoch it read last is told where it diverged), then the range. A
consumer sees up to the high watermark, or with read_committed up to the last stable offset, and then also which transactions were aborted
(KIP-98). An answer without data is empty, not null.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import ZERO

from ...log.divergence import Verdict
from ...log.files.errors import DiskFailure
from ...log.formats.errors import BadFile
from ...requests.waiting import OTHERS_FIRST, Slices, Wait, Waiters
from ..partition import Partition
from ..replication.following import Following
from .preferred_read_replica import LEADER, nearest
from .wanted import TOPIC_IDS_FROM, Answered, Wanted

if TYPE_CHECKING:
    from ...node import Node
    from ..replication.in_sync import InSync
    from ..replication.informed import Followers
    from ..replication.throttle import Throttle
    from .follower_session import FollowerSession

log = logging.getLogger("kafkadouble.server.replica")

NOTHING = b""
UNKNOWN = (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_ID)
READ_COMMITTED = 1
RACKS_FROM = 11
"""From here on a consumer says in which rack it is, and may read from followers (KIP-392)."""

CONSUMER = -1

PartitionData = FetchResponse.PartitionData
_new = object.__new__


class Terms:
    """What holds for every partition of one Fetch: its version, its isolation, how many bytes may still go out, which replica asks, if one
    does, in which life of its broker's, and whether that is over, and in which session, if one knows what it was told; and in which rack a
    consumer is that may be sent to another replica."""

    __slots__ = (
        "broker_epoch",
        "bytes_left",
        "committed",
        "now",
        "rack",
        "replica",
        "session",
        "stale",
        "throttle",
        "version",
    )

    def __init__(
        self,
        version: int,
        isolation_level: int,
        max_bytes: int,
        replica: int = CONSUMER,
        now: int = 0,
        rack: str = "",
        broker_epoch: int = -1,
        stale: bool = False,
    ) -> None:
        self.version, self.committed, self.bytes_left = version, isolation_level == READ_COMMITTED, max_bytes
        self.replica, self.now, self.rack = replica, now, rack
        self.broker_epoch, self.stale = broker_epoch, stale
        self.throttle: Throttle | None = None  # while more went to throttled replicas than may
        self.session: FollowerSession | None = None


class Reading:
    """All partitions of one Fetch, read once. `urgent` when the answer must not wait: an error, or a history that diverged. `news` are those
    of which a follower knows everything as soon as it is answered."""

    __slots__ = ("answered", "news", "places", "size", "urgent")

    def __init__(self) -> None:
        self.answered: list[Answered] = []
        self.news: list[tuple[Followers, int, FollowerSession, Wanted]] = []
        self.places: list[Waiters] = []
        self.size, self.urgent = 0, False

    def told(self) -> None:
        """It is answered."""
        for followers, replica, session, wanted in self.news:
            session.told_all(wanted)
            followers.inform(replica, session, wanted)


def read_all(node: Node, wanted: Sequence[Wanted], terms: Terms) -> Reading:
    """Read every wanted partition, in order, until the bytes run out; the first that has data gives at least one batch (KIP-74)."""
    reading = Reading()
    for one in wanted:
        _read_one(node, one, terms, reading)
    return reading


def read_in_slices(node: Node, wanted: Sequence[Wanted], terms: Terms) -> Wait[Reading]:
    """The same, and others have their turn in between."""
    reading, slices = Reading(), Slices()
    for one in wanted:
        _read_one(node, one, terms, reading)
        if slices.end():
            yield OTHERS_FIRST
    return reading


def _read_one(node: Node, one: Wanted, terms: Terms, reading: Reading) -> None:
    partition = find(node, one, terms)
    if isinstance(partition, int):
        data = failed(one.index, partition)
    elif terms.rack and not isinstance(partition, Following) and (near := _elsewhere(node, partition, one, terms)):
        data = near
    elif terms.replica >= 0 and isinstance(partition, Partition) and partition.in_sync is not None:
        data = _read_for_follower(node, partition, partition.in_sync, one, terms, reading)
    else:
        reading.places.append(partition.waiters)
        data = _read_or_failed(partition, one, terms, at_least_one=reading.size == 0)
    reading.answered.append((one, data))
    size = len(data.records or NOTHING)
    reading.size += size
    terms.bytes_left = max(0, terms.bytes_left - size)
    if data.error_code or one.diverged:
        reading.urgent = True


def has_moved(node: Node, reading: Reading) -> bool:
    """Whether a partition has more committed, or is another's, since it was read in slices."""
    for one, data in reading.answered:
        partition = node.partitions.get(one.topic, one.index)
        if partition is None or partition.high_watermark != data.high_watermark:
            return True
    return False


def _read_for_follower(
    node: Node, partition: Partition, in_sync: InSync, wanted: Wanted, terms: Terms, reading: Reading
) -> PartitionData:
    """One partition's data, or its error; what a session has told all of is not looked at by its next fetches."""
    followers, session = in_sync.followers, terms.session
    followers.asks(terms.replica, session, in_sync)
    data = _read_or_failed(partition, wanted, terms, at_least_one=reading.size == 0)
    if node.isr_changes is not None:
        node.isr_changes.follower_moved(partition, terms.replica)
    if session is None or data.error_code or wanted.diverged or not has_all(partition, in_sync, wanted, terms.replica):
        reading.places.append(followers)
    elif wanted.has_news(data):
        reading.places.append(followers)
        reading.news.append((followers, terms.replica, session, wanted))
    else:
        session.told_all(wanted)
        followers.inform(terms.replica, session, wanted)
    return data


def has_all(partition: Partition, in_sync: InSync, wanted: Wanted, replica: int) -> bool:
    """Whether a follower is in sync, and at the end of a log of which all is committed, or will be as soon as others have it."""
    end = partition.log.log_end_offset
    if wanted.fetch_offset != end or not in_sync.is_settled(replica):
        return False
    return partition.high_watermark == end or not partition.lacks_replicas


def find(node: Node, wanted: Wanted, terms: Terms) -> Partition | Following | int:
    """The partition, or the error code of not finding it. A consumer may read from a follower, too (KIP-392). What an id is called is looked up
    once in a session, so that a topic that was deleted is unknown by its name after that, and another one of its name is
    INCONSISTENT_TOPIC_ID."""
    if terms.version >= TOPIC_IDS_FROM and not wanted.topic:
        topic = node.controller.image.topic(wanted.topic_id)
        if topic is None:
            return error_codes.UNKNOWN_TOPIC_ID
        wanted.topic = topic.name
    partition: Partition | Following | None = node.partitions.get(wanted.topic, wanted.index)
    if partition is None and node.fetchers is not None and terms.replica < 0 and terms.version >= RACKS_FROM:
        partition = node.fetchers.get(wanted.topic, wanted.index)
    if partition is None:
        return node.partitions.code_of_missing(wanted.topic, wanted.index, wanted.current_leader_epoch)
    if wanted.topic_id != ZERO and wanted.topic_id != partition.topic_id:
        return error_codes.INCONSISTENT_TOPIC_ID
    return partition


def _elsewhere(node: Node, partition: Partition, wanted: Wanted, terms: Terms) -> PartitionData | None:
    """The answer that sends a consumer to a replica in its rack; None when it is to be served here."""
    broker = nearest(node, partition, terms.rack, wanted.fetch_offset)
    if broker == LEADER or partition.check_epoch(wanted.current_leader_epoch):
        return None
    data = _data(partition, wanted.index, terms)
    data.preferred_read_replica = broker
    return data


def _read_or_failed(
    partition: Partition | Following, wanted: Wanted, terms: Terms, *, at_least_one: bool
) -> PartitionData:
    """What cannot be read is that partition's error alone."""
    try:
        return read(partition, wanted, terms, at_least_one=at_least_one)
    except DiskFailure:  # the node tells of it
        return failed(wanted.index, error_codes.KAFKA_STORAGE_ERROR)
    except BadFile as problem:
        log.error("%r cannot be read at offset %d: %s", partition, wanted.fetch_offset, problem)
        return failed(wanted.index, error_codes.CORRUPT_MESSAGE)


def read(partition: Partition | Following, wanted: Wanted, terms: Terms, *, at_least_one: bool) -> PartitionData:
    """One partition's data, or its error."""
    if code := partition.check_epoch(wanted.current_leader_epoch):
        return failed(wanted.index, code)
    if terms.replica >= 0 and (isinstance(partition, Following) or not partition.has_replica(terms.replica)):
        return _to_stranger(wanted)
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


def _records(partition: Partition | Following, wanted: Wanted, terms: Terms, at_least_one: bool) -> PartitionData:
    log = partition.log
    if terms.replica >= 0 and isinstance(partition, Partition):
        if terms.stale:  # of an earlier life (KIP-903)
            return failed(wanted.index, error_codes.NOT_LEADER_OR_FOLLOWER)
        partition.fetched(terms.replica, wanted.fetch_offset, terms.now, terms.broker_epoch)
        partition.follower_begins(terms.replica, wanted.log_start_offset)
        if _waits(partition, terms):
            return _data(partition, wanted.index, terms)
        bound = log.log_end_offset
    else:
        bound = log.last_stable_offset if terms.committed else log.high_watermark
    data = _data(partition, wanted.index, terms)
    max_bytes = min(wanted.max_bytes, terms.bytes_left)
    if wanted.fetch_offset >= bound or (max_bytes <= 0 and not at_least_one):
        return data
    if max_bytes < 0:  # Kafka's reading breaks over it, where there is something to read
        return failed(wanted.index, error_codes.UNKNOWN_SERVER_ERROR)
    found = log.lend(wanted.fetch_offset, max_bytes, bound, at_least_one=at_least_one)
    data.records = cast(bytes, found.records)
    if terms.committed:
        data.aborted_transactions = [
            FetchResponse.AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
            for aborted in log.aborted_in(wanted.fetch_offset, found.next_offset)
        ]
    return data


def _waits(partition: Partition, terms: Terms) -> bool:
    """Whether a follower is out of sync, and throttled (KIP-73)."""
    if terms.throttle is None or partition.in_sync is None or terms.replica in partition.in_sync.isr:
        return False
    return terms.throttle.is_throttled(partition.topic, partition.index)


def _data(partition: Partition | Following, index: int, terms: Terms) -> PartitionData:
    log, made = (
        partition.log,
        _new(PartitionData),
    )  # and its fields at once, as a reader does: by way of arguments takes longer
    made.partition_index, made.error_code, made.high_watermark = index, error_codes.NONE, log.high_watermark
    made.last_stable_offset, made.log_start_offset = log.last_stable_offset, log.log_start_offset
    made._diverging_epoch = made._current_leader = made._snapshot_id = made.unknown_tagged_fields = None
    made.aborted_transactions, made.preferred_read_replica = [] if terms.committed else None, -1
    made.records = NOTHING
    return made


def failed(index: int, code: int) -> PartitionData:
    """The answer of a partition that cannot be read."""
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[] if code in UNKNOWN else None,  # as Kafka has it
        records=NOTHING,
    )


def _to_stranger(wanted: Wanted) -> PartitionData:
    """What a replica is told that is none of the partition's: if it names the right epoch, that there will be another, in which it is."""
    unnamed = wanted.current_leader_epoch < 0
    code = error_codes.NOT_LEADER_OR_FOLLOWER if unnamed else error_codes.UNKNOWN_LEADER_EPOCH
    return failed(wanted.index, code)


def all_failed(wanted: Iterable[Wanted], code: int) -> list[Answered]:
    """Every partition answered with the same error."""
    answered = [(one, failed(one.index, code)) for one in wanted]
    for _, data in answered:
        data.aborted_transactions = []  # as Kafka has it
    return answered
