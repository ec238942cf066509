"""Quotas as a client meets them: the throttle time in the answer, and the muted connection."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.quotas.throttle_time import java_round
from tests.server.harness import Harness, Pending, versions

from .quota_requests import DEFAULT, create, fetch, produce, set_quota

THROTTLED = error_codes.THROTTLING_QUOTA_EXCEEDED
USER = {"user": "ANONYMOUS"}


@pytest.fixture
def cluster() -> Harness:
    cluster = Harness()
    cluster.create("t")
    return cluster


def sent(cluster: Harness, message: Message, version: int, client_id: str = "test") -> tuple[Pending, int]:
    """The answer, and for how long the connection is muted."""
    pending = cluster.begin(message, version, client_id)
    assert pending.done
    return pending, 0 if pending.altered is None else pending.altered.mute_ms


def test_without_quotas_nothing_is_counted(cluster: Harness) -> None:
    assert not cluster.node.quotas.is_on
    for _ in range(3):
        assert sent(cluster, produce(100_000), 9)[1] == 0
    assert len(cluster.node.quotas.produce.sensors) == 0


def test_a_producer_beyond_its_quota_is_throttled_until_the_rate_is_the_quota(cluster: Harness) -> None:
    set_quota(cluster, {"client-id": "slow"}, producer_byte_rate=1000)
    frame = 20_000
    pending, muted = sent(cluster, produce(frame), 9, "slow")
    assert pending.response.responses[0].partition_responses[0].error_code == 0
    assert pending.response.throttle_time_ms == muted
    # 20 000 bytes and the header, in 10 s: as long as (2000 - 1000) / 1000 * 10 s.
    assert 10_000 < muted < 12_000
    assert sent(cluster, produce(frame), 9, "other")[1] == 0
    cluster.tick(muted)
    assert sent(cluster, produce(10), 9, "slow")[1] > 10_000, "the sample still counts in 11 s"
    cluster.tick(12_000)
    assert sent(cluster, produce(10), 9, "slow")[1] == 0


def test_small_requests_within_the_quota_are_not_throttled(cluster: Harness) -> None:
    set_quota(cluster, {"client-id": DEFAULT}, producer_byte_rate=10_000)
    for _ in range(60):
        assert sent(cluster, produce(8_500), 9)[1] == 0
        cluster.tick(1000)


def test_a_producer_without_answers_is_muted_too(cluster: Harness) -> None:
    set_quota(cluster, USER, producer_byte_rate=1000, request_percentage=0.001)
    pending, muted = sent(cluster, produce(20_000, acks=0), 9)
    assert (pending.response, pending.altered is not None) == (None, True)
    assert muted > 10_000


def test_a_user_quota_is_shared_by_the_clients_of_the_user(cluster: Harness) -> None:
    set_quota(cluster, USER, producer_byte_rate=1000)
    assert sent(cluster, produce(9_000), 9, "a")[1] == 0
    assert sent(cluster, produce(9_000), 9, "b")[1] > 5000


def test_a_consumer_beyond_its_quota_gets_an_empty_response(cluster: Harness) -> None:
    for _ in range(3):
        cluster.submit(produce(9_000), 9)
    set_quota(cluster, USER, consumer_byte_rate=1000)
    first, muted = sent(cluster, fetch(), 12)
    assert muted == 0
    assert len(first.response.responses[0].partitions[0].records) > 9_000
    second, muted = sent(cluster, fetch(1), 12)
    assert (second.response.responses, second.response.throttle_time_ms) == ([], muted)
    assert muted > 5000
    assert sent(cluster, fetch(1), 12)[1] == muted, "what was not sent is not counted"
    cluster.tick(12_000)
    third, muted = sent(cluster, fetch(1), 12)
    assert (muted, len(third.response.responses)) == (0, 1)


def test_a_throttled_fetch_leaves_its_session_as_it_is(cluster: Harness) -> None:
    cluster.submit(produce(9_000), 9)
    opened = cluster.submit(fetch(session_epoch=0), 12)
    assert opened.session_id
    set_quota(cluster, USER, consumer_byte_rate=1000)
    assert sent(cluster, fetch(), 12)[1] == 0  # nothing is left of the quota
    session = {"session_id": opened.session_id, "topics": []}
    answer, muted = sent(cluster, fetch(**session, session_epoch=1), 12)
    assert muted
    assert (answer.response.session_id, answer.response.responses) == (opened.session_id, [])
    cluster.tick(20_000)
    answer, muted = sent(cluster, fetch(**session, session_epoch=2), 12)
    assert (muted, len(answer.response.responses)) == (0, 1)


def test_a_throttled_full_fetch_opens_no_session(cluster: Harness) -> None:
    cluster.submit(produce(9_000), 9)
    set_quota(cluster, USER, consumer_byte_rate=1000)
    assert sent(cluster, fetch(), 12)[1] == 0
    answer, muted = sent(cluster, fetch(session_epoch=0), 12)
    assert (bool(muted), answer.response.session_id, len(cluster.node.fetch_sessions)) == (True, 0, 0)


def test_a_fetch_returns_no_more_than_the_quota_allows_at_once(cluster: Harness) -> None:
    for _ in range(10):
        cluster.submit(produce(3_000), 9)
    set_quota(cluster, USER, consumer_byte_rate=1000)
    answer, muted = sent(cluster, fetch(), 12)
    assert muted == 0
    data = answer.response.responses[0].partitions[0]
    assert 6_000 < len(data.records) <= 10_000


def test_the_time_of_requests_is_a_percentage_of_one_window_at_most(cluster: Harness) -> None:
    ticks = iter(range(0, 10**12, 10_000_000))
    cluster.node.quotas.nanos = lambda: next(ticks)  # each of the two steps takes 10 ms
    set_quota(cluster, {"client-id": "slow"}, request_percentage=0.5)
    found = [sent(cluster, MetadataRequest(topics=None), 12, "slow")[1] for _ in range(4)]
    # One is 2 % of a second, in ten seconds 0.2 %; three are 0.6 %, and throttled.
    assert found == [0, 0, 1000, 1000]
    assert sent(cluster, MetadataRequest(topics=None), 12, "other")[1] == 0


def test_a_clock_that_stands_still_counts_no_time(cluster: Harness) -> None:
    set_quota(cluster, USER, request_percentage=0.0001)
    assert [sent(cluster, MetadataRequest(topics=None), 12)[1] for _ in range(50)] == [0] * 50


def test_the_longest_throttle_time_counts(cluster: Harness) -> None:
    ticks = iter(range(0, 10**12, 100_000_000))
    cluster.node.quotas.nanos = lambda: next(ticks)
    set_quota(cluster, USER, request_percentage=0.1, producer_byte_rate=1000)
    assert sent(cluster, produce(100), 9)[1] == 1000, "the time of the request"
    assert sent(cluster, produce(30_000), 9)[1] > 10_000, "its bytes"


def test_requests_of_followers_are_exempt(cluster: Harness) -> None:
    for _ in range(3):
        cluster.submit(produce(9_000), 9)
    ticks = iter(range(0, 10**12, 100_000_000))
    cluster.node.quotas.nanos = lambda: next(ticks)
    set_quota(cluster, USER, consumer_byte_rate=1, request_percentage=0.001)
    cluster.peer.may_act_for = lambda id: id == 7
    for _ in range(3):
        assert sent(cluster, fetch(replica_id=7), 12)[1] == 0


def test_a_client_that_says_it_is_a_follower_is_throttled(cluster: Harness) -> None:
    ticks = iter(range(0, 10**12, 100_000_000))
    cluster.node.quotas.nanos = lambda: next(ticks)
    set_quota(cluster, USER, request_percentage=0.001)
    assert sent(cluster, fetch(replica_id=7), 12)[1] > 0


TINY = 5e-324
LONGEST_MS = 2**31 - 1


def test_the_smallest_byte_rate_throttles_for_the_longest_time(cluster: Harness) -> None:
    set_quota(cluster, USER, producer_byte_rate=TINY)
    pending, muted = sent(cluster, produce(10), 9)
    assert (pending.response.throttle_time_ms, muted) == (LONGEST_MS, LONGEST_MS)
    set_quota(cluster, USER, producer_byte_rate=None, consumer_byte_rate=TINY)
    pending, muted = sent(cluster, fetch(), 12)
    assert (pending.response.responses, muted) == ([], LONGEST_MS)


def test_the_smallest_share_of_a_thread_throttles_for_one_window(cluster: Harness) -> None:
    ticks = iter(range(0, 10**12, 1000))
    cluster.node.quotas.nanos = lambda: next(ticks)
    set_quota(cluster, USER, request_percentage=TINY)
    assert sent(cluster, MetadataRequest(topics=[]), 12)[1] == 1000


def test_the_smallest_rate_of_mutations_throttles_for_the_longest_time(cluster: Harness) -> None:
    set_quota(cluster, USER, controller_mutation_rate=TINY)
    pending, muted = sent(cluster, create("a", "b"), 7)
    codes = [topic.error_code for topic in pending.response.topics]
    assert (codes, muted) == ([error_codes.NONE, THROTTLED], LONGEST_MS)


@pytest.mark.parametrize(
    ("value", "rounded"), [(float("inf"), 2**63 - 1), (float("-inf"), -(2**63)), (1e300, 2**63 - 1)]
)
def test_throttle_times_are_rounded_as_by_java(value: float, rounded: int) -> None:
    assert java_round(value) == rounded
    assert java_round(float("nan")) == 0


def test_a_quota_ends_when_it_is_removed(cluster: Harness) -> None:
    set_quota(cluster, USER, producer_byte_rate=1000)
    assert sent(cluster, produce(20_000), 9)[1]
    set_quota(cluster, USER, producer_byte_rate=None)
    assert not cluster.node.quotas.is_on
    assert sent(cluster, produce(20_000), 9)[1] == 0


def test_a_fault_rule_and_a_quota_throttle_for_the_longer_time(cluster: Harness) -> None:
    cluster.node.faults.arm(Rule.of("throttle", api="Produce", seconds=60))
    set_quota(cluster, USER, producer_byte_rate=1000)
    assert sent(cluster, produce(20_000), 9)[1] == 60_000
    assert 10_000 < sent(cluster, produce(20_000), 9)[1] < 60_000


@pytest.mark.parametrize("version", versions("Metadata"))
def test_a_version_without_a_throttle_time_is_muted_too(cluster: Harness, version: int) -> None:
    ticks = iter(range(0, 10**12, 100_000_000))
    cluster.node.quotas.nanos = lambda: next(ticks)
    set_quota(cluster, USER, request_percentage=0.1)
    pending, muted = sent(cluster, MetadataRequest(topics=[]), version)
    assert (pending.response.throttle_time_ms, muted) == (1000 if version >= 3 else 0, 1000)


def test_quotas_apply_after_a_restart() -> None:
    logs = MemoryLogs()
    first = Harness(logs=logs)
    first.create("t")
    set_quota(first, USER, producer_byte_rate=1000)
    again = Harness(logs=logs)
    assert again.node.quotas.is_on
    assert sent(again, produce(20_000), 9)[1] > 10_000


def test_a_waiting_fetch_is_counted_when_it_is_answered(cluster: Harness) -> None:
    set_quota(cluster, USER, consumer_byte_rate=100)
    pending = cluster.begin(fetch(max_wait_ms=5000), 12)
    assert not pending.done
    cluster.submit(produce(5_000), 9)
    cluster.tick(0)
    assert (pending.response.responses, pending.response.throttle_time_ms > 0) == ([], True)
    assert pending.altered is not None


def test_a_waiting_fetch_that_ends_is_closed(cluster: Harness) -> None:
    set_quota(cluster, USER, consumer_byte_rate=100)
    pending = cluster.begin(fetch(max_wait_ms=5000), 12)
    pending.close()
    cluster.tick(10_000)
    assert not pending.done
