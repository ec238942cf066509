"""Reads the partitions of a Fetch from their logs, in the order of Kafka's checks.

Checks, in this order: the partition is unknown; its log directory is offline; the leader epoch is
wrong; the replica is not one of the partition's; the logs diverge (KIP-320, KIP-595: a fetcher that
sends its last fetched epoch gets the diverging epoch); the offset is out of range.

A consumer reads up to the high watermark. With read_committed it reads up to the last stable
offset, and also gets the aborted transactions (KIP-98). A response without records has empty
records, not null.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import ZERO
from kafkadouble.wire.client_log import ClientLog

from ...log.aborted_in_fetch import aborted_in_fetch
from ...log.divergence import FetchPositionKind, compare_with
from ...log.files.errors import DiskFailure
from ...log.formats.errors import BadFile
from ...requests.waiting import OTHERS_FIRST, Slices, Wait, Waiters
from ..replication.follower_partition import FollowerPartition
from ..replication.partition import Partition
from .cached_partition import TOPIC_IDS_FROM, CachedPartition, PartitionResponse
from .fetch_params import FetchParams
from .preferred_read_replica import LEADER, preferred_read_replica

if TYPE_CHECKING:
    from ...log.log import PartitionLog
    from ...log.storage import Loan
    from ..host import FetchHost
    from ..replication.caught_up_followers import CaughtUpFollowers
    from ..replication.in_sync_replicas import InSyncReplicas
    from .follower_fetch_session import FollowerFetchSession

log = ClientLog("kafkadouble.server.replica")

NO_RECORDS = b""
UNKNOWN_TOPIC = (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_ID)
RACKS_FROM = 11
"""From this version on a consumer sends its rack, and may read from a follower (KIP-392)."""

PartitionData = FetchResponse.PartitionData
_new = object.__new__


class LogReadResults:
    """The partitions of one Fetch, each read once.

    `must_respond` is set if the response must not wait: an error, or a diverging log.
    `caught_up_after` has the partitions of which a follower knows everything once it has the
    response.
    """

    __slots__ = ("caught_up_after", "must_respond", "partitions", "places", "size_bytes")

    def __init__(self) -> None:
        self.partitions: list[PartitionResponse] = []
        self.caught_up_after: list[tuple[CaughtUpFollowers, int, FollowerFetchSession, CachedPartition]] = []
        self.places: list[Waiters] = []
        self.size_bytes, self.must_respond = 0, False

    def on_response(self) -> None:
        """The response is sent: mark the follower as caught up."""
        for followers, replica_id, session, fetched in self.caught_up_after:
            if followers.mark_caught_up(replica_id, session, fetched):
                session.mark_clean(fetched)


def read_from_log(node: FetchHost, partitions: Sequence[CachedPartition], params: FetchParams) -> LogReadResults:
    """Reads every partition, in order, until `bytes_left` is used up.

    The first partition with data gives at least one batch (KIP-74).
    """
    results = LogReadResults()
    for fetched in partitions:
        _read_one(node, fetched, params, results)
    return results


def read_from_log_in_slices(
    node: FetchHost, partitions: Sequence[CachedPartition], params: FetchParams
) -> Wait[LogReadResults]:
    """Does the same as `read_from_log`, and lets other requests run in between."""
    results, slices = LogReadResults(), Slices()
    for fetched in partitions:
        _read_one(node, fetched, params, results)
        if slices.end():
            yield OTHERS_FIRST
    return results


def _read_one(node: FetchHost, fetched: CachedPartition, params: FetchParams, results: LogReadResults) -> None:
    partition = find(node, fetched, params)
    if isinstance(partition, int):
        data = failed(fetched.index, partition)
    elif (
        params.rack_id
        and not isinstance(partition, FollowerPartition)
        and (redirect := _redirect(node, partition, fetched, params))
    ):
        data = redirect
    elif params.is_from_follower and isinstance(partition, Partition) and partition.in_sync is not None:
        data = _read_for_follower(node, partition, partition.in_sync, fetched, params, results)
    else:
        results.places.append(partition.waiters)
        data = _read_or_failed(partition, fetched, params, at_least_one=results.size_bytes == 0)
    results.partitions.append((fetched, data))
    size_bytes = len(data.records or NO_RECORDS)
    results.size_bytes += size_bytes
    params.bytes_left = max(0, params.bytes_left - size_bytes)
    if data.error_code or fetched.diverged:
        results.must_respond = True


def has_changed(node: FetchHost, results: LogReadResults) -> bool:
    """Returns whether a high watermark or a leader changed since the read in slices."""
    for fetched, data in results.partitions:
        partition = node.partitions.get(fetched.topic, fetched.index)
        if partition is None or partition.high_watermark != data.high_watermark:
            return True
    return False


def _read_for_follower(
    node: FetchHost,
    partition: Partition,
    in_sync: InSyncReplicas,
    fetched: CachedPartition,
    params: FetchParams,
    results: LogReadResults,
) -> PartitionData:
    """Reads a partition for a follower, and tracks whether the follower is caught up."""
    followers, session, replica_id = in_sync.followers, params.session, params.replica_id
    followers.on_fetch(replica_id, session, in_sync)
    data = _read_or_failed(partition, fetched, params, at_least_one=results.size_bytes == 0)
    if node.alter_partition_manager is not None:
        node.alter_partition_manager.maybe_expand_isr(partition, replica_id)
    is_behind = data.error_code or fetched.diverged or not is_caught_up(partition, in_sync, fetched, replica_id)
    if session is None or is_behind:
        results.places.append(followers)
    elif fetched.must_respond(data):
        results.places.append(followers)
        results.caught_up_after.append((followers, replica_id, session, fetched))
    elif followers.mark_caught_up(replica_id, session, fetched):
        session.mark_clean(fetched)
    else:
        results.places.append(followers)
    return data


def is_caught_up(partition: Partition, in_sync: InSyncReplicas, fetched: CachedPartition, replica_id: int) -> bool:
    """Returns whether a follower is in sync and at the log end offset, and nothing is outstanding.

    Records that are not committed yet are committed without a change here, as soon as other
    replicas have them.
    """
    end_offset = partition.log.log_end_offset
    if fetched.fetch_offset != end_offset or not in_sync.is_settled(replica_id):
        return False
    return partition.high_watermark == end_offset or not partition.lacks_replicas


def find(node: FetchHost, fetched: CachedPartition, params: FetchParams) -> Partition | FollowerPartition | int:
    """Returns the partition, or the error code if it is not here.

    A consumer may read from a follower (KIP-392). A session resolves a topic id once. After the
    topic is deleted it is unknown by its name, and a new topic with that name is
    INCONSISTENT_TOPIC_ID.
    """
    if params.version >= TOPIC_IDS_FROM and not fetched.topic:
        topic = node.image.topic(fetched.topic_id)
        if topic is None:
            return error_codes.UNKNOWN_TOPIC_ID
        fetched.topic = topic.name
    partition: Partition | FollowerPartition | None = node.partitions.get(fetched.topic, fetched.index)
    if partition is None and node.fetchers is not None and not params.is_from_follower and params.version >= RACKS_FROM:
        partition = node.fetchers.get(fetched.topic, fetched.index)
    if partition is None:
        return node.partitions.code_of_missing(fetched.topic, fetched.index, fetched.current_leader_epoch)
    if fetched.topic_id != ZERO and fetched.topic_id != partition.topic_id:
        return error_codes.INCONSISTENT_TOPIC_ID
    return partition


def _redirect(
    node: FetchHost, partition: Partition, fetched: CachedPartition, params: FetchParams
) -> PartitionData | None:
    """Returns the response that sends a consumer to a replica in its rack; None to read here."""
    broker_id = preferred_read_replica(node, partition, params.rack_id, fetched.fetch_offset, params.listener)
    if broker_id == LEADER or partition.check_epoch(fetched.current_leader_epoch):
        return None
    data = _data(partition, fetched.index, params)
    data.preferred_read_replica = broker_id
    return data


def _read_or_failed(
    partition: Partition | FollowerPartition, fetched: CachedPartition, params: FetchParams, *, at_least_one: bool
) -> PartitionData:
    """Reads a partition; a log that cannot be read is an error of this partition alone."""
    try:
        return read(partition, fetched, params, at_least_one=at_least_one)
    except DiskFailure:  # the node reports it
        return failed(fetched.index, error_codes.KAFKA_STORAGE_ERROR)
    except BadFile as problem:
        log.error("%r cannot be read at offset %d: %s", partition, fetched.fetch_offset, problem)
        return failed(fetched.index, error_codes.CORRUPT_MESSAGE)


def read(
    partition: Partition | FollowerPartition, fetched: CachedPartition, params: FetchParams, *, at_least_one: bool
) -> PartitionData:
    """Returns the data of one partition, or its error."""
    if code := partition.check_epoch(fetched.current_leader_epoch):
        return failed(fetched.index, code)
    if params.is_from_follower and (
        isinstance(partition, FollowerPartition) or not partition.has_replica(params.replica_id)
    ):
        return _not_a_replica(fetched)
    log = partition.log
    comparison = compare_with(log, fetched.fetch_offset, fetched.last_fetched_epoch)
    fetched.diverged = comparison.kind is FetchPositionKind.DIVERGING
    if fetched.diverged:
        data = _data(partition, fetched.index, params)
        end = comparison.end
        data.diverging_epoch = FetchResponse.EpochEndOffset(epoch=end.epoch, end_offset=end.offset)
        return data
    in_range = log.log_start_offset <= fetched.fetch_offset <= log.log_end_offset
    if comparison.kind is FetchPositionKind.OUT_OF_RANGE or not in_range:
        return failed(fetched.index, error_codes.OFFSET_OUT_OF_RANGE)
    return _records(partition, fetched, params, at_least_one)


def _records(
    partition: Partition | FollowerPartition, fetched: CachedPartition, params: FetchParams, at_least_one: bool
) -> PartitionData:
    log = partition.log
    if params.is_from_follower and isinstance(partition, Partition):
        if params.is_stale_replica:
            return failed(fetched.index, error_codes.NOT_LEADER_OR_FOLLOWER)
        partition.fetched(params.replica_id, fetched.fetch_offset, params.now, params.replica_epoch)
        partition.follower_begins(params.replica_id, fetched.log_start_offset)
        if _is_throttled(partition, params):
            return _data(partition, fetched.index, params)
        upper_bound = log.log_end_offset
    else:
        upper_bound = log.last_stable_offset if params.is_read_committed else log.high_watermark
    data = _data(partition, fetched.index, params)
    max_bytes = min(fetched.max_bytes, params.bytes_left)
    offset = fetched.fetch_offset
    if offset >= upper_bound or (max_bytes <= 0 and not at_least_one and not params.is_read_committed):
        return data
    if max_bytes < 0 and at_least_one:  # Kafka fails too if there is something to read
        return failed(fetched.index, error_codes.UNKNOWN_SERVER_ERROR)
    found = log.lend(offset, max_bytes, upper_bound, at_least_one=at_least_one)
    data.records = cast(bytes, found.records)
    if params.is_read_committed:
        # As in Kafka: a first batch that is too large is left out, and the list with it.
        is_left_out = max_bytes > 0 and not at_least_one and not len(found.records)
        data.aborted_transactions = None if is_left_out else _aborted(log, offset, max_bytes, upper_bound, found)
    return data


def _aborted(
    log: PartitionLog, offset: int, max_bytes: int, end: int, loan: Loan
) -> list[FetchResponse.AbortedTransaction]:
    return [
        FetchResponse.AbortedTransaction(producer_id=aborted.producer_id, first_offset=aborted.first_offset)
        for aborted in aborted_in_fetch(log, offset, max_bytes, end, loan)
    ]


def _is_throttled(partition: Partition, params: FetchParams) -> bool:
    """Returns whether the follower is out of sync and its replica is throttled (KIP-73)."""
    if params.quota is None or partition.in_sync is None or params.replica_id in partition.in_sync.isr:
        return False
    return params.quota.is_throttled(partition.topic, partition.index)


def _data(partition: Partition | FollowerPartition, index: int, params: FetchParams) -> PartitionData:
    """Returns the data without records.

    It sets the fields directly, as a decoder does: the constructor takes longer, and this runs for
    each partition of each Fetch.
    """
    log, data = partition.log, _new(PartitionData)
    data.partition_index, data.error_code, data.high_watermark = index, error_codes.NONE, log.high_watermark
    data.last_stable_offset, data.log_start_offset = log.last_stable_offset, log.log_start_offset
    data._diverging_epoch = data._current_leader = data._snapshot_id = data.unknown_tagged_fields = None
    data.aborted_transactions, data.preferred_read_replica = [] if params.is_read_committed else None, -1
    data.records = NO_RECORDS
    return data


def failed(index: int, code: int) -> PartitionData:
    """Returns the data of a partition that cannot be read."""
    return PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=[] if code in UNKNOWN_TOPIC else None,  # as in Kafka
        records=NO_RECORDS,
    )


def _not_a_replica(fetched: CachedPartition) -> PartitionData:
    """Returns the error for a replica that is not one of the partition's.

    If it sent the right epoch, the metadata that adds the replica has not arrived here yet.
    """
    has_epoch = fetched.current_leader_epoch >= 0
    code = error_codes.UNKNOWN_LEADER_EPOCH if has_epoch else error_codes.NOT_LEADER_OR_FOLLOWER
    return failed(fetched.index, code)


def all_failed(partitions: Iterable[CachedPartition], code: int) -> list[PartitionResponse]:
    """Returns the same error for every partition."""
    responses = [(fetched, failed(fetched.index, code)) for fetched in partitions]
    for _, data in responses:
        data.aborted_transactions = []  # as in Kafka
    return responses
