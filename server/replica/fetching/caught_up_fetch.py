"""The fetch of a follower that is caught up: it is accepted, and waits, without a read.

Most fetches of followers are of this kind. Any other case (missing bytes, another epoch, an error)
is left to `log_reader`, which repeats the checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...requests.waiting import Waiters
from .cached_partition import CachedPartition
from .fetch_params import FetchParams
from .log_reader import LogReadResults, is_caught_up

if TYPE_CHECKING:
    from ..host import FetchHost
    from ..replication.in_sync_replicas import InSyncReplicas
    from ..replication.partition import Partition
    from .follower_fetch_session import FollowerFetchSession


def read_caught_up(
    node: FetchHost, partitions: Sequence[CachedPartition], params: FetchParams
) -> LogReadResults | None:
    """Returns results without records, which wait for new ones; None if a full read is needed."""
    session = params.session
    if session is None or params.is_stale_replica:
        return None
    results = LogReadResults()
    for fetched in partitions:
        partition = node.partitions.get(fetched.topic, fetched.index)
        in_sync = None if partition is None else partition.in_sync
        if partition is None or in_sync is None or not _is_at_end(partition, in_sync, fetched, params.replica_id):
            return None
        place = _record_fetch(node, partition, in_sync, fetched, params, session)
        if place is not None:
            results.places.append(place)
    return results


def _is_at_end(partition: Partition, in_sync: InSyncReplicas, fetched: CachedPartition, replica_id: int) -> bool:
    """Returns whether the fetch is valid and there are no records for it."""
    log = partition.log
    return (
        fetched.fetch_offset == log.log_end_offset
        and fetched.last_fetched_epoch == log.epochs.latest
        and fetched.topic_id == partition.topic_id
        and replica_id in in_sync.remotes
        and not partition.check_epoch(fetched.current_leader_epoch)
    )


def _record_fetch(
    node: FetchHost,
    partition: Partition,
    in_sync: InSyncReplicas,
    fetched: CachedPartition,
    params: FetchParams,
    session: FollowerFetchSession,
) -> Waiters | None:
    """Records how far the follower is.

    Returns where its fetch waits in addition to its session; None if the follower knows everything.
    """
    replica_id, followers, log = params.replica_id, in_sync.followers, partition.log
    followers.on_fetch(replica_id, session, in_sync)
    partition.fetched(replica_id, fetched.fetch_offset, params.now, params.replica_epoch)
    partition.follower_begins(replica_id, fetched.log_start_offset)
    fetched.diverged = False
    if node.alter_partition_manager is not None:
        node.alter_partition_manager.maybe_expand_isr(partition, replica_id)
    has_high_watermark = fetched.sent_high_watermark == log.high_watermark
    has_all = has_high_watermark and fetched.sent_log_start_offset == log.log_start_offset
    if not (has_all and is_caught_up(partition, in_sync, fetched, replica_id)):
        return followers
    if not followers.mark_caught_up(replica_id, session, fetched):
        return followers
    session.mark_clean(fetched)
    return None
