"""Incremental fetch sessions, sentence by sentence of KIP-227."""

from random import Random
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.server.replica.fetching import fetch_sessions
from kafkadouble.server.replica.fetching.fetch_session import next_epoch
from kafkadouble.server.replica.fetching.fetch_sessions import (
    EVICTION_MS,
    FetchContext,
    FetchSessionCache,
    IncrementalFetchContext,
)

VERSION = 12


@pytest.fixture
def sessions() -> FetchSessionCache:
    return FetchSessionCache(slots=2, random=Random(1))


def request(
    session_id: int, epoch: int, *partitions: tuple[str, int, int], forget: tuple[str, int] | None = None
) -> FetchRequest:
    topics = [
        FetchRequest.FetchTopic(
            topic=topic,
            partitions=[FetchRequest.FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1000)],
        )
        for topic, index, offset in partitions
    ]
    forgotten = [FetchRequest.ForgottenTopic(topic=forget[0], partitions=[forget[1]])] if forget else []
    return FetchRequest(session_id=session_id, session_epoch=epoch, topics=topics, forgotten_topics_data=forgotten)


def begin(
    sessions: FetchSessionCache, body: FetchRequest, *, now: int = 0, follower: bool = False, version: int = VERSION
) -> Any:
    return sessions.begin(body, version, follower=follower, now=now)


def data(
    index: int, *, records: bytes = b"", high_watermark: int = 0, error: int = 0, log_start: int = 0
) -> FetchResponse.PartitionData:
    return FetchResponse.PartitionData(
        partition_index=index,
        records=records,
        high_watermark=high_watermark,
        error_code=error,
        log_start_offset=log_start,
    )


def partitions_in(response: FetchResponse) -> list[tuple[str, int]]:
    return [(topic.topic, p.partition_index) for topic in response.responses for p in topic.partitions]


def opened(sessions: FetchSessionCache, *partitions: tuple[str, int, int], **how: Any) -> int:
    fetching = begin(sessions, request(0, 0, *partitions), **how)
    response: FetchResponse = fetching.answer([(partition, data(partition.index)) for partition in fetching.partitions])
    return response.session_id


def test_epoch_minus_one_fetches_without_a_session(sessions: FetchSessionCache) -> None:
    fetching = begin(sessions, request(0, -1, ("t", 0, 5)))
    assert type(fetching) is FetchContext
    assert fetching.answer([(w, data(0)) for w in fetching.partitions]).session_id == 0
    assert len(sessions) == 0


@pytest.mark.parametrize(
    "news", [{"records": b"x"}, {"high_watermark": 1}, {"log_start": 1}, {"error": error_codes.UNKNOWN_TOPIC_ID}]
)
def test_partition_changes_that_an_incremental_fetch_returns(sessions: FetchSessionCache, news: dict[str, Any]) -> None:
    session_id = opened(sessions, ("t", 0, 0))
    fetching = begin(sessions, request(session_id, 1))
    assert partitions_in(fetching.answer([(w, data(0, **news)) for w in fetching.partitions])) == [("t", 0)]


def test_first_good_fetch_response_after_an_error_is_included(sessions: FetchSessionCache) -> None:
    session_id = opened(sessions, ("t", 0, 0))
    failing = begin(sessions, request(session_id, 1))
    failing.answer([(w, data(0, error=3)) for w in failing.partitions])
    good = begin(sessions, request(session_id, 2))
    assert partitions_in(good.answer([(w, data(0)) for w in good.partitions])) == [("t", 0)]


def test_after_a_divergence_the_watermark_is_included_again(sessions: FetchSessionCache) -> None:
    session_id = opened(sessions, ("t", 0, 5))
    apart = begin(sessions, request(session_id, 1))
    for partition in apart.partitions:
        partition.diverged = True
    apart.answer([(w, data(0, high_watermark=5)) for w in apart.partitions])
    good = begin(sessions, request(session_id, 2))
    for partition in good.partitions:
        partition.diverged = False
    assert partitions_in(good.answer([(w, data(0, high_watermark=5)) for w in good.partitions])) == [("t", 0)]


def test_in_another_leader_epoch_the_watermark_is_included_again(sessions: FetchSessionCache) -> None:
    """A follower passes over an answer to what it asked in the epoch before."""
    session_id = opened(sessions, ("t", 0, 5), ("t", 1, 5))
    body = request(session_id, 1, ("t", 0, 5), ("t", 1, 5))
    body.topics[1].partitions[0].current_leader_epoch = 7
    fetching = begin(sessions, body)
    assert partitions_in(fetching.answer([(w, data(w.index)) for w in fetching.partitions])) == [("t", 1)]


def test_partitions_are_changed_added_and_forgotten(sessions: FetchSessionCache) -> None:
    session_id = opened(sessions, ("t", 0, 5), ("t", 1, 6))
    fetching = begin(sessions, request(session_id, 1, ("t", 1, 60), ("u", 0, 1), forget=("t", 0)))
    assert [(w.topic, w.index, w.fetch_offset) for w in fetching.partitions] == [("t", 1, 60), ("u", 0, 1)]


def test_a_partition_that_had_data_is_served_last_next_time(sessions: FetchSessionCache) -> None:
    session_id = opened(sessions, ("t", 0, 0), ("t", 1, 0))
    first = begin(sessions, request(session_id, 1))
    first.answer([(w, data(w.index, records=b"x" if w.index == 0 else b"")) for w in first.partitions])
    second = begin(sessions, request(session_id, 2))
    assert [w.index for w in second.partitions] == [1, 0]


def test_a_session_without_partitions_ends(sessions: FetchSessionCache) -> None:
    session_id = opened(sessions, ("t", 0, 0))
    fetching = begin(sessions, request(session_id, 1, forget=("t", 0)))
    assert fetching.answer([]).session_id == 0
    assert len(sessions) == 0


def test_epochs_wrap_to_one() -> None:
    assert [next_epoch(epoch) for epoch in (0, 1, 2**31 - 1)] == [1, 2, 1]


def test_fetch_response_of_a_full_cache_has_no_session(sessions: FetchSessionCache) -> None:
    opened(sessions, ("t", 0, 0))
    opened(sessions, ("t", 0, 0))
    assert opened(sessions, ("t", 0, 0)) == 0
    assert len(sessions) == 2


def test_a_larger_session_takes_the_place_of_a_smaller_one(sessions: FetchSessionCache) -> None:
    small = opened(sessions, ("t", 0, 0))
    opened(sessions, ("t", 0, 0), ("t", 1, 0), ("t", 2, 0))
    assert opened(sessions, ("t", 0, 0), ("t", 1, 0)) > 0
    assert begin(sessions, request(small, 1)) == error_codes.FETCH_SESSION_ID_NOT_FOUND


def test_a_follower_takes_the_place_of_a_consumer_but_never_the_other_way(sessions: FetchSessionCache) -> None:
    opened(sessions, ("t", 0, 0), follower=True)
    opened(sessions, ("t", 0, 0), ("t", 1, 0))
    assert opened(sessions, ("t", 0, 0), follower=True) > 0
    assert opened(sessions, ("t", 0, 0), ("t", 1, 0), ("t", 2, 0)) == 0


def test_a_session_unused_for_two_minutes_gives_up_its_place(sessions: FetchSessionCache) -> None:
    opened(sessions, ("t", 0, 0), now=0)
    opened(sessions, ("t", 0, 0), now=EVICTION_MS)
    assert opened(sessions, ("t", 0, 0), now=EVICTION_MS) == 0
    assert opened(sessions, ("t", 0, 0), now=EVICTION_MS + 1) > 0


def test_a_session_that_grows_beyond_the_bytes_of_the_cache_is_evicted(
    sessions: FetchSessionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = begin(sessions, request(0, 0, ("t", 0, 0))).answer([])
    monkeypatch.setattr(fetch_sessions, "MAX_SIZE_BYTES", sessions.size_bytes + 100)
    kept = begin(sessions, request(opened.session_id, 1, ("t", 0, 5)))
    assert isinstance(kept, IncrementalFetchContext), "it did not grow"
    grown = begin(sessions, request(opened.session_id, 2, ("t", 1, 0)))
    assert grown == error_codes.FETCH_SESSION_ID_NOT_FOUND
    assert (len(sessions), sessions.size_bytes) == (0, 0)


def test_a_session_that_does_not_fit_evicts_a_smaller_one_or_is_not_opened(
    sessions: FetchSessionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = begin(sessions, request(0, 0, ("t", 0, 0))).answer([]).session_id
    monkeypatch.setattr(fetch_sessions, "MAX_SIZE_BYTES", 2 * sessions.size_bytes + 100)
    large = begin(sessions, request(0, 0, ("t", 0, 0), ("t", 1, 0))).answer([]).session_id
    assert large, "it has more partitions than the first one, which is evicted"
    assert sessions.get(small) is None
    assert begin(sessions, request(0, 0, ("t", 0, 0))).answer([]).session_id == 0
    three = [("t", index, 0) for index in range(3)]
    assert begin(sessions, request(0, 0, *three)).answer([]).session_id == 0, "it never fits, and evicts none"
    assert sessions.get(large) is not None
    begin(sessions, request(large, -1))
    assert sessions.size_bytes == 0


def test_a_forgotten_partition_gives_its_bytes_back(sessions: FetchSessionCache) -> None:
    opened = begin(sessions, request(0, 0, ("t", 0, 0))).answer([]).session_id
    alone = sessions.size_bytes
    begin(sessions, request(opened, 1, ("t", 1, 0)))
    assert sessions.size_bytes > alone
    begin(sessions, request(opened, 2, forget=("t", 1)))
    assert sessions.size_bytes == alone
