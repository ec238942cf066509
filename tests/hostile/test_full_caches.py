"""Caches that clients fill with the largest entries that they can send stay within their bounds in
bytes, and the memory that they take is what they estimate, within a factor of two.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from random import Random

import pytest

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.broker import client_metrics_manager
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.java import hash_tables, strings
from kafkadouble.server.metadata.image import EMPTY
from kafkadouble.server.quotas import sensors
from kafkadouble.server.quotas.client_quota_manager import ClientQuotaManager, QuotaConfig
from kafkadouble.server.replica.fetching import fetch_session, fetch_sessions
from kafkadouble.server.replica.fetching.fetch_sessions import FetchContext, FetchSessionCache
from kafkadouble.server.security import authorizer
from kafkadouble.server.security.acls import TOPIC
from kafkadouble.server.security.authorizer import READ, Authorizer
from kafkadouble.server.share import share_session_cache
from kafkadouble.server.share.share_session import ShareSessionKey, TopicIdPartition
from kafkadouble.server.share.share_session_cache import ShareSessionCache
from tests.server.harness import Harness

LONGEST = 32_767
"""The bytes of the longest text of a request."""

SMALL_BOUND = 2 << 20
"""A bound for entries that are small, so that the test makes fewer of them."""

WIDE = "\N{PENGUIN}"
"""One such character makes every character of a text take 4 bytes."""


def name(number: int, length: int) -> str:
    return f"{number:07}" + "x" * (length - 7)


def wide_name(number: int, length: int) -> str:
    return name(number, length - 4) + WIDE


Name = Callable[[int, int], str]


def fetch(topics: list[str], version: int) -> FetchRequest:
    """A Fetch that asks for a session of topics that do not exist."""
    request = FetchRequest(session_epoch=0)
    request.topics = [
        FetchRequest.FetchTopic(
            topic="" if version >= 13 else topic,
            topic_id=Uuid(int(topic[:7]).to_bytes(16, "big")),
            partitions=[
                FetchRequest.FetchPartition(partition=each + 1000, fetch_offset=each + 10**12, log_start_offset=10**12)
            ],
        )
        for each, topic in enumerate(topics)
    ]
    encoded = request.encode(version)
    return FetchRequest.decode(bytes(encoded), version, 0)


def fill_sessions(cache: FetchSessionCache, bound: int, length: int, named: Name, version: int) -> int:
    """Opens sessions until none is opened any more; returns their estimate."""
    each = 1 + bound // 8 // (fetch_session.PARTITION_BYTES + length * len(named(0, length).encode()) // length)
    for number in range(12):
        topics = [named(number * each + at, length) for at in range(each)]
        body = fetch(topics, version)
        context = cache.begin(body, version, follower=False, now=0)
        assert isinstance(context, FetchContext)
        context.answer([])
        assert cache.size_bytes <= bound
    return cache.size_bytes


def memory_of(work: Callable[[], object]) -> int:
    """The bytes that the work leaves allocated."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def agrees(memory: int, estimate: int, bound: int) -> bool:
    """Whether the cache is full, within its bound, and has measured what it takes."""
    return bound / 2 < estimate <= bound and memory / 2 <= estimate <= 2 * memory


@pytest.mark.parametrize(
    ("length", "named", "version"),
    [(LONGEST, name, 12), (LONGEST, wide_name, 12), (8, name, 12), (8, name, 17)],
    ids=["long", "wide", "short", "by id"],
)
def test_fetch_sessions_of_topics_that_do_not_exist_are_bounded_in_bytes(
    length: int, named: Name, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if length < LONGEST:
        monkeypatch.setattr(fetch_sessions, "MAX_SIZE_BYTES", SMALL_BOUND)
    bound, cache = fetch_sessions.MAX_SIZE_BYTES, FetchSessionCache(1000, Random(1))
    memory = memory_of(lambda: fill_sessions(cache, bound, length, named, version))
    assert agrees(memory, cache.size_bytes, bound), (memory, cache.size_bytes, bound)


class NoListener:
    """Does nothing when a connection ends."""

    def on_member_leave(self, key: ShareSessionKey) -> None: ...

    def on_group_empty(self, group_id: str) -> None: ...


def share_session(cache: ShareSessionCache, number: int, length: int, named: Name, partitions: int) -> None:
    """Opens a session of partitions that do not exist."""
    requested = [
        TopicIdPartition(Uuid((number * partitions + at).to_bytes(16, "big")), at + 1000, None)
        for at in range(partitions)
    ]
    cache.open(ShareSessionKey(named(number, length), f"{number:036}"), requested, connection_id=1)


@pytest.mark.parametrize(
    ("length", "named", "partitions"),
    [(LONGEST, name, 1), (LONGEST, wide_name, 1), (8, name, 1), (8, name, 1000)],
    ids=["long", "wide", "short", "partitions"],
)
def test_share_sessions_of_topics_that_do_not_exist_are_bounded_in_bytes(
    length: int, named: Name, partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if length < LONGEST:
        monkeypatch.setattr(share_session_cache, "MAX_SIZE_BYTES", SMALL_BOUND)
    bound, cache = share_session_cache.MAX_SIZE_BYTES, ShareSessionCache(1 << 20, NoListener())

    def fill() -> None:
        each = 400 * partitions + len(named(0, length).encode("utf-32")) // 4
        for number in range(2 + bound // each):
            share_session(cache, number, length, named, partitions)
            assert cache.size_bytes <= bound

    memory = memory_of(fill)
    assert agrees(memory, cache.size_bytes, bound), (memory, cache.size_bytes, bound)


of_lengths = pytest.mark.parametrize(
    ("length", "named"), [(LONGEST, name), (LONGEST, wide_name), (8, name)], ids=["long", "wide", "short"]
)


@of_lengths
def test_decisions_of_the_authorizer_are_bounded_in_bytes(length: int, named: Name) -> None:
    bound, found = authorizer.MAX_DECISIONS_BYTES, Authorizer(Settings({}))
    most = 0

    def fill() -> None:
        nonlocal most
        client, number = ("User:ANONYMOUS", "127.0.0.1"), 0
        while found.decisions_bytes >= most:
            most = found.decisions_bytes
            found.allows(EMPTY, client, READ, TOPIC, named(number, length))
            number += 1
            assert found.decisions_bytes <= bound

    fill()
    assert bound / 2 < most <= bound, "the first decision too many forgets the others"
    found = Authorizer(Settings({}))
    least, most = most - length, 0

    def fill_almost() -> None:
        client, number = ("User:ANONYMOUS", "127.0.0.1"), 0
        while found.decisions_bytes < least:
            found.allows(EMPTY, client, READ, TOPIC, named(number, length))
            number += 1

    memory = memory_of(fill_almost)
    assert agrees(memory, found.decisions_bytes, bound), (memory, found.decisions_bytes)


@of_lengths
def test_quota_sensors_of_clients_are_bounded_in_bytes(
    length: int, named: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    if length < LONGEST:
        monkeypatch.setattr(sensors, "MAX_SENSORS_BYTES", SMALL_BOUND)
    bound = sensors.MAX_SENSORS_BYTES
    manager = ClientQuotaManager("producer_byte_rate", QuotaConfig(11, 1))
    manager.update({(("client-id", None),): {"producer_byte_rate": 1e9}})

    def fill() -> None:
        for number in range(1 + 5 * bound // 4 // sensors.size_bytes_of(named(0, length))):
            client_id = named(number, length)
            for at in range(12):
                manager.record("", client_id, 1.5 * at, 10**12 + number + at * 1000)
            assert manager.sensors.size_bytes <= bound

    memory = memory_of(fill)
    assert agrees(memory, manager.sensors.size_bytes, bound), (memory, manager.sensors.size_bytes)


@of_lengths
def test_client_instances_that_push_metrics_are_bounded_in_bytes(
    length: int, named: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    if length < LONGEST:
        monkeypatch.setattr(client_metrics_manager, "MAX_INSTANCES_BYTES", SMALL_BOUND)
    bound, cluster = client_metrics_manager.MAX_INSTANCES_BYTES, Harness()
    request = GetTelemetrySubscriptionsRequest(client_instance_id=Uuid.ZERO)
    cluster.submit(request, 0)
    manager = cluster.node.client_metrics

    def fill() -> None:
        for number in range(2 + bound // (1000 + len(named(0, length).encode("utf-32")) // 4)):
            cluster.submit(request, 0, named(number, length))
            assert manager.size_bytes <= bound

    memory = memory_of(fill)
    assert agrees(memory, manager.size_bytes, bound), (memory, manager.size_bytes)


def test_hash_cache_keeps_no_long_string() -> None:
    strings.cached_hash.cache_clear()
    hash_tables.cached_string_hash.cache_clear()
    for number in range(10):
        text = name(number, strings.MAX_CACHED_LENGTH + 1)
        assert hash_tables.string_hash(text) == hash_tables.spread(strings.java_hash(text))
    assert strings.cached_hash.cache_info().currsize == 0
    assert hash_tables.cached_string_hash.cache_info().currsize == 0
