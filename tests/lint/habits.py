"""For each rule of the lint: requests that it must find, and requests that are much like them and
that it must not find. Both are functions of a session without requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kafkadouble.lint import (
    commits,
    connections,
    created_topics,
    fetch_loops,
    metadata_storms,
    old_versions,
    retries,
    throttles,
)
from kafkadouble.lint.finding import LintContext
from kafkadouble.lint.thresholds import (
    BUSY_FETCHES,
    BUSY_WAIT_MS,
    EARLY_MS,
    EXPLAINED_MS,
    SHORT_CONNECTIONS,
    SHORT_CONNECTIONS_MS,
    SINGLE_COMMITS,
    SINGLE_COMMITS_MS,
    STORM_MS,
    STORM_REQUESTS,
)
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.support.seen import NOW, Session

ORDERS = LintContext(frozenset({"orders", "ordres"}))


class Habit(NamedTuple):
    """`shown` is the number of requests that show the habit."""

    rule: str
    act: Callable[[Session], object]
    says: str
    shown: int
    context: LintContext = ORDERS


def produce(session: Session, value: bytes = b"x", error: int = 0, producer_id: int = -1, **more: Any) -> SeenRequest:
    records = bytes(encode_batch([Record(0, NOW, None, value)], producer_id=producer_id))
    data = [ProduceRequest.PartitionProduceData(index=0, records=records)]
    body = ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name="orders", partition_data=data)])
    part = ProduceResponse.PartitionProduceResponse(index=0, error_code=error)
    topics = [ProduceResponse.TopicProduceResponse(name="orders", partition_responses=[part])]
    throttled = more.pop("throttle", 0)
    answer = ProduceResponse(responses=topics, throttle_time_ms=throttled)
    return session.request(body, answer, more.pop("version", 9), **more)


def retry(session: Session, **more: Any) -> None:
    produce(session, outcome="disconnected", **more)
    produce(session, **more)


def retry_after_error(session: Session) -> None:
    produce(session, error=7)
    produce(session)


def equal_records(session: Session) -> None:
    for _ in range(3):
        produce(session)


def retries_of_others(session: Session) -> None:
    produce(session, outcome="disconnected")
    produce(session, client_id="other")
    produce(session, value=b"y")


def retry_with_idempotence(session: Session) -> None:
    retry(session, producer_id=5)


def sync(session: Session, partitions: list[int], generation: int = 1, protocol: str | None = "range") -> None:
    topic = ConsumerProtocolAssignment.TopicPartition(topic="orders", partitions=partitions)
    assignment = b"\0\0" + ConsumerProtocolAssignment(assigned_partitions=[topic]).encode(0)
    # as below version 5: only the coordinator's answer names the assignor
    body = SyncGroupRequest(group_id="shop", generation_id=generation, member_id="m")
    session.request(body, SyncGroupResponse(assignment=assignment, protocol_name=protocol))


def commit(
    session: Session, partition: int = 0, offset: int = 5, generation: int = 1, error: int = 0, **more: Any
) -> SeenRequest:
    part = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
    topics = [OffsetCommitRequest.OffsetCommitRequestTopic(name="orders", partitions=[part])]
    body = OffsetCommitRequest(
        group_id="shop", generation_id_or_member_epoch=generation, member_id=more.pop("member", "m"), topics=topics
    )
    result = OffsetCommitResponse.OffsetCommitResponsePartition(partition_index=partition, error_code=error)
    answer = OffsetCommitResponse(
        topics=[OffsetCommitResponse.OffsetCommitResponseTopic(name="orders", partitions=[result])]
    )
    return session.request(body, answer, 9, **more)


def commit_of_another_partition(session: Session) -> None:
    sync(session, [0])
    commit(session, 0)
    commit(session, 1)


def commit_after_an_eager_rebalance(session: Session) -> None:
    sync(session, [0, 1])
    sync(session, [0], generation=2)
    commit(session, 1, generation=2)


def commit_of_an_old_generation(session: Session) -> None:
    sync(session, [0])
    commit(session, 0, generation=0, error=22)


def commit_of_an_outsider(session: Session) -> None:
    commit(session, 0, generation=-1, error=25, member="")


def commits_of_owned_partitions(session: Session) -> None:
    sync(session, [0, 1])
    commit(session, 0)
    commit(session, 1)
    # A commit of a member whose assignment was not seen, and one of an administrator.
    commit(session, 7, generation=4)
    commit(session, 7, generation=-1, member="")


def commit_after_a_cooperative_rebalance(session: Session) -> None:
    for protocol in ("cooperative-sticky", None):
        sync(session, [0, 1], protocol=protocol)
        sync(session, [0], generation=2, protocol=protocol)
        commit(session, 1, generation=2)


def commit_that_a_rule_fails(session: Session) -> None:
    commit(session, error=22).rules = ("fail",)
    commit(session, error=27)


def single_commits(session: Session, count: int = SINGLE_COMMITS, step: int = 1) -> None:
    for number in range(count):
        commit(session, offset=number * step, took=1)


def slow_commits(session: Session) -> None:
    for number in range(SINGLE_COMMITS * 2):
        commit(session, offset=number, took=SINGLE_COMMITS_MS // SINGLE_COMMITS + 1)


def fetch(session: Session, wait: int, records: bytes = b"", error: int = 0, **more: Any) -> SeenRequest:
    part = FetchResponse.PartitionData(partition_index=0, records=records, error_code=error)
    topic = FetchResponse.FetchableTopicResponse(topic="orders", partitions=[part])
    body = FetchRequest(max_wait_ms=wait, min_bytes=1, max_bytes=1000)
    return session.request(body, FetchResponse(responses=[topic]), 12, **more)


def busy_fetches(session: Session) -> None:
    for _ in range(BUSY_FETCHES):
        fetch(session, wait=1, took=1)


def long_fetches(session: Session) -> None:
    for _ in range(BUSY_FETCHES * 2):
        fetch(session, wait=500, took=1)


def fetches_with_records(session: Session) -> None:
    records = bytes(encode_batch([Record(0, NOW, None, b"x")]))
    for number in range(BUSY_FETCHES * 2):
        fetch(session, wait=1, took=1, records=b"" if number % 10 else records)


def fetches_with_errors(session: Session) -> None:
    for _ in range(BUSY_FETCHES * 2):
        fetch(session, wait=1, took=1, error=6)


def polls_now_and_then(session: Session) -> None:
    for _ in range(BUSY_FETCHES * 2):
        fetch(session, wait=0, took=1)
        session.now += 3 * BUSY_WAIT_MS


def old_requests(session: Session) -> None:
    session.request(JoinGroupRequest(group_id="shop"), version=3)


def requests_of_today(session: Session) -> None:
    """The lowest versions of confluent-kafka 2.16, aiokafka 0.14 and kafka-python 3.0."""
    session.request(JoinGroupRequest(group_id="shop"), version=5)
    session.request(MetadataRequest(topics=None), version=5)
    session.request(ListOffsetsRequest(), version=3)
    fetch(session, wait=500)
    produce(session, version=7)


def throttled(session: Session, after: int, throttle_ms: int = 1000, connection: int = 1) -> None:
    produce(session, throttle=throttle_ms)
    session.now += after
    session.request(HeartbeatRequest(group_id="g"), HeartbeatResponse(), connection=connection)


def obedient(session: Session) -> None:
    throttled(session, after=1000)
    throttled(session, after=1000 - EARLY_MS)
    throttled(session, after=EARLY_MS - 1)
    throttled(session, after=500, connection=2)


def metadata(session: Session, names: list[str] | None, error: int = 0, **more: Any) -> SeenRequest:
    asked = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    body = MetadataRequest(topics=asked, allow_auto_topic_creation=more.pop("creates", True))
    topics = [MetadataResponse.MetadataResponseTopic(name=name, error_code=error) for name in names or ()]
    return session.request(body, MetadataResponse(topics=topics), 12, **more)


def storm(session: Session, names: list[str] | None = None) -> None:
    session.now += 10 * EXPLAINED_MS
    for _ in range(STORM_REQUESTS):
        metadata(session, names, took=STORM_MS // STORM_REQUESTS)


def storm_after_an_error(session: Session) -> None:
    session.now += 10 * EXPLAINED_MS
    produce(session, error=6)
    storm_of_now = STORM_REQUESTS * 2
    for _ in range(storm_of_now):
        metadata(session, ["orders"], took=10)


def metadata_of_many_topics(session: Session) -> None:
    for number in range(STORM_REQUESTS * 3):
        metadata(session, [f"topic-{number}"])


def metadata_of_many_connections(session: Session) -> None:
    for number in range(STORM_REQUESTS * 3):
        metadata(session, None, connection=number)


def metadata_now_and_then(session: Session) -> None:
    for _ in range(STORM_REQUESTS * 3):
        metadata(session, None, took=STORM_MS // STORM_REQUESTS * 2)


def topic_by_accident(session: Session) -> None:
    metadata(session, ["ordres"], error=3)
    metadata(session, ["ordres"])


def topic_of_an_administrator(session: Session) -> None:
    metadata(session, ["ordres"], error=3)
    topic = CreateTopicsRequest.CreatableTopic(name="ordres", num_partitions=1, replication_factor=1)
    result = CreateTopicsResponse.CreatableTopicResult(name="ordres")
    session.request(CreateTopicsRequest(topics=[topic]), CreateTopicsResponse(topics=[result]))


def topics_that_are_not_created(session: Session) -> None:
    metadata(session, ["ordres"], error=3, creates=False)
    metadata(session, ["other"], error=3)
    metadata(session, ["orders"], error=17)
    metadata(session, ["orders"])
    metadata(session, ["ordres"], error=3).rules = ("fail",)


def short_connections(session: Session) -> None:
    for number in range(SHORT_CONNECTIONS):
        metadata(session, None, connection=number)
        produce(session, connection=number, took=5)


def busy_connections(session: Session) -> None:
    for number in range(SHORT_CONNECTIONS * 2):
        produce(session, connection=number)
        produce(session, connection=number)


def preparing_connections(session: Session) -> None:
    for number in range(SHORT_CONNECTIONS * 2):
        metadata(session, [f"t{number}"], connection=number)


def broken_connections(session: Session) -> None:
    for number in range(SHORT_CONNECTIONS):
        produce(session, value=b"%d" % number, connection=number, outcome="disconnected")
        produce(session, value=b"r%d" % number, connection=1000 + number).rules = ("cut_frame",)


def rare_connections(session: Session) -> None:
    for number in range(SHORT_CONNECTIONS * 2):
        produce(session, connection=number, took=SHORT_CONNECTIONS_MS // SHORT_CONNECTIONS * 2)


BAD = {
    "a retry after a broken connection": Habit(retries.NAME, retry, "sent a batch for orders-0 again", 2),
    "a retry after an error": Habit(retries.NAME, retry_after_error, "sent a batch for orders-0 again", 2),
    "a commit of another partition": Habit(
        commits.OWNERSHIP, commit_of_another_partition, "for orders-1, which it does not own, as a member of group 'shop'", 1
    ),
    "a commit after an eager rebalance": Habit(
        commits.OWNERSHIP, commit_after_an_eager_rebalance, "for orders-1, which it does not own", 1
    ),
    "a commit of an old generation": Habit(
        commits.OWNERSHIP, commit_of_an_old_generation, "from a generation of the group that is over", 1
    ),
    "a commit of an outsider": Habit(
        commits.OWNERSHIP, commit_of_an_outsider, "as a member that the group does not have", 1
    ),
    "commits of each record": Habit(
        commits.SINGLE, single_commits, "committed every offset of orders-0 by itself, 100 times", SINGLE_COMMITS
    ),
    "fetches in a loop": Habit(fetch_loops.NAME, busy_fetches, "fetched 100 times in 99 ms", BUSY_FETCHES),
    "an old version": Habit(old_versions.NAME, old_requests, "used JoinGroup v3: versions below 4 leave", 1),
    "a request during a throttling": Habit(
        throttles.NAME, lambda session: throttled(session, after=500), "throttled for 1000 ms, and sent Heartbeat after 500 ms", 2
    ),
    "metadata again and again": Habit(
        metadata_storms.NAME, storm, "requested the same metadata 15 times in 924 ms", STORM_REQUESTS
    ),
    "a topic by accident": Habit(
        created_topics.NAME, topic_by_accident, "created the topic 'ordres' by asking for it; did you mean 'orders'?", 1
    ),
    "a connection for each record": Habit(
        connections.NAME, short_connections, "opened 30 connections with one request each in 145 ms", SHORT_CONNECTIONS
    ),
}  # fmt: skip

STILL_CLOCK = LintContext(frozenset({"orders"}), is_timed=False)

GOOD: dict[str, tuple[Callable[[Session], object], LintContext]] = {
    "a retry with idempotence": (retry_with_idempotence, ORDERS),
    "equal records": (equal_records, ORDERS),
    "retries of other records": (retries_of_others, ORDERS),
    "commits of owned partitions": (commits_of_owned_partitions, ORDERS),
    "a commit after a cooperative rebalance": (commit_after_a_cooperative_rebalance, ORDERS),
    "a commit that a rule fails": (commit_that_a_rule_fails, ORDERS),
    "commits of several records": (lambda session: single_commits(session, step=2), ORDERS),
    "few commits": (lambda session: single_commits(session, SINGLE_COMMITS - 1), ORDERS),
    "slow commits": (slow_commits, ORDERS),
    "commits with a still clock": (single_commits, STILL_CLOCK),
    "long polls": (long_fetches, ORDERS),
    "fetches with records": (fetches_with_records, ORDERS),
    "fetches with errors": (fetches_with_errors, ORDERS),
    "polls now and then": (polls_now_and_then, ORDERS),
    "fetches with a still clock": (busy_fetches, STILL_CLOCK),
    "versions of today": (requests_of_today, ORDERS),
    "an obedient client": (obedient, ORDERS),
    "metadata after an error": (storm_after_an_error, ORDERS),
    "metadata of many topics": (metadata_of_many_topics, ORDERS),
    "metadata of many connections": (metadata_of_many_connections, ORDERS),
    "metadata now and then": (metadata_now_and_then, ORDERS),
    "metadata with a still clock": (storm, STILL_CLOCK),
    "a topic of an administrator": (topic_of_an_administrator, ORDERS),
    "topics that are not created": (topics_that_are_not_created, ORDERS),
    "a topic where the broker creates none": (topic_by_accident, ORDERS._replace(creates_topics=False)),
    "connections with several requests": (busy_connections, ORDERS),
    "connections that only prepare": (preparing_connections, ORDERS),
    "connections that break": (broken_connections, ORDERS),
    "rare connections": (rare_connections, ORDERS),
    "connections with a still clock": (short_connections, STILL_CLOCK),
}


def rules_with_a_habit() -> Iterator[str]:
    """The names of the rules in `BAD`."""
    yield from {habit.rule for habit in BAD.values()}
