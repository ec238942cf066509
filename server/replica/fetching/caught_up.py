"""The fetch of a follower that has everything: it says so, and waits. There is nothing to read for it.

Most fetches of followers are such when they come, so it is found out without a reading. Whatever is not plain here (bytes that are lacking,
another epoch, an error) is left to `reading`, which then finds again what was found here before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...requests.waiting import Waiters
from .reading import Reading, Terms, has_all
from .wanted import Wanted

if TYPE_CHECKING:
    from ...node import Node
    from ..partition import Partition
    from ..replication.in_sync import InSync
    from .follower_session import FollowerSession


def read_nothing(node: Node, wanted: Sequence[Wanted], terms: Terms) -> Reading | None:
    """A reading without bytes, that hangs where there may come some; None where it is to be done in full."""
    session = terms.session
    if session is None or terms.stale:
        return None
    found = Reading()
    for one in wanted:
        partition = node.partitions.get(one.topic, one.index)
        in_sync = None if partition is None else partition.in_sync
        if partition is None or in_sync is None or not _is_at_end(partition, in_sync, one, terms.replica):
            return None
        place = _note(node, partition, in_sync, one, terms, session)
        if place is not None:
            found.places.append(place)
    return found


def _is_at_end(partition: Partition, in_sync: InSync, wanted: Wanted, replica: int) -> bool:
    """Whether nothing is wrong with what is wanted, and there are no bytes."""
    log = partition.log
    return (
        wanted.fetch_offset == log.log_end_offset
        and wanted.last_fetched_epoch == log.epochs.latest
        and wanted.topic_id == partition.topic_id
        and replica in in_sync.remotes
        and not partition.check_epoch(wanted.current_leader_epoch)
    )


def _note(
    node: Node, partition: Partition, in_sync: InSync, wanted: Wanted, terms: Terms, session: FollowerSession
) -> Waiters | None:
    """Take the follower's word for it; where its fetch is to hang beside its session, if it is not told everything yet."""
    replica, followers, log = terms.replica, in_sync.followers, partition.log
    followers.asks(replica, session, in_sync)
    partition.fetched(replica, wanted.fetch_offset, terms.now, terms.broker_epoch)
    partition.follower_begins(replica, wanted.log_start_offset)
    wanted.diverged = False
    if node.isr_changes is not None:
        node.isr_changes.follower_moved(partition, replica)
    is_told = wanted.known_high_watermark == log.high_watermark and wanted.known_log_start == log.log_start_offset
    if not (is_told and has_all(partition, in_sync, wanted, replica)):
        return followers
    session.told_all(wanted)
    followers.inform(replica, session, wanted)
    return None
