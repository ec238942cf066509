"""Share sessions: epochs, responses, their number, and connections that end (KIP-932)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_fetch import ShareFetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.share import share_session_cache
from kafkadouble.server.share.share_fetch_context import SubsequentContext
from kafkadouble.server.share.share_session import ShareSession, ShareSessionKey, TopicIdPartition, next_epoch
from kafkadouble.server.share.share_session_cache import ShareSessionCache

TOPIC = Uuid(bytes(15) + b"\x09")
KEY = ShareSessionKey("g", "m")
OTHER = ShareSessionKey("g", "n")


def part(index: int) -> TopicIdPartition:
    return TopicIdPartition(TOPIC, index, "t")


def data(index: int, *, error: int = 0, records: bytes = b"") -> ShareFetchResponse.PartitionData:
    return ShareFetchResponse.PartitionData(partition_index=index, error_code=error, records=records)


class Listener:
    """What a cache reports."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_member_leave(self, key: ShareSessionKey) -> None:
        self.seen.append(key)

    def on_group_empty(self, group_id: str) -> None:
        self.seen.append(group_id)


def news(session: ShareSession, *read: ShareFetchResponse.PartitionData) -> list[int]:
    """The partitions that the next response of the session has."""
    epoch = session.epoch
    session.update((), ())
    context = SubsequentContext(session, epoch)
    return [new.partition for new in context.news({part(one.partition_index): one for one in read})]


def test_epochs_begin_again_at_1() -> None:
    assert [next_epoch(epoch) for epoch in (0, 1, 2**31 - 2, 2**31 - 1)] == [1, 2, 2**31 - 1, 1]


def test_a_response_has_records_errors_and_new_partitions() -> None:
    session = ShareSession(KEY, [part(0), part(1)], 1)
    assert news(session, data(0), data(1)) == []
    assert news(session, data(0, records=b"x"), data(1, error=6)) == [0, 1]
    assert news(session, data(0), data(1)) == [1]
    assert news(session, data(0), data(1)) == []
    session.update([part(2), part(0)], [part(1)])
    assert [each.partition.partition for each in session.partitions.values()] == [0, 2]
    assert news(session, data(0), data(2)) == [2]


def test_a_partition_with_records_is_read_last() -> None:
    session = ShareSession(KEY, [part(0), part(1), part(2)], 1)
    assert news(session, data(0, records=b"x"), data(1), data(2)) == [0]
    assert [each.partition.partition for each in session.partitions.values()] == [1, 2, 0]


def test_a_response_is_lost_if_the_member_has_sent_a_newer_request() -> None:
    session = ShareSession(KEY, [part(0)], 1)
    context = SubsequentContext(session, session.epoch)
    session.update((), ())
    session.update((), ())
    with pytest.raises(Refusal) as caught:
        context.news({})
    assert caught.value.code == error_codes.INVALID_SHARE_SESSION_EPOCH


def test_share_sessions_are_limited() -> None:
    cache = ShareSessionCache(1, Listener())
    first = cache.open(KEY, [part(0)], 1)
    assert first is not None
    assert cache.open(OTHER, [part(0)], 2) is None
    again = cache.open(KEY, [part(0)], 1)
    assert again is not None
    assert again is not first
    cache.remove(KEY)
    assert cache.open(OTHER, [part(0)], 2) is not None
    assert len(cache) == 1


@pytest.mark.parametrize(
    ("steps", "seen"),
    [
        # the connection of the only session ends
        (lambda cache: cache.on_disconnect(1), [KEY, "g"]),
        # a member without a session
        (lambda cache: cache.on_disconnect(9), []),
        # the session has ended before
        (lambda cache: (cache.remove(KEY), cache.on_disconnect(1)), ["g"]),
        # the member has another connection now
        (lambda cache: (cache.open(KEY, [part(0)], 2), cache.on_disconnect(1)), []),
        (lambda cache: (cache.open(KEY, [part(0)], 2), cache.on_disconnect(1), cache.on_disconnect(2)), [KEY, "g"]),
        # the group has another member
        (lambda cache: (cache.open(OTHER, [part(0)], 2), cache.on_disconnect(1)), [KEY]),
        (lambda cache: cache.clear() or cache.on_disconnect(1), ["g"]),
    ],
)
def test_the_end_of_a_connection(steps: Callable[[ShareSessionCache], object], seen: list[Any]) -> None:
    listener = Listener()
    cache = ShareSessionCache(10, listener)
    cache.open(KEY, [part(0)], 1)
    steps(cache)
    assert listener.seen == seen


def test_a_full_cache_refuses_a_session_and_one_that_grows_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ShareSessionCache(10, Listener())
    first = cache.open(KEY, [part(0)], 1)
    assert first is not None
    monkeypatch.setattr(share_session_cache, "MAX_SIZE_BYTES", cache.size_bytes + 100)
    assert cache.open(OTHER, [part(0)], 2) is None
    assert cache.update(first, [part(1)], [part(0)]), "it has as many partitions as before"
    assert not cache.update(first, [part(2)], ())
    assert cache.remove(KEY) is first
    assert cache.size_bytes == 0
    assert cache.open(OTHER, [part(0)], 2) is not None


def test_a_group_without_sessions_is_not_kept() -> None:
    cache = ShareSessionCache(10, Listener())
    for number in range(100):
        key = ShareSessionKey(f"group-{number}", "m")
        cache.open(key, [part(0)], 1)
        cache.remove(key)
    assert cache.groups == ()
