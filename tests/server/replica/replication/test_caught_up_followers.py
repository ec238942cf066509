"""The entry of a caught-up follower when it has two sessions: the answer to the fetch of the older
one was lost, and that fetch still waits at the leader."""

from __future__ import annotations

from typing import Any, cast

from kafkadouble.server.replica.fetching.cached_partition import CachedPartition
from kafkadouble.server.replica.replication.caught_up_followers import CaughtUpFollowers
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas

BROKER = 2


class Session:
    """A session that counts how often its fetch is woken."""

    def __init__(self, last_used: int) -> None:
        self.last_used = self.used_before = last_used
        self.woken = 0

    def mark_dirty(self, partition: CachedPartition, size_bytes: int | None) -> None:
        self.woken += 1


class InSync:
    def was_caught_up(self, broker_id: int, time: int) -> None:
        """The time of the last fetch counts for the in-sync check."""


IN_SYNC: Any = cast(InSyncReplicas, InSync())
PARTITION: Any = object()


def read(followers: CaughtUpFollowers, session: Session) -> bool:
    """A fetch of the session reads the partition, where there is nothing new; whether it is skipped
    from now on."""
    followers.on_fetch(BROKER, session, IN_SYNC)
    return followers.mark_caught_up(BROKER, session, PARTITION)


def test_the_newer_session_replaces_the_older_one_once() -> None:
    followers, older, newer = CaughtUpFollowers(), Session(1), Session(2)
    assert read(followers, older)
    assert read(followers, newer)
    assert (older.woken, newer.woken) == (1, 0)
    assert not read(followers, older), "the fetch that was woken does not take the entry back"
    assert (older.woken, newer.woken) == (1, 0)


def test_a_request_makes_a_session_the_newer_one() -> None:
    followers, older, newer = CaughtUpFollowers(), Session(1), Session(2)
    assert read(followers, older)
    assert read(followers, newer)
    older.last_used = 3
    assert read(followers, older)
    assert (older.woken, newer.woken) == (1, 1)


def test_a_fetch_without_a_session_ends_the_entry() -> None:
    followers, session = CaughtUpFollowers(), Session(1)
    assert read(followers, session)
    followers.on_fetch(BROKER, None, IN_SYNC)
    assert session.woken == 1
    assert read(followers, session)
